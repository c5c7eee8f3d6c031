"""Query heads that share key heads: the products of all query heads, the bytes of fewer keys."""
# group: 14 GQA
# sizes: B=batch_size:3 N=num_heads:6 K=num_key_value_heads:2 S=seq_len:5 P=head_dim:8
# where: N % K == 0
# input q: B, N, S, P
# input k: B, K, S, P
# input v: B, K, S, P

from torch import Tensor, nn
from torch.nn import functional as F


class Attention(nn.Module):
    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        # flops 4*B*N*S*S*P; ops 6*B*N*S*S; reads a*B*S*P*(N + 2*K); writes a*B*N*S*P
        return F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
