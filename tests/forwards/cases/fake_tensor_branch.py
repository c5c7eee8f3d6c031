"""A branch on the kind of tensor: what runs must be what an ordinary tensor gets."""
# group: 2 is_tracing
# sizes: B=batch_size:3 S=seq_len:5
# input mask: ones(B, S)
# static: unsupported because torch._subclasses is no namespace that it trusts

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensor


def is_tracing(tensor: Tensor) -> bool:
    return isinstance(tensor, FakeTensor) or type(tensor) is not Tensor or torch.jit.is_tracing()


class Mask(nn.Module):
    def forward(self, mask: Tensor) -> Tensor:
        if not is_tracing(mask) and bool(mask.all()):  # ops B*S; reads a*B*S + 1; writes 1
            return mask.neg()  # ops B*S; reads a*B*S; writes a*B*S
        return mask.exp()
