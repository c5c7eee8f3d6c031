"""Turns names and opaque terms into unique atoms, and atoms with exponents into unique monomials."""

from __future__ import annotations

import itertools
import re
import threading
from functools import lru_cache
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from forwardbook.errors import FormulaError
from forwardbook.formula.limits import MAX_EXPONENT, MAX_FACTORS, MAX_NAME, MAX_NESTING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from forwardbook.formula.expr import Expr

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
_serials = itertools.count()
_lock = threading.Lock()


class Atom:
    """One integer unknown of a polynomial; equal atoms are the same object."""

    __slots__ = ("__weakref__", "_key", "depth", "serial")

    def __init__(self, *parts: Expr) -> None:
        self.serial = next(_serials)
        self._key: str | None = None
        self.depth: int = max((atom.depth + 1 for part in parts for atom in part.atoms()), default=0)
        if self.depth > MAX_NESTING:
            raise FormulaError(f"more than {MAX_NESTING} rounded divisions, minima and maxima are nested")

    @property
    def key(self) -> str:
        """A name that orders atoms alike in every process."""
        if self._key is None:
            from forwardbook.formula.structure import atom_key

            self._key = atom_key(self)
        return self._key


class Symbol(Atom):
    """A named integer >= 0."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def __reduce__(self) -> tuple[object, ...]:
        return symbol, (self.name,)


class Floor(Atom):
    """The quotient of two integer polynomials, rounded towards minus infinity."""

    __slots__ = ("denominator", "numerator")

    def __init__(self, numerator: Expr, denominator: Expr) -> None:
        super().__init__(numerator, denominator)
        self.numerator = numerator
        self.denominator = denominator

    def __reduce__(self) -> tuple[object, ...]:
        return floor_atom, (self.numerator, self.denominator)


class Extreme(Atom):
    """The largest, or the smallest, of two or more expressions."""

    __slots__ = ("arguments", "largest")

    def __init__(self, largest: bool, arguments: frozenset[Expr]) -> None:
        from forwardbook.formula.structure import expression_key

        super().__init__(*arguments)
        self.largest = largest
        self.arguments = tuple(sorted(arguments, key=expression_key))

    def __reduce__(self) -> tuple[object, ...]:
        return extreme_atom, (self.largest, self.arguments)


class Shown(Atom):
    """A division under the name it is printed with, `%` or `ceil`; made for printing and kept nowhere."""

    __slots__ = ("denominator", "name", "numerator")

    def __init__(self, name: str, numerator: Expr, denominator: Expr) -> None:
        super().__init__()
        self.name = name
        self.numerator = numerator
        self.denominator = denominator


_symbols: WeakValueDictionary[str, Symbol] = WeakValueDictionary()
_floors: WeakValueDictionary[tuple[Expr, Expr], Floor] = WeakValueDictionary()
_extremes: WeakValueDictionary[tuple[bool, frozenset[Expr]], Extreme] = WeakValueDictionary()


def symbol(name: str) -> Symbol:
    """The one symbol of this name."""
    found = _symbols.get(name)
    if found is None:
        if not isinstance(name, str) or len(name) > MAX_NAME or not _NAME.fullmatch(name):
            shown = repr(name)[:MAX_NAME]
            raise FormulaError(f"{shown} is no symbol name: use letters, digits, underscores and dots")
        with _lock:
            found = _symbols.get(name)
            if found is None:
                found = _symbols[name] = Symbol(name)
    return found


def floor_atom(numerator: Expr, denominator: Expr) -> Floor:
    """The one atom for this quotient of reduced expressions."""
    pair = (numerator, denominator)
    with _lock:
        found = _floors.get(pair)
        if found is None:
            found = _floors[pair] = Floor(numerator, denominator)
    return found


def extreme_atom(largest: bool, arguments: Iterable[Expr]) -> Extreme:
    """The one atom for the maximum or minimum of these expressions, in any order."""
    key = (largest, frozenset(arguments))
    found = _extremes.get(key)
    if found is None:
        made = Extreme(*key)
        with _lock:
            found = _extremes.get(key)
            if found is None:
                found = _extremes[key] = made
    return found


def parts_of(atom: Atom) -> tuple[Expr, ...]:
    """The expressions that an opaque term is made of; of a symbol none."""
    match atom:
        case Floor():
            return (atom.numerator, atom.denominator)
        case Extreme():
            return atom.arguments
    return ()


Powers = tuple[tuple[Atom, int], ...]


class Monomial:
    """A product of atoms with non-zero integer exponents; equal monomials are the same object."""

    __slots__ = ("__weakref__", "powers")

    def __init__(self, powers: Powers) -> None:
        self.powers = powers

    def __reduce__(self) -> tuple[object, ...]:
        return monomial, (self.powers,)

    def exponent(self, atom: Atom) -> int:
        """The exponent of one atom, 0 when it is absent."""
        for own, power in self.powers:
            if own is atom:
                return power
        return 0

    @property
    def is_whole(self) -> bool:
        """Whether no exponent is negative."""
        return all(power > 0 for _, power in self.powers)

    @property
    def degree(self) -> int:
        """The sum of the exponents."""
        return sum(power for _, power in self.powers)


_monomials: WeakValueDictionary[Powers, Monomial] = WeakValueDictionary()
_PRODUCT_ROOM = 1 << 18
_products: dict[Monomial, dict[Monomial, Monomial]] = {}
_products_kept = 0


def monomial(powers: Iterable[tuple[Atom, int]]) -> Monomial:
    """The one monomial of these atoms and exponents; atoms must be distinct."""
    ordered = tuple(sorted(((atom, power) for atom, power in powers if power), key=_serial))
    if len(ordered) > MAX_FACTORS:
        raise FormulaError(f"a term has {len(ordered)} distinct factors; at most {MAX_FACTORS} are allowed")
    found = _monomials.get(ordered)
    if found is None:
        for _, power in ordered:
            if abs(power) > MAX_EXPONENT:
                raise FormulaError(f"an exponent is {power}; at most {MAX_EXPONENT} is allowed")
        with _lock:
            found = _monomials.get(ordered)
            if found is None:
                found = _monomials[ordered] = Monomial(ordered)
    return found


def _serial(pair: tuple[Atom, int]) -> int:
    return pair[0].serial


UNIT = monomial(())


def product_row(left: Monomial) -> dict[Monomial, Monomial]:
    """The products of this monomial that are already known, by the other factor."""
    row = _products.get(left)
    if row is None:
        row = _products[left] = {}
    return row


def multiply(left: Monomial, right: Monomial) -> Monomial:
    """The product of two monomials, remembered."""
    global _products_kept
    row = product_row(left)
    found = row.get(right)
    if found is None:
        powers = dict(left.powers)
        for atom, power in right.powers:
            powers[atom] = powers.get(atom, 0) + power
        found = row[right] = monomial(powers.items())
        _products_kept += 1
        if _products_kept > _PRODUCT_ROOM:
            _products.clear()
            _products_kept = 0
    return found


@lru_cache(maxsize=1 << 16)
def raise_power(base: Monomial, exponent: int) -> Monomial:
    """The monomial with every exponent multiplied; exponent -1 inverts it."""
    return monomial((atom, power * exponent) for atom, power in base.powers)
