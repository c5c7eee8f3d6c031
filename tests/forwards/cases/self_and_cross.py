"""One class called on itself and on a memory of another length: two formulas for the same lines."""
# group: 10 several call patterns
# class: Attend
# root: Block
# calls: own, cross
# sizes: B=batch_size:3 S=target_len:5 M=source_len:7 D=hidden_size:12
# init: D
# input x: B, S, D
# input memory: B, M, D

from torch import Tensor, nn


class Attend(nn.Module):
    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.key = nn.Linear(hidden_size, hidden_size, bias=False)

    def forward(self, x: Tensor, memory: Tensor | None = None) -> Tensor:
        source = x if memory is None else memory
        # own: flops 2*B*S*D*D; reads w*D*D + a*B*S*D; writes a*B*S*D
        # cross: flops 2*B*M*D*D; reads w*D*D + a*B*M*D; writes a*B*M*D
        keys = self.key(source)
        # own: flops 2*B*S*S*D; reads 2*a*B*S*D; writes a*B*S*S
        # cross: flops 2*B*S*M*D; reads a*B*S*D + a*B*M*D; writes a*B*S*M
        return x @ keys.transpose(1, 2)


class Block(nn.Module):
    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.own, self.cross = Attend(hidden_size), Attend(hidden_size)

    def forward(self, x: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        return self.own(x), self.cross(x, memory)
