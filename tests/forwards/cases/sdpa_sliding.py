"""A sliding window as a mask of booleans, built from positions; the products stay dense."""
# group: 14 sliding
# sizes: B=batch_size:3 N=num_heads:4 S=seq_len:9 W=window:5 P=head_dim:8
# init: W
# input q: B, N, S, P
# input k: B, N, S, P
# input v: B, N, S, P

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, window: int) -> None:
        super().__init__()
        self.window = window

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        places = torch.arange(q.shape[2], device=q.device)  # writes 8*S
        distance = places[:, None] - places[None, :]  # ops S*S; reads 8*S; writes 8*S*S
        before = distance >= 0  # ops S*S; reads 8*S*S; writes S*S
        near = distance < self.window  # ops S*S; reads 8*S*S; writes S*S
        mask = before & near  # ops S*S; reads 2*S*S; writes S*S
        # flops 4*B*N*S*S*P; ops 7*B*N*S*S; reads 3*a*B*N*S*P + S*S; writes a*B*N*S*P
        return F.scaled_dot_product_attention(q, k, v, mask)
