"""The program of a phase: the whole alone is the whole with its layers, and it is made once."""

from fractions import Fraction

import pytest

from forwardbook.formula.rational import rational_value
from forwardbook.models.program import Program, parsed, program_of
from forwardbook.models.record import PhaseCosts
from forwardbook.models.totals import NAMES, Attention, Widths, evaluate, whole

SIZES = {"batch_size": 3, "seq_len": 5}


@pytest.mark.parametrize("attention", ["dense", "executed"])
@pytest.mark.parametrize("bits", [3, 4, 16])
def test_whole_is_the_total_of_the_layers(prefill: PhaseCosts, attention: Attention, bits: int) -> None:
    """Whatever the widths, with and without masks."""
    widths = Widths(bits, bits, bits)

    assert evaluate(prefill, SIZES, widths, attention).total == whole(prefill, SIZES, widths, attention)


def test_each_layer_is_its_formula(prefill: PhaseCosts) -> None:
    """Every quantity of every layer, evaluated alone."""
    widths = Widths(4, 8, 3)
    values = {**SIZES, **widths.in_bytes()}
    rows = evaluate(prefill, SIZES, widths).rows
    for row, (name, times, layer) in zip(rows, prefill.model.walk(), strict=True):
        expected = [rational_value(parsed(getattr(layer.costs, what)), values) for what in NAMES]
        assert (name, times) == (row.name, row.times)
        assert expected == [getattr(row.one, what) for what in NAMES]


def test_a_layer_without_parts_is_its_own(prefill: PhaseCosts) -> None:
    """Nothing is taken from it, so nothing is computed twice."""
    found = Program(prefill, executed=False).at({**SIZES, **dict.fromkeys(WIDTHS, Fraction(2))})

    assert any(one is own for _, one, own in found.layers)


def test_a_program_is_made_once(prefill: PhaseCosts) -> None:
    """For each phase as an object, apart for dense and executed attention."""
    assert program_of(prefill, True) is program_of(prefill, True)
    assert program_of(prefill, True) is not program_of(prefill, False)
    assert program_of(prefill, True) is not program_of(prefill.model_copy(), True)


WIDTHS = ("w_dtype_bytes", "a_dtype_bytes", "kv_dtype_bytes")
