"""Rows written at given places: the rest of the table does not move."""
# group: 12 index_put_
# sizes: N=slots:9 S=seq_len:5 D=hidden_size:12
# input table: N, D
# input places: ints(2, S)
# input rows: S, D

from torch import Tensor, nn


class Write(nn.Module):
    def forward(self, table: Tensor, places: Tensor, rows: Tensor) -> Tensor:
        table[places] = rows  # reads 8*S + a*S*D; writes a*S*D
        # an accumulating write reads what it adds to
        table.index_add_(0, places, rows)  # ops S*D; reads 8*S + 2*a*S*D; writes a*S*D
        return table
