"""Means of rows looked up: the rows are read, not the table, and what devices write beside does not count."""
# group: 13 _embedding_bag
# sizes: B=batch_size:3 S=seq_len:5 D=embedding_dim:12 V=num_embeddings:30
# init: V, D
# input ids: ints(7, B, S)

from torch import Tensor, nn


class Bag(nn.Module):
    def __init__(self, num_embeddings: int, embedding_dim: int) -> None:
        super().__init__()
        self.bag = nn.EmbeddingBag(num_embeddings, embedding_dim, mode="mean")

    def forward(self, ids: Tensor) -> Tensor:
        # where each bag begins is counted first: one integer for each
        # ops B*S*D; reads 8*B*S + 8*B + w*B*S*D; writes 8*B + a*B*D
        return self.bag(ids)
