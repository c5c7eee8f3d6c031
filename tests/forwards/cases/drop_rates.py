"""Drop rates spread over as many layers as a list adds up to; in evaluation they do nothing."""
# group: 19 torch.linspace(..., sum(depths))
# group: 20 stochastic depth off in eval
# sizes: T=tokens:10 D=hidden_size:12 J=depths_0:2 K=depths_1:3
# init: D, [J, K]
# input x: T, D

import torch
from torch import Tensor, nn


class Layer(nn.Module):
    def __init__(self, hidden_size: int, rate: float) -> None:
        super().__init__()
        self.rate = rate
        self.up = nn.Linear(hidden_size, hidden_size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        y = self.up(x)
        if self.rate > 0 and self.training:
            y = y * torch.rand(y.shape[0], 1, device=y.device)
        return x + y


class Net(nn.Module):
    def __init__(self, hidden_size: int, depths: list[int]) -> None:
        super().__init__()
        rates = [rate.item() for rate in torch.linspace(0, 0.1, sum(depths), device="cpu")]
        self.layers = nn.ModuleList(Layer(hidden_size, rate) for rate in rates)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            # flops (J + K)*2*T*D*D; ops (J + K)*T*D; reads (J + K)*(w*D*D + 3*a*T*D); writes (J + K)*2*a*T*D
            x = layer(x)
        return x
