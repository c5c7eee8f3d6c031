"""One new token against a cache: the scores have a single row."""
# group: 7 seq = 1 decode
# sizes: B=batch_size:3 N=num_heads:4 P=head_dim:8 T=kv_len:9
# input q: B, N, 1, P
# input keys: B, N, T, P
# input key: B, N, 1, P

import torch
from torch import Tensor, nn


class Decode(nn.Module):
    def forward(self, q: Tensor, keys: Tensor, key: Tensor) -> Tensor:
        keys = torch.cat((keys, key), dim=2)  # reads a*B*N*T*P + a*B*N*P; writes a*B*N*(T + 1)*P
        # flops 2*B*N*P*(T + 1); reads a*B*N*P + a*B*N*(T + 1)*P; writes a*B*N*(T + 1)
        scores = q @ keys.transpose(2, 3)
        return scores.softmax(-1)  # ops 5*B*N*(T + 1); reads a*B*N*(T + 1); writes a*B*N*(T + 1)
