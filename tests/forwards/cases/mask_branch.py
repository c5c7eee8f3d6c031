"""A branch on the values of an integer mask, which is all ones."""
# group: 3 value-dependent branches
# sizes: B=batch_size:3 S=seq_len:5 D=hidden_size:12
# let: N = B*S
# input x: B, S, D
# input mask: ones(B, S, dtype=torch.int64)

from torch import Tensor, nn


class Masked(nn.Module):
    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        # ops 2*N; reads 8*N + N + 1; writes N + 1
        if (mask == 0).any():
            x = x.masked_fill(mask.unsqueeze(-1) == 0, 0.0)
        return x.tanh()  # ops N*D; reads a*N*D; writes a*N*D
