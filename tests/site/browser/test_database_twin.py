"""Every formula of the shipped database has the same value in the browser as in its calculator."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from forwardbook import registry
from forwardbook.calculator import RegimeFormulas
from forwardbook.errors import FormulaError
from forwardbook.formula import parse
from forwardbook.formula.rational import rational_value
from forwardbook.schema import QUANTITIES, Regime
from forwardbook.workspace import Workspace

if TYPE_CHECKING:
    from tests.site.browser.engine import Scripts

WIDTHS = {"w_dtype_bytes": "1/2", "a_dtype_bytes": "3/4", "kv_dtype_bytes": "3/8"}
MAX_SYMBOLIC = 400  # characters of a formula that the second account expands symbolically


def regimes(most: int) -> Iterator[tuple[str, Regime, type[RegimeFormulas]]]:
    """Each regime of so many classes of the database, drawn by chance, with its calculator's formulas."""
    database = Workspace.find().load()
    keys = sorted(database)
    for key in keys if most >= len(keys) else random.Random(5).sample(keys, most):
        entry = database[key]
        if entry.same_as is None and entry.regimes:  # of what was taken back there is no calculator
            for regime, formulas in zip(entry.regimes, registry.load(key).regimes, strict=True):
                yield key, regime, formulas


def sizes(draw: random.Random, names: tuple[str, ...]) -> dict[str, int]:
    """Random sizes, usual ones and ones whose products exceed 2^53 by far."""
    most = draw.choice((4, 9, 14, 40))
    return {
        name: draw.choice((1, 2, 4)) if name.endswith("_bytes") else 1 + draw.getrandbits(most)
        for name in names
    }


def test_formulas_have_the_value_of_their_calculator(scripts: Scripts) -> None:
    """All quantities, conditions and lines of 120 classes at random sizes, whether or not conditions hold."""
    count, large = compared(scripts, 120)
    assert count > 4_000
    assert large > 400


@pytest.mark.slow
def test_every_formula_has_the_value_of_its_calculator(scripts: Scripts) -> None:
    """The same for every class of the database."""
    count, large = compared(scripts, 10**9)
    assert count > 10_000
    assert large > 1_000


def compared(scripts: Scripts, most: int) -> tuple[int, int]:
    """How many formulas were compared, and how many had values above 2^53; a difference fails the test."""
    draw = random.Random(3)
    count = large = 0
    for key, regime, formulas in regimes(most):
        at = sizes(draw, formulas.parameters)
        texts = [regime.formula(name) for name in QUANTITIES]
        texts += [text for line in regime.flop_analysis.lines for text in (line.flops, line.pointwise_ops)]
        texts += [text for line in regime.memory_analysis.lines for text in (line.reads, line.writes)]
        given = {name: str(value) for name, value in at.items()}
        [found] = scripts.each("values", [{"formulas": texts, "sizes": given}])
        totals = [_python(formulas, name, at) for name in QUANTITIES]
        assert found[: len(totals)] == totals, (key, regime.name, at)
        assert _line_sums(regime, found[len(totals) :]) == _line_totals(formulas, at), (key, regime.name, at)
        [held] = scripts.each("holds", [{"conditions": regime.conditions, "sizes": given}])
        assert _whether(held) == _held(formulas, at), (key, regime.name, at)
        count += len(texts)
        large += sum(isinstance(text, str) and int(text) > 2**53 for text in found)
    return count, large


def test_widths_below_a_byte_have_the_value_of_models(scripts: Scripts) -> None:
    """With weights of 4 and activations of 6 bits, formulas are the rationals that model analyses compute."""
    draw = random.Random(4)
    cases: list[dict[str, Any]] = []
    expected = []
    for _, regime, formulas in regimes(120):
        for name in ("reads", "writes", "boundary", "peak"):
            text = regime.formula(name)
            if len(text) <= MAX_SYMBOLIC and "dtype_bytes" in text:
                at = {each: str(size) for each, size in sizes(draw, formulas.parameters).items()}
                at |= {each: bits for each, bits in WIDTHS.items() if each in at}
                cases.append({"formula": text, "sizes": at, "exact": True})
                expected.append(_rational(text, at))

    assert scripts.each("value", cases) == expected
    assert len(cases) > 200


def _rational(text: str, at: dict[str, str]) -> str | dict[str, str]:
    try:
        return str(rational_value(parse(text, exact=True), {k: Fraction(v) for k, v in at.items()}))
    except FormulaError as error:  # sizes that no condition allows: the page says so, too
        assert str(error).startswith("division by zero")
        return {"error": "division by zero", "kind": "FormulaError"}


def _python(formulas: type[RegimeFormulas], quantity: str, at: dict[str, int]) -> str | dict[str, str]:
    try:
        return str(getattr(formulas, quantity)(**formulas.arguments(at)))
    except ZeroDivisionError:
        return {"error": "division by zero", "kind": "FormulaError"}


def _line_sums(regime: Regime, found: list[str]) -> list[int] | None:
    """Flops and pointwise operations, reads and writes summed over lines; None where one divides by zero."""
    if any(isinstance(each, dict) for each in found):
        return None
    values = [int(each) for each in found]
    flop_lines = 2 * len(regime.flop_analysis.lines)
    ops, moved = values[:flop_lines], values[flop_lines:]
    return [sum(ops[::2]), sum(ops[1::2]), sum(moved[::2]), sum(moved[1::2])]


def _line_totals(formulas: type[RegimeFormulas], at: dict[str, int]) -> list[int] | None:
    try:
        lines = formulas.lines(**formulas.arguments(at))
    except ZeroDivisionError:
        return None
    return [
        sum(getattr(line, name) for line in lines) for name in ("flops", "pointwise_ops", "reads", "writes")
    ]


def _held(formulas: type[RegimeFormulas], at: dict[str, int]) -> list[bool] | None:
    try:
        return list(formulas.holds(**formulas.arguments(at)))
    except ZeroDivisionError:
        return None


def _whether(held: list[Any]) -> list[bool] | None:
    return None if any(isinstance(each, dict) for each in held) else held
