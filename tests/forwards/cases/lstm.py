"""A recurrent layer is one operation on every device, not a loop over time."""
# group: 13 fused RNN kernels
# sizes: B=batch_size:3 S=seq_len:5 I=input_size:12 H=hidden_size:20
# let: M = 4*H*I + 4*H*H
# init: I, H
# input x: B, S, I

from torch import Tensor, nn


class Encoder(nn.Module):
    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(input_size, hidden_size, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        # both first states are made as zeros; per step and hidden element 13 and two biases of four gates
        # flops 2*B*S*M; ops B*S*(13*H + 8*H)
        # reads a*B*S*I + 2*a*B*H + w*(M + 8*H); writes 2*a*B*H + a*B*S*H + 2*a*B*H
        out, _ = self.lstm(x)
        return out.tanh()  # ops B*S*H; reads a*B*S*H; writes a*B*S*H
