"""Key heads repeated for the query heads: expanding is a view, giving it the shape of heads a copy."""
# group: 6 repeat_kv
# sizes: B=batch_size:3 S=seq_len:5 K=num_key_value_heads:4 R=n_rep:3 P=head_dim:8
# init: R
# input x: B, K, S, P

from torch import Tensor, nn


class RepeatKV(nn.Module):
    def __init__(self, n_rep: int) -> None:
        super().__init__()
        self.n_rep = n_rep

    def forward(self, x: Tensor) -> Tensor:
        if self.n_rep == 1:
            return x
        batch, heads, length, width = x.shape
        x = x[:, :, None, :, :].expand(batch, heads, self.n_rep, length, width)  # nothing
        return x.reshape(batch, heads * self.n_rep, length, width)  # reads a*B*K*S*P; writes a*B*K*R*S*P
