"""A dataclass config that derives a field after it is made, and is strict about types."""
# group: 11 derived fields in __post_init__
# sizes: T=tokens:10 D=hidden_size:12 N=num_heads:3
# where: D % N == 0
# init: Config(D, N)
# input x: T, D

from dataclasses import dataclass, field

from torch import Tensor, nn


@dataclass
class Config:
    hidden_size: int
    num_heads: int
    head_dim: int = field(init=False)

    def __post_init__(self) -> None:
        for name in ("hidden_size", "num_heads"):
            if not isinstance(getattr(self, name), int):
                raise TypeError(f"{name} must be an int")
        self.head_dim = self.hidden_size // self.num_heads


class OneHead(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.key = nn.Linear(config.hidden_size, config.head_dim, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.key(x)  # flops 2*T*D*D/N; reads w*D*D/N + a*T*D; writes a*T*D/N
