"""Totals at a point: parts add up, masks leave out what they leave out, widths are exact."""

from fractions import Fraction

import pytest

from forwardbook.models.memory import memory
from forwardbook.models.record import PhaseCosts
from forwardbook.models.roofline import Device, children, timing, timings
from forwardbook.models.totals import (
    NoFormulas,
    Numbers,
    SizesRefused,
    Widths,
    evaluate,
    holding,
    leaves,
)

SIZES = {"batch_size": 3, "seq_len": 5}
TOY = Device("toy", "Toy", {"bf16": 100.0}, 10.0, 1000)


def test_own_parts_add_up_to_the_whole(prefill: PhaseCosts) -> None:
    """What each layer adds itself, over all calls, is the whole."""
    totals = evaluate(prefill, SIZES, Widths())
    added = Numbers()
    for _, numbers in leaves(totals.rows):
        added = added + numbers

    assert (totals.total.flops, totals.total.reads) == (added.flops, added.reads)
    assert 2 * (8 * 3 * 25 + 16 * 15) + 32 * 15 == totals.total.flops


def test_executed_attention_leaves_out_the_upper_triangle(prefill: PhaseCosts) -> None:
    """A causal mask leaves S (S + 1) / 2 of the S * S pairs, in every layer above alike."""
    dense, executed = (evaluate(prefill, SIZES, Widths(), kind) for kind in ("dense", "executed"))

    assert 2 * (8 * 3 * 25 - 4 * 3 * 5 * 6) == dense.total.flops - executed.total.flops
    assert 8 * 3 * 25 - 4 * 3 * 5 * 6 == dense.rows[1].one.flops - executed.rows[1].one.flops
    assert dense.rows[2].own == executed.rows[2].own


def test_narrow_widths_are_exact_and_rounded_up_once(prefill: PhaseCosts) -> None:
    """Three bits of 15 elements are 5.625 bytes; only the sum is rounded."""
    totals = evaluate(prefill, SIZES, Widths(w_bit=3, a_bit=3))

    assert Fraction(12 * 15 * 3 + 64 * 3, 8) == totals.total.reads
    assert 92 == totals.total.whole()["reads"]


def test_conditions_choose_the_formulas(prefill: PhaseCosts, single: PhaseCosts) -> None:
    """One position has formulas of its own; four bytes have none, and that is said."""
    both = [prefill, single]

    assert single is holding(both, "prefill", {"batch_size": 1, "seq_len": 1}, Widths())
    assert prefill is holding(both, "prefill", SIZES, Widths())
    with pytest.raises(NoFormulas, match="a_dtype_bytes"):
        holding(both, "prefill", SIZES, Widths(a_bit=32))


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({}, "missing: batch_size, seq_len"),
        ({"batch_size": 0}, "missing: seq_len; must be at least 1: batch_size = 0"),
        ({"batch_size": -1, "seq_len": -2}, "batch_size = -1, seq_len = -2"),
    ],
)
def test_all_wrong_sizes_are_told_at_once(prefill: PhaseCosts, sizes: dict[str, int], message: str) -> None:
    """Missing sizes and those below one, together."""
    with pytest.raises(SizesRefused, match=message):
        holding([prefill], "prefill", sizes, Widths())


@pytest.mark.parametrize("bits", [1, 0, -8, 65])
def test_bits_outside_2_to_64_are_refused(bits: int) -> None:
    """All widths that are wrong are named."""
    with pytest.raises(SizesRefused, match=f"w_bit is {bits}, kv_bit is {bits}"):
        Widths(w_bit=bits, kv_bit=bits)


def test_time_is_the_slower_of_arithmetic_and_movement() -> None:
    """flops by peak or bytes by bandwidth, whichever takes longer; fused moves the boundary only."""
    numbers = Numbers(flops=500, reads=Fraction(30), writes=Fraction(40), boundary=Fraction(20))
    found = timing(numbers, TOY, Widths())

    assert (5.0, 7.0, 2.0) == (found.compute, found.eager_bytes, found.fused_bytes)
    assert (7.0, "bandwidth") == (found.eager, found.bound)
    assert (5.0, "compute") == (found.fused, found.fused_bound)
    assert "none" == timing(Numbers(), TOY, Widths()).bound


def test_eager_time_of_a_layer_is_the_sum_of_what_runs_in_it(prefill: PhaseCosts) -> None:
    """Own operations and parts, one after another."""
    totals = evaluate(prefill, SIZES, Widths())
    found = timings(totals, TOY)
    own = [timing(row.own, TOY, Widths()).eager * row.times for row in totals.rows]

    assert found[0].eager == pytest.approx(sum(own))
    assert [[1, 3], [2], [], []] == children(totals.rows)


def test_memory_counts_one_cache(prefill: PhaseCosts, decode: PhaseCosts) -> None:
    """A prefill's live bytes hold the cache it makes; decode needs one cache, grown by one, and the rest."""
    one = memory(prefill, SIZES, Widths(), decode)
    assert (4 * 3 * 5 * 2, 10 * 15 * 2) == (one.cache, one.total)

    two = memory(decode, {"batch_size": 3, "kv_len": 5}, Widths())
    assert (4 * 3 * 6 * 2, 9 * 3) == (two.cache, two.activations)
    assert 10 * 15 * 2 == memory(prefill, SIZES, Widths()).total
