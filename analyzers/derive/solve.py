"""What running a class alone demands of its sizes: which is another, which is a multiple of which."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final

import torch

from forwardbook.analyzers.derive.local import Local
from forwardbook.analyzers.symbolic.run import SymbolicRun
from forwardbook.formula import Condition, Expr, atoms, dominant
from forwardbook.formula.substitution import Replacing

ORDER: Final = ("forward", "config", "constructor")
"""Whose names give way to others, first to last: what a caller hands over is made of what the class is."""

Refused = Callable[[Mapping[str, int]], bool]
"""Whether the class cannot run at sizes."""


def definition(
    local: Local, conditions: Iterable[Condition], run: SymbolicRun, refused: Refused
) -> str | None:
    """Defines one more name of a class by others, where running demands it; the name."""
    equations = [one for one in conditions if one.op == "=="]
    return _equal(local, equations) or _multiple(local, equations, run, refused)


def _equal(local: Local, equations: Sequence[Condition]) -> str | None:
    """A name that an equation gives by others."""
    for source in ORDER:
        for one in equations:
            difference = one.left - one.right
            for name in sorted(difference.symbols() - local.definitions.keys()):
                if local.names.sources.get(name) != source:
                    continue
                value = _solved(difference, name)
                if value is None or not value.symbols().isdisjoint(local.definitions):
                    continue
                if source == "forward" or len(value.terms) == 1:
                    local.definitions[name] = value
                    return name
    return None


def _solved(difference: Expr, name: str) -> Expr | None:
    """What a name is where a difference is 0, whole and made of names; None where that is not told."""
    symbol = Expr.symbol(name)
    for value in (symbol - difference, symbol + difference):
        if name not in value.symbols() and value.is_whole and not value.is_const:
            return value
    return None


def _multiple(local: Local, equations: Sequence[Condition], run: SymbolicRun, refused: Refused) -> str | None:
    """A name that must be a multiple of another, or of a number: it is so many times that."""
    hints = local.names.hints
    quotients = dict.fromkeys(q for one in equations for q in _quotients(one.left - one.right))
    for name, divisor in quotients:
        hint, rest = divmod(hints[name], divisor.evaluate(hints))
        if rest or name in local.definitions or hint < 1 or divisor == 1:
            continue
        sizes = {n: h for n, h in hints.items() if n not in local.definitions}
        if not refused({**sizes, name: hints[name] + 1}):
            continue
        quotient = _quotient(local, run, name, divisor)
        hints[quotient] = max(hint, 2)  # what is once another here may be more
        local.names.sources[quotient] = local.names.sources[name]
        local.quotients[quotient] = (name, divisor)
        local.definitions[name] = divisor * Expr.symbol(quotient)
        return name
    return None


def _quotients(value: Expr) -> Iterator[tuple[str, Expr]]:
    """The names in an expression that are divided, anywhere, each with the name or number that divides it."""
    for atom in value.atoms():
        for part in atoms.parts_of(atom):
            yield from _quotients(part)
        if isinstance(atom, atoms.Floor):
            divisor = atom.denominator
            for name in atom.numerator.symbols():
                alone = atom.numerator in (Expr.symbol(name), -Expr.symbol(name))
                if alone and name not in divisor.symbols() and _is_plain(divisor):
                    yield name, divisor


def _is_plain(value: Expr) -> bool:
    """Whether an expression is a name or a number."""
    return value.is_const or value in [Expr.symbol(name) for name in value.symbols()]


def _quotient(local: Local, run: SymbolicRun, name: str, divisor: Expr) -> str:
    """What a quotient is called: as the attribute that holds it, else as people call such a one.

    A size at the boundary that is called so and is the quotient is it from now on.
    """
    made = {one: Expr.symbol(whole).floordiv(by) for one, (whole, by) in local.quotients.items()}
    wanted = [Expr.symbol(name).floordiv(by) for by in (divisor, divisor.subs(made))]
    wish = _word_of(name, divisor)
    attributes = (
        attribute
        for module in run.root.modules()
        for attribute, value in vars(module).items()
        if isinstance(value, torch.SymInt) and run.expressions.of(value) in wanted
    )
    numbered = (f"{wish}_{number}" for number in itertools.count(2))

    def is_free(word: str) -> bool:
        value, symbol = local.definitions.get(word), Expr.symbol(word)
        if value is not None:
            return value.subs({name: divisor * symbol}) == symbol
        return word not in local.names.hints

    word = next(filter(is_free, itertools.chain(attributes, [wish], numbered)))
    local.definitions.pop(word, None)
    return word


def _word_of(name: str, divisor: Expr) -> str:
    """`head_dim` of a width by heads, `half_width` of one by 2, else what is divided by what."""
    if divisor.is_const:
        number = int(divisor.const_value())
        return f"half_{name}" if number == 2 else f"{name}_by_{number}"
    [other] = divisor.symbols()
    if "head" not in other:
        return f"{name}_per_{other}"
    if "head" not in name:
        return "head_dim"
    return "num_key_value_groups" if "key_value" in other or "kv" in other else f"{name}_per_{other}"


def printed(value: Expr, definitions: dict[str, Expr]) -> Expr:
    """An expression with `hidden_size` where it has `num_heads * head_dim`."""
    for name, made in definitions.items():
        if len(made.terms) != 1 or not made.is_whole:
            continue
        [(product, coefficient)] = made.terms.items()
        if coefficient == 1 and len(product.powers) > 1:
            value = _folded(value, name, product)
        elif coefficient != 1 and len(product.powers) == 1:
            [(atom, power)] = product.powers
            if power == 1:
                whole = Expr.term(Fraction(1, int(coefficient)), atoms.monomial(((atoms.symbol(name), 1),)))
                value = Replacing({atom: whole}).of(value)
    return value


def _folded(value: Expr, name: str, product: atoms.Monomial) -> Expr:
    parts = []
    for monomial, coefficient in value.terms.items():
        powers = dict(monomial.powers)
        times = min(powers.get(atom, 0) // power for atom, power in product.powers)
        if times > 0:
            for atom, power in product.powers:
                powers[atom] -= power * times
            powers[atoms.symbol(name)] = powers.get(atoms.symbol(name), 0) + times
        parts.append(Expr.term(coefficient, atoms.monomial((a, p) for a, p in powers.items() if p)))
    return Expr.sum(parts)


def informative(conditions: Sequence[Condition]) -> list[Condition]:
    """Those conditions that not all sizes from 2 on meet."""
    told: dict[Condition, None] = {}
    for one in conditions:
        above = _from_two([one.left, one.right])
        if not Condition(above[0], one.op, above[1]).is_trivially_true():
            told[one] = None
    return list(told)


def contenders(sizes: Iterable[Expr]) -> tuple[Expr, ...]:
    """Those sizes that no other exceeds at all names from 2 on."""
    distinct = list(dict.fromkeys(sizes))
    above = _from_two(distinct)
    kept = set(dominant(above))
    return tuple(size for size, moved in zip(distinct, above, strict=True) if moved in kept)


def largest(sizes: Iterable[Expr]) -> Expr:
    """The maximum of sizes, without those that another exceeds at all names from 2 on; of none, 0."""
    left = contenders(sizes)
    return Expr.maximum(*left) if left else Expr.const(0)


def _from_two(values: Sequence[Expr]) -> list[Expr]:
    """Expressions with each name one more, so that what holds of names from 1 on holds of these from 2 on."""
    names = frozenset[str]().union(*(value.symbols() for value in values))
    shift: dict[str, Expr | int] = {name: Expr.symbol(name) + 1 for name in names}
    return [_settled(value.subs(shift)) for value in values]


def _settled(value: Expr) -> Expr:
    """An expression without quotients of a smaller number by a larger: these are 0."""
    while True:
        small = [
            atom
            for atom in value.atoms()
            if isinstance(atom, atoms.Floor)
            and atom.numerator.at_least(0)
            and atom.denominator.at_least(atom.numerator + 1)
        ]
        if not small:
            return value
        value = Replacing(dict.fromkeys(small, Expr.const(0))).of(value)
