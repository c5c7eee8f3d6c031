"""Formulas keep their shape and their value: the tree beside the formula language's own reader."""

import random

import pytest

from forwardbook.book.site.formula_tree import NotAFormulaError, value
from forwardbook.book.site.typeset import typeset, typeset_lines
from forwardbook.formula import Condition, FormulaError, parse

SIZES = {"a": 7, "b": 3, "c.d": 12, "big": 2**70 + 1}
FORMULAS = (
    "2 * {a} * {b} + {c.d}",
    "floor({a} / (2 * {b}))",
    "ceil({big} / {b})",
    "max({a} * {b}, {c.d} - {a}, 5)",
    "({a} * {big}) % {c.d}",
    "-{a} + min({b}, {c.d})",
    "{c.d} * ({a} + {b}) // 2",
)


@pytest.mark.parametrize("text", FORMULAS)
def test_value_is_that_of_the_formula_language(text: str) -> None:
    """A formula has the value that the formula language gives it, also beyond 2^64."""
    assert parse(text).evaluate(SIZES) == value(text, SIZES)


def test_value_of_random_formulas() -> None:
    """A thousand random formulas have the value that the formula language gives them.

    Where its normal form divides by what is zero at these sizes, it gives none, and says so.
    """
    draw = random.Random(7)
    compared = 0
    for _ in range(1000):
        text = _random_formula(draw, 3)
        try:
            expected = parse(text).evaluate(SIZES)
        except FormulaError:
            continue
        assert expected == value(text, SIZES), text
        compared += 1
    assert compared > 900


@pytest.mark.parametrize("op", ["==", "!=", "<", "<=", ">", ">="])
def test_condition_is_one_or_nothing(op: str) -> None:
    """A condition is 1 where it holds and else 0."""
    text = f"{{a}} * {{b}} {op} 21"

    assert int(Condition.parse(text).holds(SIZES)) == value(text, SIZES)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "{a}.real",
        "{a} if {b} else 1",
        "f({a})",
        "[1]",
        "{a} ** 2",
        "'x'",
        "",
        "{a",
        "1.5",
    ],
)
def test_nothing_else_is_a_formula(text: str) -> None:
    """Text outside the formula language has no value and is not typeset."""
    with pytest.raises(NotAFormulaError):
        value(text, SIZES)
    assert typeset(text) is None or text == "{a} ** 2"


def test_typeset_keeps_what_binds_tighter() -> None:
    """A remainder inside a product, and a sum inside one, stand in brackets; divisions are fractions."""
    markup = typeset("{a} * ({b} % 4) * ({c} + 1) // 2") or ""

    assert "<mi>a</mi><mo>·</mo><mo>(</mo><mi>b</mi><mo>mod</mo><mn>4</mn><mo>)</mo>" in markup
    assert "<mo>(</mo><mi>c</mi><mo>+</mo><mn>1</mn><mo>)</mo>" in markup
    assert markup.startswith("<mfrac>") and markup.endswith("<mrow><mn>2</mn></mrow></mfrac>")


def test_typeset_breaks_wide_sums() -> None:
    """A sum that is wider than the page goes on in further rows."""
    wide = " + ".join(f"{{parameter_number_{each}}}" for each in range(12))

    assert 4 == (typeset(wide) or "").count("<mtr>")
    assert 0 == (typeset("{a} + {b}") or "").count("<mtr>")


def test_lines_that_are_no_formula_stay_text() -> None:
    """Whatever is no formula is shown as the text it is."""
    html = typeset_lines("flops = 2 * {a}\n<script>alert(1)</script> = 3")

    assert '<math display="block"><mi>flops</mi><mo>=</mo>' in html
    assert "<script" not in html and "&lt;script&gt;" in html


def _random_formula(draw: random.Random, depth: int) -> str:
    if depth == 0:
        return draw.choice(["{a}", "{b}", "{c.d}", "2", "5"])
    left, right = _random_formula(draw, depth - 1), _random_formula(draw, depth - 1)
    kind = draw.randrange(6)
    if kind < 3:
        return f"({left}) {draw.choice('+-*')} ({right})"
    if kind == 3:
        return f"{draw.choice(['floor', 'ceil'])}(({left}) / ({right} * ({right}) + 1))"
    if kind == 4:
        return f"({left}) % (({right}) * ({right}) + 1)"
    return f"{draw.choice(['min', 'max'])}({left}, {right})"
