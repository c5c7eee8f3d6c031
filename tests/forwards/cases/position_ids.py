"""Positions counted from a padding mask: integers keep their own widths."""
# group: 9 int64/bool
# group: 16 cumsum
# sizes: B=batch_size:3 S=seq_len:5
# let: T = B*S
# input ids: ints(7, B, S)

from torch import Tensor, nn


class Positions(nn.Module):
    def forward(self, ids: Tensor) -> Tensor:
        mask = ids.ne(1)  # ops T; reads 8*T; writes T
        mask = mask.int()  # reads T; writes 4*T
        counted = mask.cumsum(dim=1)  # ops T; reads 4*T; writes 8*T
        counted = counted.type_as(mask)  # reads 8*T; writes 4*T
        positions = counted * mask  # ops T; reads 2*4*T; writes 4*T
        return positions.long() + 1  # ops T; reads 4*T + 8*T; writes 2*8*T
