"""A config that answers to other names than those it stores."""
# group: 11 attribute_map aliases
# sizes: T=tokens:10 D=n_embd:12
# init: Config(D)
# input x: T, D

from torch import Tensor, nn


class Config:
    attribute_map = {"hidden_size": "n_embd"}

    def __init__(self, n_embd: int) -> None:
        self.n_embd = n_embd

    def __getattribute__(self, key: str) -> object:
        names = super().__getattribute__("attribute_map")
        return super().__getattribute__(names.get(key, key))


class Up(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.up = nn.Linear(config.hidden_size, 4 * config.n_embd, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.up(x)  # flops 8*T*D*D; reads 4*w*D*D + a*T*D; writes 4*a*T*D
