"""An operation of one's own that nobody stated the cost of: it is reported as unknown."""
# group: 15 custom ops
# unresolved: annotated_forwards.warp
# sizes: B=batch_size:3 D=hidden_size:12
# input x: B, D
# static: unsupported because an operation of one's own is native code

import torch
from torch import Tensor, nn
from torch.library import custom_op


@custom_op("annotated_forwards::warp", mutates_args=())
def warp(x: Tensor) -> Tensor:
    return x.flip(0)


@warp.register_fake
def shape_of_warp(x: Tensor) -> Tensor:
    return torch.empty_like(x)


class Warp(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        x = warp(x)  # nothing
        return x.exp()  # ops B*D; reads a*B*D; writes a*B*D
