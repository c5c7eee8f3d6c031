"""Causal attention is counted dense; the mask is one operation for each score and no bytes."""
# group: 14 is_causal
# sizes: B=batch_size:3 N=num_heads:4 S=seq_len:5 P=head_dim:8 V=value_dim:6
# input q: B, N, S, P
# input k: B, N, S, P
# input v: B, N, S, V

from torch import Tensor, nn
from torch.nn import functional as F


class Attention(nn.Module):
    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        # flops 2*B*N*S*S*(P + V); ops 7*B*N*S*S; reads a*B*N*S*(2*P + V); writes a*B*N*S*V
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=1.0)
