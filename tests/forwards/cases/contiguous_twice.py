"""contiguous() copies what is transposed, and nothing the second time."""
# group: 6 strides
# sizes: B=batch_size:3 S=seq_len:5 D=hidden_size:12
# input x: B, S, D

from torch import Tensor, nn


class Contiguous(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        y = x.contiguous()  # nothing
        y = y.transpose(0, 1).contiguous()  # reads a*B*S*D; writes a*B*S*D
        return y.contiguous().flatten()  # nothing
