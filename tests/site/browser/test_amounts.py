"""Amounts as people write and read them, compared with Python's own arithmetic."""

from __future__ import annotations

import random
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.site.browser.engine import Scripts

READ = {
    "4096": 4096,
    " 8_192 ": 8192,
    "8 192": 8192,
    "1,000": 1000,
    "8k": 8000,
    "8Ki": 8192,
    "1.5M": 1_500_000,
    "1e12": 10**12,
    "1E+3": 1000,
    "70B": 70 * 10**9,
    "2Ti": 2**41,
    "0": 0,
    "0007": 7,
    "1.0": 1,
    "9007199254740993": 2**53 + 1,
    "340282366920938463463374607431768211457": 2**128 + 1,
}
REFUSED = (
    "",
    "-1",
    "1.5",
    "x",
    "0x10",
    "1e",
    "1e-3",
    "8kk",
    "NaN",
    "Infinity",
    "<b>",
    "9" * 200,
    "1e9999",
    "٣",
)


def test_amounts_are_read_without_losing_a_digit(scripts: Scripts) -> None:
    """Digits, separators, units of thousands and of 1024, and exponents give exact integers."""
    assert scripts.each("read", list(READ)) == [str(value) for value in READ.values()]


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_whole_number_is_refused(scripts: Scripts, text: str) -> None:
    """Fractions, signs and words are refused with a message that says what is expected."""
    [found] = scripts.each("read", [text])

    assert "whole number" in found["error"]


def test_significant_digits_are_those_of_decimal(scripts: Scripts) -> None:
    """Rounding to some digits is exact and half to even, as Python's `decimal` does it."""
    draw = random.Random(1)
    cases = [
        (
            Fraction(draw.getrandbits(draw.randint(1, 70)) + 1, draw.choice((1, 2, 8, 1000, 1024, 7))),
            draw.randint(1, 7),
        )
        for _ in range(500)
    ] + [(Fraction(25, 10), 1), (Fraction(35, 10), 1), (Fraction(99995, 10), 4), (Fraction(1, 3000), 3)]
    found = scripts.each("significant", [{"value": str(value), "count": count} for value, count in cases])

    assert [Decimal(text) for text in found] == [_rounded(value, count) for value, count in cases]


def test_short_forms(scripts: Scripts) -> None:
    """Operations go by thousands, bytes by 1024, seconds by thousandths; fractions of bytes round up."""
    scaled = [
        ("999", "op"),
        ("1720000000000", "op"),
        ("17716740096", "B"),
        ("1023", "B"),
        ("1" + "0" * 40, "op"),
    ]
    found = scripts.each("scaled", [{"value": value, "unit": unit} for value, unit in scaled])

    assert found == ["999", "1.720 T", "16.50 GiB", "1023 B", "1.000e40"]
    assert scripts.each("seconds", ["3/2", "1/1000", "12345/1000000000", "1/3000000000"]) == [
        "1.500 s",
        "1.000 ms",
        "12.34 µs",
        "0.3333 ns",
    ]
    assert scripts.each("digits", ["7/2", "12345678901234567890123", "0"]) == [
        "4",
        "12345678901234567890123",
        "0",
    ]


def _rounded(value: Fraction, count: int) -> Decimal:
    with localcontext(prec=200, rounding=ROUND_HALF_EVEN):
        exact = Decimal(value.numerator) / Decimal(value.denominator)
        return exact.quantize(Decimal(1).scaleb(exact.adjusted() + 1 - count))
