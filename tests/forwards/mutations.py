"""A proved pattern in; the same with one formula changed, as a person gets it wrong, out."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from annotated import QUANTITIES

from forwardbook.analyzers.ops import Size
from forwardbook.analyzers.symbolic.patterns import Pattern
from forwardbook.analyzers.symbolic.summary import Summary
from forwardbook.formula import Expr, parse

WIDTHS = ("w_dtype_bytes", "a_dtype_bytes", "kv_dtype_bytes")
Change = Callable[[Expr, list[str], random.Random], "Expr | None"]


@dataclass(frozen=True)
class Mutation:
    """One formula changed: how, of which quantity, and the pattern that now holds it."""

    kind: str
    place: str
    before: Expr
    after: Expr
    pattern: Pattern


def _monomial(coefficient: object, powers: dict[str, int]) -> Expr:
    top, bottom = Expr.const(coefficient.numerator), Expr.const(coefficient.denominator)  # type: ignore[attr-defined]
    for atom, power in powers.items():
        if power > 0:
            top = top * parse(atom) ** power
        else:
            bottom = bottom * parse(atom) ** -power
    return top.exact_div(bottom)


def _one_term(expr: Expr, rng: random.Random) -> Expr:
    terms = list(expr.monomials())
    return _monomial(*rng.choice(terms))


def drop_term(expr: Expr, names: list[str], rng: random.Random) -> Expr | None:
    """One of several terms forgotten."""
    return expr - _one_term(expr, rng) if len(list(expr.monomials())) > 1 else None


def wrong_coefficient(expr: Expr, names: list[str], rng: random.Random) -> Expr | None:
    """One term counted one time too often, as a multiply without its add is counted once too rarely."""
    return expr + _one_term(expr, rng) * rng.choice((-2, 1, 2))


def swapped_symbol(expr: Expr, names: list[str], rng: random.Random) -> Expr | None:
    """One size in place of another."""
    here = [n for n in sorted(expr.symbols()) if n not in WIDTHS]
    pairs = [(one, other) for one in here for other in names if one != other]
    if not pairs:
        return None
    one, other = rng.choice(pairs)
    return expr.subs({one: Expr.symbol(other)})


def wrong_rounding(expr: Expr, names: list[str], rng: random.Random) -> Expr | None:
    """Rounded down for up, or up for down."""
    text = expr.text()
    for down, up in (("floor(", "ceil("), ("ceil(", "floor(")):
        if down in text:
            return parse(text.replace(down, up))
    return None


def off_by_one(expr: Expr, names: list[str], rng: random.Random) -> Expr | None:
    """A size one too large or too small."""
    here = [n for n in sorted(expr.symbols()) if n not in WIDTHS]
    if not here:
        return expr + 1
    name = rng.choice(here)
    return expr.subs({name: Expr.symbol(name) + rng.choice((-1, 1))})


def wrong_width(expr: Expr, names: list[str], rng: random.Random) -> Expr | None:
    """The width of weights for that of activations, or the other way."""
    here = [n for n in WIDTHS if n in expr.symbols()]
    if not here:
        return None
    one = rng.choice(here)
    return expr.subs({one: Expr.symbol(rng.choice([n for n in WIDTHS if n != one]))})


SIZES: tuple[Change, ...] = (drop_term, wrong_coefficient, swapped_symbol, wrong_rounding, off_by_one)


def mutations(
    pattern: Pattern,
    changes: tuple[Change, ...],
    count: int,
    same: Callable[[Size], object],
    rng: random.Random,
) -> Iterator[Mutation]:
    """Up to `count` mutations of a pattern; those that `same` cannot tell from the original are left out."""
    names = sorted(n for n in pattern.symbols() if n not in WIDTHS)
    places = [place for place in _places(pattern.summary) if Expr.of(place[1]) != Expr.const(0)]
    for _ in range(20 * count):
        if count == 0 or not places:
            return
        name, size, put = rng.choice(places)
        change = rng.choice(changes)
        before = Expr.of(size)
        after = change(before, names, rng)
        if after is None or same(after) == same(before):
            continue
        count -= 1
        yield Mutation(change.__name__, name, before, after, replace(pattern, summary=put(after)))


def _places(summary: Summary) -> Iterator[tuple[str, Size, Callable[[Expr], Summary]]]:
    """Every formula of a summary, and how to put another in its place."""
    for quantity in QUANTITIES.values():
        size = getattr(summary.totals, quantity)
        yield (
            f"total {quantity}",
            size,
            lambda new, q=quantity: replace(summary, totals=replace(summary.totals, **{q: new})),
        )
        for index, line in enumerate(summary.lines):
            yield (
                f"line {line.key[1]} {quantity}",
                getattr(line.cost, quantity),
                lambda new, q=quantity, i=index: replace(summary, lines=_with_line(summary, i, q, new)),
            )
    for name in ("weights", "boundary", "intermediates"):
        yield name, getattr(summary, name), lambda new, n=name: replace(summary, **{n: new})
    yield "peak", summary.quantities()["peak"], lambda new: replace(summary, peaks=(new,))


def _with_line(summary: Summary, index: int, quantity: str, new: Expr) -> tuple[object, ...]:
    lines = list(summary.lines)
    lines[index] = replace(lines[index], cost=replace(lines[index].cost, **{quantity: new}))
    return tuple(lines)
