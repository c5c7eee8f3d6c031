from torch import nn

from .rounding import two_thirds


class InPackage(nn.Module):
    def __init__(self, dim: int = 64, hidden_dim: int = 192, multiple_of: int = 16):
        super().__init__()
        self.fc = nn.Linear(dim, two_thirds(hidden_dim, multiple_of), bias=False)

    def forward(self, x):
        return self.fc(x)
