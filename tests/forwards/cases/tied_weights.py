"""One table looks tokens up and predicts them."""
# group: 10 tied weights
# sizes: B=batch_size:3 S=seq_len:5 D=hidden_size:12 V=vocab_size:30
# let: T = B*S
# init: V, D
# input ids: ints(7, B, S)
# weights: w*V*D

from torch import Tensor, nn
from torch.nn import functional as F


class Tied(nn.Module):
    def __init__(self, vocab_size: int, hidden_size: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocab_size, hidden_size)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embed(ids)  # reads 8*T + w*T*D; writes a*T*D
        return F.linear(x, self.embed.weight)  # flops 2*T*D*V; reads a*T*D + w*V*D; writes a*T*V
