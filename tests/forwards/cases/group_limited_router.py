"""Routing limited to the best groups of experts: a group is worth its two best experts."""
# group: 4 mixture of experts
# sizes: T=tokens:10 E=num_experts:12 G=n_group:3 L=topk_group:2 K=top_k:4
# init: G, L, K
# input scores: T, E
# where: E % G == 0
# where: E >= 2*G
# where: L <= G
# where: K <= E

import torch
from torch import Tensor, nn


class Router(nn.Module):
    def __init__(self, n_group: int, topk_group: int, top_k: int) -> None:
        super().__init__()
        self.n_group, self.topk_group, self.top_k = n_group, topk_group, top_k

    def forward(self, scores: Tensor) -> Tensor:
        tokens, experts = scores.shape
        size = experts // self.n_group
        grouped = scores.view(tokens, self.n_group, size)  # nothing
        pairs = grouped.topk(2, dim=-1)[0]  # ops T*E; reads a*T*E; writes (a + 8)*T*G*2
        worth = pairs.sum(dim=-1)  # ops T*G*2; reads a*T*G*2; writes a*T*G
        best = worth.topk(self.topk_group, sorted=False)[1]  # ops T*G; reads a*T*G; writes (a + 8)*T*L
        open_groups = torch.zeros_like(worth)  # writes a*T*G
        open_groups.scatter_(1, best, 1.0)  # reads 8*T*L; writes a*T*L
        # reads a*T*G; writes a*T*E
        open_experts = open_groups.unsqueeze(-1).expand(-1, self.n_group, size).reshape(tokens, experts)
        closed = open_experts == 0  # ops T*E; reads a*T*E; writes T*E
        scores = scores.masked_fill(closed, 0.0)  # ops T*E; reads a*T*E + T*E; writes a*T*E
        return scores.topk(self.top_k, dim=-1, sorted=False)[1]  # ops T*E; reads a*T*E; writes (a + 8)*T*K
