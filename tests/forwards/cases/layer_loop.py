"""As many equal layers as the constructor is told."""
# group: 5 loops
# sizes: B=batch_size:3 D=hidden_size:12 L=num_layers:4
# init: D, L
# input x: B, D

from torch import Tensor, nn


class Stack(nn.Module):
    def __init__(self, hidden_size: int, num_layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(hidden_size, hidden_size) for _ in range(num_layers))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            # flops L*2*B*D*D; ops L*2*B*D; reads L*(w*(D*D + D) + a*B*D + 2*a*B*D); writes L*2*a*B*D
            x = x + layer(x)
        return x
