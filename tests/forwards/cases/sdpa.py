"""Attention as one operation: both products, scaling and softmax."""
# group: 14 sdpa, mask None
# sizes: B=batch_size:3 N=num_heads:4 S=seq_len:5 T=kv_len:7 P=head_dim:8
# input q: B, N, S, P
# input k: B, N, T, P
# input v: B, N, T, P
# peak: a*B*N*S*P

from torch import Tensor, nn
from torch.nn import functional as F


class Attention(nn.Module):
    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        # flops 4*B*N*S*T*P; ops 6*B*N*S*T; reads a*B*N*S*P + 2*a*B*N*T*P; writes a*B*N*S*P
        return F.scaled_dot_product_attention(q, k, v)
