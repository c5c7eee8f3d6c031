"""A config with a list: as many layers in each stage as the list says."""
# group: 11 list fields
# sizes: T=tokens:10 D=hidden_size:12 J=depths_0:2 K=depths_1:3
# init: D, [J, K]
# input x: T, D

from torch import Tensor, nn


class Stages(nn.Module):
    def __init__(self, hidden_size: int, depths: list[int]) -> None:
        super().__init__()
        self.stages = nn.ModuleList()
        for stage, depth in enumerate(depths):
            width = hidden_size * 2**stage
            self.stages.append(nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(depth)))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.stages[0]:
            x = layer(x)  # flops J*2*T*D*D; reads J*(w*D*D + a*T*D); writes J*a*T*D
        x = x.repeat(1, 2)  # reads a*T*D; writes 2*a*T*D
        for layer in self.stages[1]:
            x = layer(x)  # flops K*8*T*D*D; reads K*(4*w*D*D + 2*a*T*D); writes K*2*a*T*D
        return x
