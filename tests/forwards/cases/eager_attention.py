"""The same attention written out: every step between the products moves all scores."""
# group: 14 eager attention
# sizes: B=batch_size:3 N=num_heads:4 S=seq_len:5 T=kv_len:7 P=head_dim:8
# let: M = B*N*S*T
# input q: B, N, S, P
# input k: B, N, T, P
# input v: B, N, T, P
# input mask: B, 1, S, T

from torch import Tensor, nn


class Attention(nn.Module):
    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
        scores = q @ k.transpose(2, 3)  # flops 2*M*P; reads a*B*N*S*P + a*B*N*T*P; writes a*M
        scores = scores * 0.125  # ops M; reads a*M; writes a*M
        scores = scores + mask  # ops M; reads a*M + a*B*S*T; writes a*M
        weights = scores.softmax(dim=-1)  # ops 5*M; reads a*M; writes a*M
        out = weights @ v  # flops 2*M*P; reads a*M + a*B*N*T*P; writes a*B*N*S*P
        return out.transpose(1, 2).contiguous()  # reads a*B*N*S*P; writes a*B*N*S*P
