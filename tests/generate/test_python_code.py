"""Formulas as Python: the same value, and nothing but arithmetic."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forwardbook.calculator import greatest, least
from forwardbook.errors import FormulaError
from forwardbook.formula import parse
from forwardbook.generate.python_code import python_condition, python_expression

NAMES = {"a": "a", "b": "b", "x.c": "x_c"}


def _value(expression: str, sizes: dict[str, int]) -> int:
    scope = {"least": least, "greatest": greatest, **{NAMES[name]: value for name, value in sizes.items()}}
    return int(eval(expression, {"__builtins__": {}}, scope))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{a",
        "{unknown}",
        "a",
        "{a} {b}",
        "{a} ** 2",
        "__import__('os')",
        "{a}.real",
        "ceil({a} / )",
        "min()",
        "({a}",
        "{a} == {b}",
        "{a}; {b}",
        "1e9",
        "lambda",
    ],
)
def test_what_is_no_formula_is_refused(text: str) -> None:
    """Text outside the formula language never becomes Python."""
    with pytest.raises((FormulaError, KeyError)):
        python_expression(text, NAMES)


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("2 * {a} * {x.c}", "2 * a * x_c"),
        ("ceil({a} / {b})", "(-(-a // b))"),
        ("ceil(2 * {a} / 3)", "(-(-2 * a // 3))"),
        ("ceil(({a} + 1) / {b})", "(-(-((a + 1)) // b))"),
        ("ceil({a} // 2 / {b})", "(-(-(a // 2) // b))"),
        ("floor({a} / 4)", "(a // 4)"),
        ("min({a}, {b}, 007)", "least(a, b, 7)"),
        ("max({a}, -{b})", "greatest(a, -b)"),
        ("- -{a}", "-(-a)"),
    ],
)
def test_expression(formula: str, expected: str) -> None:
    """Names, functions and numbers are Python's; the rest stays."""
    assert expected == python_expression(formula, NAMES)


def test_condition() -> None:
    """A condition is a Python comparison."""
    assert python_condition("{a} % {b} == 0", NAMES) == "a % b == 0"


def _combined(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pair = st.tuples(parts, parts)
    return st.one_of(
        st.tuples(parts, st.sampled_from(["+", "-", "*"]), parts).map(" ".join),
        pair.map(lambda both: f"({both[0]}) * ({both[1]})"),
        pair.map(lambda both: f"({both[0]}) // (({both[1]}) * ({both[1]}) + 1)"),
        pair.map(lambda both: f"({both[0]}) % 7 - -({both[1]})"),
        pair.map(lambda both: f"ceil(({both[0]}) / ({both[1]} * 0 + 5))"),
        pair.map(lambda both: f"{{a}} * floor(3 * ({both[0]}) / 4) * 2"),
        pair.map(lambda both: f"min({both[0]}, {both[1]}, 9) + max({both[1]}, {both[0]})"),
    )


_FORMULAS = st.recursive(st.sampled_from(["{a}", "{b}", "{x.c}", "3", "0", "12"]), _combined, max_leaves=6)


@settings(max_examples=200, deadline=None)
@given(_FORMULAS, st.integers(1, 60), st.integers(1, 60), st.integers(1, 60))
def test_python_gives_what_the_formula_gives(formula: str, a: int, b: int, c: int) -> None:
    """For any formula, the Python expression has the value of the formula."""
    sizes = {"a": a, "b": b, "x.c": c}

    assert parse(formula).evaluate(sizes) == _value(python_expression(formula, NAMES), sizes)
