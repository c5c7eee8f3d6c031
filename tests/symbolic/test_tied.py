"""Sizes that conditions make a function of others follow these."""

from __future__ import annotations

from forwardbook.analyzers.symbolic.tied import Tied
from forwardbook.formula import Condition, Expr, parse


def tied(*conditions: str, held: tuple[str, ...] = ()) -> Tied:
    """What these equalities tie."""
    return Tied(map(Condition.parse, conditions), held)


def test_equal_sizes_are_one() -> None:
    """A formula of both is one of the second."""
    one = tied("{words} == {width}")

    assert parse("3 * {width}") == one.of(parse("{words} + 2 * {width}"))
    assert {"width": 7, "words": 7} == one.whole({"width": 7, "words": 5})


def test_what_is_said_of_a_size_is_said_through_others() -> None:
    """A width of heads, of which each is as wide as another size."""
    one = tied("{width} == {heads} * {head}", "{head} == 2 * {half}")

    assert parse("2 * {heads} * {half}") == one.of(Expr.symbol("width"))
    assert {"heads": 3, "half": 5, "head": 10, "width": 30} == one.whole({"heads": 3, "half": 5})
    assert "2 * {half} * {heads} > 8" == one.condition(Condition.parse("{width} > 8")).text()


def test_a_size_that_is_held_is_said_by_none() -> None:
    """The other side is, where that is a size alone."""
    one = tied("{layers} == {blocks}", held=("layers",))

    assert {"layers": 2, "blocks": 2} == one.whole({"layers": 2, "blocks": 9})
    assert {"layers": 2} == tied("{layers} == 3 * {blocks}", held=("layers",)).whole({"layers": 2})


def test_what_is_no_size_is_none() -> None:
    """A width of the others less than nothing, and a division by zero."""
    assert tied("{rest} == {width} - {part}").whole({"width": 3, "part": 4}) is None
    assert tied("{rest} == floor({width} / ({part} - 4))").whole({"width": 3, "part": 4}) is None


def test_a_size_is_not_said_by_itself() -> None:
    """A condition on one size alone leaves it free."""
    assert {"width": 8} == tied("{width} == 4 * floor({width} / 4)").whole({"width": 8})
