"""The most probable tokens up to a share: sorted, summed up, masked."""
# group: 16 sort/topk/cumsum
# sizes: B=batch_size:3 V=vocab_size:30
# let: N = B*V
# input logits: B, V

from torch import Tensor, nn


class Nucleus(nn.Module):
    def forward(self, logits: Tensor) -> Tensor:
        ordered, places = logits.sort(dim=-1, descending=True)  # ops N; reads a*N; writes a*N + 8*N
        share = ordered.softmax(-1)  # ops 5*N; reads a*N; writes a*N
        share = share.cumsum(-1)  # ops N; reads a*N; writes a*N
        beyond = share > 0.9  # ops N; reads a*N; writes N
        mask = beyond.scatter(1, places, beyond)  # reads N + 8*N + N; writes N
        return logits.masked_fill(mask, -1e9)  # ops N; reads a*N + N; writes a*N
