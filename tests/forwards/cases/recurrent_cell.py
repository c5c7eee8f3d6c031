"""A recurrent cell of torch stepped through time."""
# group: 5 loops over time
# group: 13 fused RNN kernels
# sizes: B=batch_size:3 S=seq_len:6 D=input_size:12 H=hidden_size:20
# init: D, H
# input x: B, S, D
# input h: B, H

from torch import Tensor, nn


class Stepped(nn.Module):
    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.cell = nn.RNNCell(input_size, hidden_size, bias=False)

    def forward(self, x: Tensor, h: Tensor) -> Tensor:
        for step in x.unbind(1):  # nothing
            # two products, their sum, its tanh
            # flops S*2*B*(D*H + H*H); ops S*2*B*H
            # reads S*(a*B*D + w*D*H + a*B*H + w*H*H + 3*a*B*H); writes S*4*a*B*H
            h = self.cell(step, h)
        return h
