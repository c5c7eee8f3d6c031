"""An implementation chosen by name from a table: its lines roll up to the line that calls it."""
# group: 14 eager vs sdpa
# sizes: B=batch_size:3 N=num_heads:4 S=seq_len:5 P=head_dim:8
# init: "eager"
# input q: B, N, S, P

from collections.abc import Callable

from torch import Tensor, nn
from torch.nn import functional as F


def eager(q: Tensor, k: Tensor) -> Tensor:
    scores = q @ k.transpose(2, 3)
    return scores.softmax(dim=-1)


def fused(q: Tensor, k: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, k, k)


IMPLEMENTATIONS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {"eager": eager, "sdpa": fused}


class Attention(nn.Module):
    def __init__(self, implementation: str) -> None:
        super().__init__()
        self.implementation = implementation

    def forward(self, q: Tensor) -> Tensor:
        attend = IMPLEMENTATIONS[self.implementation]
        # flops 2*B*N*S*S*P; ops 5*B*N*S*S; reads a*B*N*S*P + a*B*N*S*S; writes 2*a*B*N*S*S
        return attend(q, k=q)
