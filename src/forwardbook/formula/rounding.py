"""Turns rounded-down quotients into remainders and round-ups where a formula reads shorter with them."""

from __future__ import annotations

from forwardbook.formula.atoms import Floor, Shown
from forwardbook.formula.bounds import is_never_negative, linear_parts
from forwardbook.formula.expr import Expr
from forwardbook.formula.quotient import polynomial_quotient


def with_remainders(value: Expr) -> Expr:
    """The same value, for printing alone: each quotient replaced by what makes the sum shortest."""
    for atom in value.atoms():
        if isinstance(atom, Floor):
            unchanged = (len(value.terms) + len(atom.numerator.terms), value)
            value = min([unchanged, *_alternatives(value, atom)], key=lambda option: option[0])[1]
    return value


def _alternatives(value: Expr, atom: Floor) -> list[tuple[int, Expr]]:
    parts = linear_parts(value, atom)
    if parts is None:
        return []
    rest, factor = parts
    above, below = atom.numerator, atom.denominator
    found = []
    multiple = polynomial_quotient(factor, below)
    if multiple is not None and multiple.is_whole:
        # below * floor(above / below) = above - above % below
        shown = _shown("%", above, below)
        found.append((above, rest + multiple * above - multiple * shown))
    if is_never_negative(below):
        # floor(n / d) = ceil((n - d + 1) / d) = ceil((n + 1) / d) - 1 for every d > 0
        lower = above - below + 1
        found.append((lower, rest + factor * _shown("ceil", lower, below)))
        upper = above + 1
        found.append((upper, rest + factor * (_shown("ceil", upper, below) - 1)))
    if below == 2:
        # floor(n / 2) = n - ceil(n / 2)
        found.append((above, rest + factor * (above - _shown("ceil", above, below))))
    return [(len(new.terms) + len(inner.terms), new) for inner, new in found]


def _shown(name: str, above: Expr, below: Expr) -> Expr:
    return Expr.atom(Shown(name, above, below))
