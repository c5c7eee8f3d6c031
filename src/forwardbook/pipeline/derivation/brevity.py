"""A pattern whose formulas are too long to read back in; the same with sizes held until they are not, out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from forwardbook.analyzers.symbolic.assume import substituted
from forwardbook.analyzers.symbolic.patterns import Pattern
from forwardbook.errors import FormulaError
from forwardbook.formula import Condition, Expr
from forwardbook.formula.atoms import Atom, Extreme, Floor, Symbol
from forwardbook.formula.limits import MAX_TEXT

_EACH = 50  # characters that a name and what joins it to the next seldom exceed


def short_enough(pattern: Pattern, numbers: Mapping[str, int]) -> Pattern:
    """The pattern; the sizes written most often are numbers where a text exceeds what is read back.

    Sizes of convolutions and windows one within another repeat the whole of what is within, at every depth.
    A condition says of each size that is held what it is; no more than half of them are.
    """
    held: dict[str, int] = {}
    while 2 * (len(held) + 1) <= len(numbers) and (written := _too_long(pattern)):
        names = [name for name in sorted(written) if name in numbers]
        if not names:
            break
        most = max(names, key=written.__getitem__)
        held[most] = numbers[most]
        pattern = substituted(pattern, {most: numbers[most]})
    said = (Condition.that_is(name, value) for name, value in held.items())
    return replace(pattern, conditions=(*pattern.conditions, *said)) if held else pattern


def _too_long(pattern: Pattern) -> Counter[str]:
    """How often the first expression that cannot be written names each size; nothing where all can be."""
    known: dict[Expr, Counter[str]] = {}
    for value in _expressions(pattern):
        written = _names(value, known)
        if written.total() * _EACH > MAX_TEXT and not _is_writable(value):
            return written
    return Counter()


def _expressions(pattern: Pattern) -> Iterator[Expr]:
    for condition in pattern.conditions:
        yield condition.left
        yield condition.right
    for quantity in pattern.summary.quantities().values():
        yield Expr.of(quantity)


def _is_writable(value: Expr) -> bool:
    try:
        value.text()
    except FormulaError:
        return False
    return True


def _names(value: Expr, known: dict[Expr, Counter[str]]) -> Counter[str]:
    """How often a value written out term by term names each symbol."""
    if value not in known:
        found: Counter[str] = Counter()
        for monomial in value.terms:
            for atom, _ in monomial.powers:
                for name, times in _within(atom, known).items():
                    found[name] += times
        known[value] = found
    return known[value]


def _within(atom: Atom, known: dict[Expr, Counter[str]]) -> Counter[str]:
    if isinstance(atom, Symbol):
        return Counter({atom.name: 1})
    parts: tuple[Expr, ...] = ()
    if isinstance(atom, Floor):
        parts = (atom.numerator, atom.denominator)
    elif isinstance(atom, Extreme):
        parts = atom.arguments
    return sum((_names(part, known) for part in parts), Counter[str]())
