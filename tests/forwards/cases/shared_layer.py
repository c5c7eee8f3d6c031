"""One layer run three times: its weights are counted once, its work each time."""
# group: 10 shared layers
# sizes: B=batch_size:3 D=hidden_size:12
# init: D
# input x: B, D
# weights: w*(D*D + D)

from torch import Tensor, nn


class Shared(nn.Module):
    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.layer = nn.Linear(hidden_size, hidden_size)

    def forward(self, x: Tensor) -> Tensor:
        for _ in range(3):
            x = self.layer(x)  # flops 3*2*B*D*D; ops 3*B*D; reads 3*(w*(D*D + D) + a*B*D); writes 3*a*B*D
        return x
