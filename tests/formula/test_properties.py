"""Expressions grown at random have the values that Python's integers have, whatever was simplified."""

from __future__ import annotations

import copy
import math
import pickle
import re
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias, cast

import numpy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from forwardbook.errors import FormulaError
from forwardbook.formula import Condition, Expr, dominant, parse
from forwardbook.formula.vector import Points

NAMES = ("a", "b", "c", "kv_len")
Tree: TypeAlias = tuple[str, str | int] | tuple[str, "Tree", "Tree"]

leaves = st.one_of(
    st.sampled_from(NAMES).map(lambda name: ("symbol", name)),
    st.integers(-4, 9).map(lambda value: ("const", value)),
)
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["+", "-", "*"]), inner, inner),
        st.tuples(st.sampled_from(["//", "%", "ceil", "exact", "min", "max"]), inner, inner),
    ),
    max_leaves=12,
)
points = st.fixed_dictionaries({name: st.integers(0, 9) for name in NAMES})
positive_points = st.fixed_dictionaries(
    {name: st.one_of(st.integers(1, 9), st.just(10**6)) for name in NAMES}
)


def _exact(a: int, b: int) -> int:
    if a % b:
        raise ZeroDivisionError
    return a // b


PYTHON: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "ceil": lambda a, b: -(-a // b),
    "exact": _exact,
    "min": min,
    "max": max,
}
OURS: dict[str, Callable[[Expr, Expr], Expr]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": Expr.floordiv,
    "%": Expr.mod,
    "ceil": Expr.ceildiv,
    "exact": Expr.exact_div,
    "min": Expr.minimum,
    "max": Expr.maximum,
}


def python_value(tree: Tree, point: dict[str, int]) -> int | None:
    """The value by Python's integers; None where Python divides by zero or an exact division is not."""
    match tree:
        case ("symbol", str(name)):
            return point[name]
        case ("const", int(value)):
            return value
    op, left, right = cast("tuple[str, Tree, Tree]", tree)
    a, b = python_value(left, point), python_value(right, point)
    if a is None or b is None:
        return None
    try:
        return PYTHON[op](a, b)
    except ZeroDivisionError:
        return None


def ours(tree: Tree) -> Expr:
    """The expression; a tree that divides by zero or exactly by a stubborn sum is not a test."""
    match tree:
        case ("symbol", str(name)):
            return Expr.symbol(name)
        case ("const", int(value)):
            return Expr.const(value)
    op, left, right = cast("tuple[str, Tree, Tree]", tree)
    a, b = ours(left), ours(right)
    try:
        return OURS[op](a, b)
    except FormulaError:
        assume(False)
        raise


def run_as_python(text: str, point: dict[str, int]) -> int:
    """The value that Python gives to the printed formula, names replaced by numbers."""
    code = re.sub(r"\{([\w.]+)\}|(\d+)", lambda m: f"F({point[m[1]] if m[1] else m[2]})", text)
    value = eval(code, {"F": Fraction, "min": min, "max": max, "ceil": math.ceil, "floor": math.floor})
    assert int(value) == value
    return int(value)


@settings(max_examples=600, deadline=None)
@given(trees, points)
def test_simplification_keeps_the_value(tree: Tree, point: dict[str, int]) -> None:
    """Wherever Python computes a value, the expression has the same."""
    expected = python_value(tree, point)
    value = ours(tree)
    if expected is not None:
        assert expected == value.evaluate(point)


@settings(max_examples=600, deadline=None)
@given(trees, points)
def test_text_means_what_it_says(tree: Tree, point: dict[str, int]) -> None:
    """The printed formula, run as Python or parsed again, has the value of the expression."""
    value = ours(tree)
    expected = python_value(tree, point)
    if expected is not None:
        assert expected == parse(value.text()).evaluate(point)
        assert expected == parse(value.text(), exact=True).evaluate(point)
        try:
            assert expected == run_as_python(value.text(), point)
        except ZeroDivisionError:
            assert "//" in value.text() or "%" in value.text() or "/" in value.text()


@settings(max_examples=300, deadline=None)
@given(trees, trees, positive_points)
def test_at_least_is_sound(left: Tree, right: Tree, point: dict[str, int]) -> None:
    """What at_least claims holds at every point with sizes of at least one."""
    a, b = ours(left), ours(right)
    larger, smaller = a * a + b, b
    for x, y in ((a, b), (larger, smaller), (a + b, a)):
        x_value, y_value = _value(x, point), _value(y, point)
        if x_value is not None and y_value is not None and x.at_least(y):
            assert x_value >= y_value


