"""Softmax routing: the weights of the best experts, spread over a row per token."""
# group: 4 mixture of experts
# sizes: T=tokens:10 D=hidden_size:12 E=num_experts:6 K=top_k:2
# init: D, E, K
# input x: T, D
# where: K <= E

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Router(nn.Module):
    def __init__(self, hidden_size: int, num_experts: int, top_k: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(num_experts, hidden_size))
        self.top_k = top_k

    def forward(self, x: Tensor) -> Tensor:
        logits = F.linear(x, self.weight)  # flops 2*T*D*E; reads a*T*D + w*E*D; writes a*T*E
        probabilities = logits.softmax(-1)  # ops 5*T*E; reads a*T*E; writes a*T*E
        best, chosen = probabilities.topk(self.top_k, dim=-1)  # ops T*E; reads a*T*E; writes (a + 8)*T*K
        total = best.sum(-1, keepdim=True)  # ops T*K; reads a*T*K; writes a*T
        best = best / total  # ops T*K; reads a*T*K + a*T; writes a*T*K
        spread = torch.zeros_like(logits)  # writes a*T*E
        return spread.scatter(1, chosen, best)  # reads a*T*E + (8 + a)*T*K; writes a*T*E
