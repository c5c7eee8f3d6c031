"""A recurrence written as a Python loop over time: every line counts once for each step."""
# group: 5 loops over time
# sizes: B=batch_size:3 S=seq_len:6 D=input_size:12 H=hidden_size:20
# init: D, H
# input x: B, S, D

import torch
from torch import Tensor, nn


class Recurrence(nn.Module):
    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.hidden_size = hidden_size
        self.into = nn.Parameter(torch.empty(input_size, hidden_size))
        self.across = nn.Parameter(torch.empty(hidden_size, hidden_size))

    def forward(self, x: Tensor) -> Tensor:
        state = x.new_zeros(x.shape[0], self.hidden_size)  # writes a*B*H
        states = []
        for step in range(x.shape[1]):
            given = x[:, step] @ self.into  # flops S*2*B*D*H; reads S*(a*B*D + w*D*H); writes S*a*B*H
            kept = state @ self.across  # flops S*2*B*H*H; reads S*(a*B*H + w*H*H); writes S*a*B*H
            state = torch.tanh(given + kept)  # ops S*2*B*H; reads S*3*a*B*H; writes S*2*a*B*H
            states.append(state)
        return torch.stack(states, dim=1)  # reads S*a*B*H; writes S*a*B*H
