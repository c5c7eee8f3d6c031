"""A hook that changes what a submodule is given: its work stands on its own line."""
# group: 18 hooks
# sizes: T=tokens:10 D=hidden_size:12
# init: D
# input x: T, D

from torch import Tensor, nn


def halve(module: nn.Module, args: tuple[Tensor]) -> Tensor:
    return args[0] * 0.5


class Hooked(nn.Module):
    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.up = nn.Linear(hidden_size, hidden_size, bias=False)
        self.up.register_forward_pre_hook(halve)

    def forward(self, x: Tensor) -> Tensor:
        return self.up(x)  # flops 2*T*D*D; ops T*D; reads w*D*D + 2*a*T*D; writes 2*a*T*D
