"""As many key heads as query heads: nothing is repeated and nothing moves."""
# group: 7 n_rep = 1
# sizes: B=batch_size:3 S=seq_len:5 N=num_heads:4 K=num_key_value_heads:4 P=head_dim:8
# condition: N // K == 1
# init: N, K
# input x: B, K, S, P

from torch import Tensor, nn


class RepeatKV(nn.Module):
    def __init__(self, num_heads: int, num_key_value_heads: int) -> None:
        super().__init__()
        self.n_rep = num_heads // num_key_value_heads

    def forward(self, x: Tensor) -> Tensor:
        if self.n_rep != 1:
            x = x.repeat_interleave(self.n_rep, dim=1)
        return x.neg()  # ops B*K*S*P; reads a*B*K*S*P; writes a*B*K*S*P
