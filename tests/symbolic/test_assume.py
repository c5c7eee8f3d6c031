"""Rewriting under known divisibility keeps every value; conditions that say nothing go."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from forwardbook.analyzers.symbolic.assume import Assumed, distinct, independent, informative
from forwardbook.analyzers.symbolic.divisible import divisibility, told
from forwardbook.formula import Condition, Expr, parse

HIDDEN, HEADS, ROWS = (Expr.symbol(name) for name in ("hidden", "heads", "rows"))
KNOWN = Condition.parse("{hidden} % {heads} == 0")
GROUPED = Condition.parse("{rows} % (4 * {heads}) == 0")
SMALL = st.integers(1, 9)


def conditions(*texts: str) -> list[Condition]:
    """Conditions from text."""
    return [Condition.parse(text) for text in texts]


def test_divisibility_is_recognised() -> None:
    """Multiples of a number, of a size, or of both are read off the conditions; others are not."""
    found = divisibility(
        [KNOWN, GROUPED, *conditions("{rows} % 2 == 0", "{rows} % {hidden} == 1", "{rows} > 4")]
    )

    assert [("hidden", HEADS), ("rows", 4 * HEADS), ("rows", Expr.const(2))] == [(n, m) for n, m, _ in found]


def test_rounding_of_a_multiple_is_exact() -> None:
    """Under hidden % heads == 0 the floor of hidden / heads is the quotient, and heads of them are hidden."""
    assumed = Assumed([KNOWN])

    assert HIDDEN.exact_div(HEADS) == assumed.of(HIDDEN.floordiv(HEADS))
    assert HIDDEN == assumed.of(HIDDEN.ceildiv(HEADS) * HEADS)
    assert HIDDEN.floordiv(ROWS) == assumed.of(HIDDEN.floordiv(ROWS))


def test_implied_condition_is_dropped() -> None:
    """What divisibility implies says nothing; the divisibility itself stays."""
    assumed = Assumed([KNOWN])

    assert assumed.condition(Condition(HIDDEN.floordiv(HEADS) * HEADS, "==", HIDDEN)) is None
    assert KNOWN == assumed.condition(KNOWN)
    assert assumed.condition(conditions("max(1, {hidden} // {heads}) * {heads} == {hidden}")[0]) is None
    (kept,) = conditions("max(2, {hidden} // {heads}) * {heads} == {hidden}")
    assert assumed.condition(kept) is not None


ATOMS = st.sampled_from([HIDDEN, HEADS, ROWS, HEADS * 4, Expr.const(2), Expr.const(3)])


def _joined(op: str, a: Expr, b: Expr) -> Expr:
    match op:
        case "+":
            return a + b
        case "*":
            return a * b
        case "/":
            return a.floordiv(b)
        case "%":
            return a.mod(b)
    return a.ceildiv(b)


TREES = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from("+*"), inner, inner), st.tuples(st.sampled_from("/%c"), inner, ATOMS)
    ).map(lambda joint: _joined(*joint)),
    max_leaves=6,
)


@settings(max_examples=80, deadline=None)
@given(TREES, SMALL, SMALL, SMALL)
def test_rewriting_keeps_the_value(tree: Expr, quotient: int, heads: int, groups: int) -> None:
    """At random sizes that meet the conditions the rewritten expression has the same value."""
    sizes = {"hidden": heads * quotient, "heads": heads, "rows": 4 * heads * groups}
    assume(all(c.holds(sizes) for c in (KNOWN, GROUPED)))

    assert tree.evaluate(sizes) == Assumed([KNOWN, GROUPED]).of(tree).evaluate(sizes)


@pytest.mark.parametrize(
    "text",
    ["{rows} != 1", "{rows} > 1", "{rows} * {heads} >= 4", "max({rows}, 3) >= 2", "{rows} + {heads} > 3"],
)
def test_condition_true_above_one_says_nothing(text: str) -> None:
    """A condition that holds whenever all sizes are 2 or more is not told."""
    assert [] == informative(conditions(text), [])


@pytest.mark.parametrize(
    "text", ["{rows} > {heads}", "{rows} % {heads} == 0", "{rows} % 64 == 0", "{rows} != 7"]
)
def test_condition_that_fails_somewhere_is_kept(text: str) -> None:
    """A condition that some sizes break is told, however rarely they do."""
    assert [text] == [c.text() for c in informative(conditions(text), [])]


@pytest.mark.parametrize(
    ("weak", "strong", "where_zero"),
    [
        ("{rows} > 1", "{rows} >= 4", True),
        ("{rows} != 1", "{rows} > 2", True),
        ("{rows} > 1", "{rows} > {heads}", False),
        ("{rows} >= {heads}", "{rows} > {heads}", True),
    ],
)
def test_weaker_condition_goes(weak: str, strong: str, where_zero: bool) -> None:
    """A condition that a stronger one implies is not told; where sizes may be 0, fewer are implied."""
    both = conditions(weak, strong)

    assert [strong] == [c.text() for c in independent(both)]
    assert ([strong] if where_zero else [weak, strong]) == [c.text() for c in independent(both, zeros=True)]


def test_same_condition_is_one() -> None:
    """Conditions are told once."""
    assert [KNOWN] == distinct([KNOWN, Condition.parse("{hidden} % {heads} == 0")])
    assert parse("{hidden} % {heads}") == KNOWN.left


def test_one_of_equal_conditions_stays() -> None:
    """Each follows from the others; with none of them a formula of one chunk would pass for every length."""
    said = [
        Condition.parse("256 * ceil({seq_len} / 256) == 256"),
        Condition.parse("ceil({seq_len} / 256) == 1"),
        Condition.parse("1 == ceil({seq_len} / 256)"),
        Condition.parse("20480 == 20480 * ceil({seq_len} / 256)"),
        Condition.parse("max(1, ceil({seq_len} / 256)) == 1"),
    ]
    kept = informative(said, said)

    assert ["ceil({seq_len} / 256) == 1"] == [c.text() for c in kept]


@pytest.mark.parametrize("chunk", ["256", "{chunk_size}"])
def test_condition_that_fails_at_multiples_is_kept(chunk: str) -> None:
    """Padding up to a multiple is none where the length is one."""
    padded = Condition.parse(f"{chunk} * ceil({{seq_len}} / {chunk}) - {{seq_len}} > 0")

    assert [padded] == informative([padded], [padded])


def test_sizes_are_what_conditions_say() -> None:
    """Multiples of numbers are that number times another; of two that are one, both are the same."""
    texts = ("{d} == {width}", "{width} % 8 == 0", "{a} == {b} * 2", "{rows} > {a}")
    found = told([*map(Condition.parse, texts)])

    assert found.keys() == {"d", "width"}
    assert found["d"] == found["width"] != Expr.symbol("width")
    assert (Expr.of(found["d"]) - 8).at_least(Expr.const(0))
