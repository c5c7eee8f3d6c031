"""Sweeps: every point is what a single evaluation gives, and ten thousand take less than a second."""

import time

import pytest

from forwardbook.models.record import PhaseCosts
from forwardbook.models.roofline import Device, timings
from forwardbook.models.sweep import Sweep, Uncovered, axes, grid
from forwardbook.models.totals import NAMES, Attention, SizesRefused, Widths, evaluate, holding

TOY = Device("toy", "Toy", {"bf16": 100.0, "fp4": 400.0}, 10.0, 1000)


def test_axes() -> None:
    """Factors, steps, lists and single values."""
    found = axes("batch_size=1:64:x2, seq_len=10:50:+20,kv_len=3|9, num_samples=7,image=1:3")
    expected = {
        "batch_size": [1, 2, 4, 8, 16, 32, 64],
        "seq_len": [10, 30, 50],
        "kv_len": [3, 9],
        "num_samples": [7],
        "image": [1, 2, 3],
    }
    assert expected == found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no sizes"),
        ("batch_size", "NAME=FROM:TO:STEP"),
        ("a=1:4:x1", "a factor is at least 2"),
        ("a=0:4:x2", "0 is below 1"),
        ("a=9:4:x2", "FROM no larger than TO"),
        ("a=1:2:3:4", "FROM no larger than TO"),
        ("a=x,b=1.5", "'x' is no whole number.*'1.5' is no whole number"),
        ("a=1,a=2", "each size once"),
        ("a=1:999999999999:+1", "more than"),
        ("a=1:2000:+1,b=1:2000:+1", "4,000,000 points"),
        ("a=1:8:+0", "0 is below 1"),
    ],
)
def test_wrong_axes_are_told(text: str, message: str) -> None:
    """Everything that is wrong, in one message."""
    with pytest.raises(SizesRefused, match=message):
        axes(text)


@pytest.mark.parametrize("attention", ["dense", "executed"])
@pytest.mark.parametrize("widths", [Widths(), Widths(w_bit=4, a_bit=3, kv_bit=7)])
def test_every_point_is_what_one_evaluation_gives(
    prefill: PhaseCosts, single: PhaseCosts, decode: PhaseCosts, attention: Attention, widths: Widths
) -> None:
    """All quantities and times, in the regime that holds at the point."""
    points = grid({"batch_size": [1, 2, 7], "seq_len": [1, 2, 64]})
    table = Sweep([prefill, single], [decode], points, widths, attention, 100, [TOY]).columns()

    for index in range(9):
        sizes = {name: int(points[name][index]) for name in points}
        totals = evaluate(holding([prefill, single], "prefill", sizes, widths), sizes, widths, attention)
        assert totals.total.whole() == {name: table[name][index] for name in NAMES}
        assert timings(totals, TOY)[0].eager == pytest.approx(float(table["seconds_eager_toy"][index]))


def test_uncovered_points_are_named(prefill: PhaseCosts) -> None:
    """A point outside every regime is not extrapolated to."""
    with pytest.raises(Uncovered, match="'seq_len': 1") as caught:
        Sweep([prefill], [], grid({"batch_size": [4], "seq_len": [2, 1]}), Widths()).columns()
    assert {"batch_size": 4, "seq_len": 1} == caught.value.sizes


@pytest.mark.parametrize("widths", [Widths(), Widths(w_bit=4)])
def test_ten_thousand_points_take_less_than_a_second(
    prefill: PhaseCosts, widths: Widths, a_second: float
) -> None:
    """The grid is evaluated at once, also at widths in fractions of a byte."""
    points = grid({"batch_size": range(1, 101), "seq_len": range(2, 102)})
    started = time.process_time()
    table = Sweep([prefill], [], points, widths, "executed", 0, [TOY]).columns()

    assert 10_000 == len(table["flops"])
    assert time.process_time() - started < a_second
