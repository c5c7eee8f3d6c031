"""A softmax in float32 inside a model of bfloat16, and back."""
# group: 9 softmax(dtype=fp32).to(...)
# dtype: bfloat16
# sizes: B=batch_size:3 N=num_heads:4 S=seq_len:5
# let: M = B*N*S*S
# input scores: B, N, S, S

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Softmax(nn.Module):
    def forward(self, scores: Tensor) -> Tensor:
        # converted first, then normalised
        weights = F.softmax(scores, dim=-1, dtype=torch.float32)  # ops 5*M; reads a*M + 4*M; writes 2*4*M
        return weights.to(scores.dtype)  # reads 4*M; writes a*M
