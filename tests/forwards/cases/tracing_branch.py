"""A branch for tracing and compiling, which a derivation must not take."""
# group: 2 is_tracing
# sizes: B=batch_size:3 S=seq_len:5 D=hidden_size:12
# init: D
# input x: B, S, D

import torch
from torch import Tensor, nn


class Gate(nn.Module):
    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.exported = nn.Linear(hidden_size, hidden_size)

    def forward(self, x: Tensor) -> Tensor:
        if torch.jit.is_tracing() or torch.compiler.is_compiling() or torch.compiler.is_exporting():
            return self.exported(x)
        return torch.relu(x)  # ops B*S*D; reads a*B*S*D; writes a*B*S*D
