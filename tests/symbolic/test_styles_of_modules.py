"""Packed sequences, scripted children, complex numbers and attention of odd shapes, held against torch."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence
from torch.utils.flop_counter import FlopCounterMode

import forwardbook
from forwardbook.analyzers.symbolic.fused import FusedOperations

LENGTHS = torch.tensor([4, 2, 1])


def packed() -> PackedSequence:
    """Three sequences of 4, 2 and 1 steps of 10 numbers."""
    return pack_padded_sequence(torch.randn(3, 4, 10), LENGTHS, batch_first=True)


@pytest.mark.parametrize(("kind", "gates"), [(nn.LSTM, 4), (nn.GRU, 3), (nn.RNN, 1)])
def test_a_packed_sequence_costs_its_rows(kind: type[nn.RNNBase], gates: int) -> None:
    """7 rows meet every weight of input and hidden state once; the padding costs nothing."""
    found = forwardbook.cost(kind(10, 12), packed())

    assert 2 * 7 * gates * (10 * 12 + 12 * 12) == found.flops


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_packed_results_are_those_of_torch(kind: type[nn.RNNBase]) -> None:
    """Numbers, shapes and strides of rows and states are the same with and without the fused operation."""
    layer, given = kind(10, 12, num_layers=2, bidirectional=True).eval(), packed()
    with torch.no_grad():
        wanted, states = layer(given)
        with FusedOperations(symbolic=False):
            found, others = layer(given)
    left = [wanted.data, *(states if isinstance(states, tuple) else [states])]
    right = [found.data, *(others if isinstance(others, tuple) else [others])]

    assert all(torch.equal(a, b) for a, b in zip(left, right, strict=True))
    assert [t.stride() for t in left] == [t.stride() for t in right]


class PackedTagger(nn.Module):
    """Packs, runs and pads again."""

    def __init__(self) -> None:
        super().__init__()
        self.recurrent = nn.LSTM(10, 12, batch_first=True)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        out, _ = self.recurrent(pack_padded_sequence(x, lengths, batch_first=True))
        return pad_packed_sequence(out, batch_first=True)[0]


def test_a_module_may_pack_for_itself() -> None:
    """What packs and pads inside of forward() costs the rows, too."""
    assert 2 * 7 * 4 * (120 + 144) == forwardbook.cost(PackedTagger(), torch.randn(3, 4, 10), LENGTHS).flops


class Mixed(nn.Module):
    """A layer, and two more in a child that may be scripted."""

    def __init__(self, scripted: bool) -> None:
        super().__init__()
        self.first = nn.Linear(8, 16)
        child = nn.Sequential(nn.Linear(16, 8), nn.GELU())
        self.rest = torch.jit.script(child) if scripted else child

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.rest(self.first(x))
        return out


def test_a_scripted_child_costs_what_it_costs_in_python() -> None:
    """Every quantity is the same, whether TorchScript or Python runs the child."""
    reports = [forwardbook.cost(Mixed(scripted), torch.randn(5, 8)) for scripted in (True, False)]
    numbers = [(r.flops, r.pointwise_ops, r.reads, r.writes, r.weights, r.peak) for r in reports]

    assert numbers[0] == numbers[1]
    assert 2 * 5 * 2 * 8 * 16 == reports[0].flops


class Product(nn.Module):
    """One product."""

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(6, 5, dtype=dtype))

    def forward(self, x: Tensor) -> Tensor:
        return torch.einsum("ij,jk->ik", x, self.weight)


@pytest.mark.parametrize(("dtype", "each"), [(torch.float32, 2), (torch.complex64, 8)])
def test_a_complex_multiply_accumulate_counts_8(dtype: torch.dtype, each: int) -> None:
    """(a + ib)(c + id) is four products and two sums, adding it two sums more."""
    found = forwardbook.cost(Product(dtype), torch.ones(4, 6, dtype=dtype))

    assert each * 4 * 6 * 5 == found.flops


class Attending(nn.Module):
    """Attention of what it is given."""

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, gqa: bool) -> Tensor:
        return F.scaled_dot_product_attention(query, key, value, mask, enable_gqa=gqa)


SHAPES = {
    "equal": ((2, 4, 3, 8), (2, 4, 5, 8), (2, 4, 5, 6), None, False),
    "heads differ": ((2, 5, 3, 8), (2, 4, 5, 8), (2, 4, 5, 8), None, False),
    "one head of keys": ((2, 4, 3, 8), (2, 1, 5, 8), (2, 1, 5, 8), None, False),
    "batches differ": ((2, 4, 3, 8), (3, 4, 5, 8), (3, 4, 5, 8), None, False),
    "one batch of keys": ((2, 4, 3, 8), (1, 4, 5, 8), (1, 4, 5, 8), None, False),
    "grouped": ((2, 4, 3, 8), (2, 2, 5, 8), (2, 2, 5, 8), None, True),
    "grouped, no multiple": ((2, 5, 3, 8), (2, 2, 5, 8), (2, 2, 5, 8), None, True),
    "widths differ": ((2, 4, 3, 8), (2, 4, 5, 7), (2, 4, 5, 8), None, False),
    "lengths differ": ((2, 4, 3, 8), (2, 4, 5, 8), (2, 4, 6, 8), None, False),
    "mask": ((2, 4, 3, 8), (2, 4, 5, 8), (2, 4, 5, 8), (2, 1, 3, 5), False),
    "mask of another length": ((2, 4, 3, 8), (2, 4, 5, 8), (2, 4, 5, 8), (2, 1, 3, 4), False),
    "mask of one row": ((2, 4, 3, 8), (2, 4, 5, 8), (2, 4, 5, 8), (1, 5), False),
    "mask of other heads": ((2, 4, 3, 8), (2, 4, 5, 8), (2, 4, 5, 8), (2, 3, 3, 5), False),
}


@pytest.mark.parametrize("name", SHAPES)
def test_attention_on_meta_refuses_what_torch_refuses(name: str) -> None:
    """On the CPU, unwatched, torch decides; on meta forwardbook decides alike.

    The flash kernel of the CPU does not compare the lengths of keys and values; the plain one does.
    """
    *shapes, mask, grouped = SHAPES[name]

    def runs(device: str, watched: bool) -> bool:
        tensors = [torch.ones(shape, device=device) for shape in shapes]
        given = None if mask is None else torch.ones(mask, device=device)
        module = Attending().eval()
        try:
            with sdpa_kernel(SDPBackend.MATH):
                (forwardbook.cost if watched else nn.Module.__call__)(module, *tensors, given, grouped)
        except RuntimeError:
            return False
        return True

    assert runs("cpu", watched=False) == runs("meta", watched=True) == runs("cpu", watched=True)


def test_torch_counts_attention_that_it_runs() -> None:
    """Where both run, torch's own counter has the flops of the attention."""
    query, key = torch.ones(2, 4, 3, 8), torch.ones(2, 4, 5, 8)
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        F.scaled_dot_product_attention(query, key, key)

    assert counter.get_total_flops() == forwardbook.cost(Attending(), query, key, key, None, False).flops