@settings(max_examples=200, deadline=None)
@given(st.lists(trees, min_size=1, max_size=5), positive_points)
def test_dominant_keeps_the_maximum(given_trees: list[Tree], point: dict[str, int]) -> None:
    """The maximum over the kept candidates is the maximum over all of them."""
    candidates = [ours(tree) for tree in given_trees]
    values = [_value(candidate, point) for candidate in candidates]
    assume(None not in values)
    assert max(v for v in values if v is not None) == max(
        kept.evaluate(point) for kept in dominant(candidates)
    )


@settings(max_examples=300, deadline=None)
@given(trees, st.lists(points, min_size=1, max_size=4), st.sampled_from([1, 10**5, 10**18, 2**63, 10**30]))
def test_arrays_agree_with_single_values(tree: Tree, many: list[dict[str, int]], scale: int) -> None:
    """evaluate_many equals evaluate at each point, beyond 64 bits too."""
    value = ours(tree)
    scaled = [{name: size * scale for name, size in point.items()} for point in many]
    expected = [_value(value, point) for point in scaled]
    arrays = {name: numpy.array([point[name] for point in scaled], dtype=object) for name in NAMES}
    if scale < 2**40:
        arrays = {name: array.astype(numpy.int64) for name, array in arrays.items()}
    if None in expected:
        try:
            value.evaluate_many(arrays)
        except FormulaError:
            return
        raise AssertionError("evaluate refuses a point that evaluate_many accepts")
    assert expected == [int(found) for found in value.evaluate_many(arrays)]


@settings(max_examples=300, deadline=None)
@given(st.lists(trees, min_size=1, max_size=3), st.lists(points, min_size=1, max_size=4))
def test_points_tell_where_there_is_no_value(several: list[Tree], many: list[dict[str, int]]) -> None:
    """At each point an array says that there is no value, or has the one that `evaluate` gives."""
    at = Points({name: numpy.array([point[name] for point in many]) for name in NAMES})
    for value in map(ours, several):
        numbers, fails = at.of(value)
        pairs = zip(numpy.broadcast_to(numbers, len(many)), numpy.broadcast_to(fails, len(many)), strict=True)
        assert [_value(value, point) for point in many] == [None if f else int(n) for n, f in pairs]


@settings(max_examples=300, deadline=None)
@given(trees, trees, points)
def test_substitution_is_evaluation_in_steps(tree: Tree, inner: Tree, point: dict[str, int]) -> None:
    """Replacing a symbol by an expression and evaluating equals evaluating the expression first."""
    value, replacement = ours(tree), ours(inner)
    size = python_value(inner, point)
    if size is None or size < 0:
        return
    expected = python_value(tree, point | {"a": size})
    try:
        replaced = value.subs({"a": replacement})
    except FormulaError:
        return
    if expected is not None:
        assert expected == replaced.evaluate(point)


@settings(max_examples=200, deadline=None)
@given(trees, trees, trees)
def test_ring_laws(first: Tree, second: Tree, third: Tree) -> None:
    """Sums and products are commutative, associative and distributive as polynomials, hashes included."""
    a, b, c = ours(first), ours(second), ours(third)
    assert (a + b) * c == c * b + a * c
    assert hash((a + b) * c) == hash(c * b + a * c)
    assert (a + b) + c == a + (c + b)
    assert (a * b) * c == a * (c * b)
    assert a - a == 0
    assert Expr.sum([a, b, c, -a]) == b + c


@settings(max_examples=200, deadline=None)
@given(trees)
def test_copies_are_equal(tree: Tree) -> None:
    """A pickled or copied expression equals the original and prints alike."""
    value = ours(tree)
    assert value == pickle.loads(pickle.dumps(value)) == copy.deepcopy(value)
    assert value.text() == pickle.loads(pickle.dumps(value)).text()


@settings(max_examples=200, deadline=None)
@given(trees, trees, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), positive_points)
def test_trivially_true_conditions_hold(left: Tree, right: Tree, op: str, point: dict[str, int]) -> None:
    """A condition called trivially true holds at all sizes of at least one, and reads back from its text."""
    condition = Condition(ours(left), op, ours(right))
    a, b = _value(condition.left, point), _value(condition.right, point)
    if a is not None and b is not None:
        assert condition.holds(point) == Condition.parse(condition.text()).holds(point)
        assert condition.holds(point) or not condition.is_trivially_true()


def _value(value: Expr, point: dict[str, int]) -> int | None:
    try:
        return value.evaluate(point)
    except FormulaError:
        return None
