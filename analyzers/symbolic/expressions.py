"""Turns the nodes of a ledger into exact expressions, and its guards into conditions."""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd

import torch

from forwardbook.analyzers.symbolic.ledger import Guard, Ledger
from forwardbook.analyzers.symbolic.node import Node
from forwardbook.analyzers.symbolic.rounding import Off, is_positive, off, off_if_even, ratio_of
from forwardbook.analyzers.symbolic.steady import steady, symbols_behind
from forwardbook.formula import Condition, Expr, FormulaError
from forwardbook.formula.condition import NEGATED

_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_ASIDE = Off.BELOW | Off.ABOVE


class Unexpressed(Exception):
    """A node without an exact integer expression (a float that is no small fraction, an unknown function)."""


class Expressions:
    """The expression of every node of one ledger, built once; `divisions` are what they take for granted."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._known: dict[int, Expr] = {}
        self._refused: dict[int, str] = {}  # why: the error itself keeps frames and their tensors alive
        self._marks: dict[int, int] = {}
        self._off: dict[int, Off] = {}
        self.divisions: list[Condition] = []
        self._division_index: dict[Condition, int] = {}
        self._answered: dict[tuple[int, bool], list[Condition]] = {}
        self._steady = 0
        """The bits of those that keep a value without an expression at its number."""
        self.opaque: dict[str, int] = {}

    def of(self, value: int | torch.SymInt | Node) -> Expr:
        """The exact expression of a size; a node without one becomes its number and is noted in `opaque`."""
        if isinstance(value, torch.SymInt):
            value = value.node
        if not isinstance(value, Node):
            return Expr.const(int(value))
        try:
            return self._build(value)
        except Unexpressed:
            return Expr.const(int(value.hint))

    def mark(self, value: object) -> int:
        """A bit set of the `divisions` behind a size."""
        node = value.node if isinstance(value, torch.SymInt) else value
        if not isinstance(node, Node):
            return 0
        self.of(node)
        return self._marks.get(node.index, 0)

    def marked(self, bits: int) -> list[Condition]:
        return [c for i, c in enumerate(self.divisions) if bits >> i & 1]

    def _build(self, node: Node) -> Expr:
        stack = [node]
        while stack:
            top = stack[-1]
            if top.index in self._known or top.index in self._refused:
                stack.pop()
                continue
            missing = [a for a in top.args if a.index not in self._known and a.index not in self._refused]
            if missing:
                stack.extend(missing)
                continue
            self._off[top.index] = off(top, [self._off[arg.index] for arg in top.args])
            self._marks[top.index] = 0
            for arg in top.args:
                self._marks[top.index] |= self._marks.get(arg.index, 0)
            refused = next((self._refused[a.index] for a in top.args if a.index in self._refused), None)
            if refused is None:
                try:
                    self._known[top.index] = self._convert(top, [self._known[a.index] for a in top.args])
                except Unexpressed as problem:
                    refused = str(problem)
            if refused is not None and top.pytype is int:
                self._as_number(top, refused)
            elif refused is not None:
                self._refused[top.index] = refused
            stack.pop()
        if node.index in self._refused:
            raise Unexpressed(self._refused[node.index])
        return self._known[node.index]

    def _as_number(self, node: Node, problem: str) -> None:
        """The number of this run, on condition that the sizes behind it give no other."""
        self.opaque[problem] = int(node.number)
        for condition in steady(node, self._expressed):
            self._steady |= self._granted(node, condition)
        self._known[node.index] = Expr.const(int(node.number))

    def _expressed(self, node: Node) -> Expr | None:
        """The expression of a node that has one; one that stands for its number has none."""
        try:
            size = self._build(node)
        except Unexpressed:
            return None
        return None if self._marks.get(node.index, 0) & self._steady else size

    def symbols(self, value: Node) -> frozenset[str]:
        """The names that a value hangs on; those of one without an expression too."""
        return symbols_behind(value, self._expressed)

    def steady(self, value: Node) -> list[Condition]:
        """Under what conditions a value, where it has no expression, is the number of this run."""
        return self.marked(self.mark(value) & self._steady)

    def needed(self, value: Node) -> list[Condition]:
        """Under what conditions a value that became a plain number is that of this run, if not of all sizes.

        Those where it has no expression, and where its expression is a number because divisions are exact:
        `ceil(a / b) / (a / (2 b))` is 2 where b divides a.
        """
        size = self._expressed(value)
        return self.marked(self.mark(value)) if size is not None and size.is_const else self.steady(value)

    def read(self, value: Node) -> list[Condition]:
        """Under what conditions a value is that of this run, on both sides, expression or not."""
        return steady(value, self._expressed)

    def all_steady(self) -> list[Condition]:
        """All such conditions."""
        return self.marked(self._steady)

    def _convert(self, node: Node, args: list[Expr]) -> Expr:
        op = node.op
        if op == "symbol":
            return Expr.symbol(node.name)
        if op == "constant":
            return _constant(node.hint)
        if op in ("add", "sub", "mul"):
            a, b = args
            return a + b if op == "add" else a - b if op == "sub" else a * b
        if op == "neg":
            return -args[0]
        if op in ("pos", "sym_float"):
            return args[0]
        if op == "int_floordiv":
            return args[0].floordiv(args[1])
        if op in ("floor", "trunc", "ceil"):
            return self._rounded(node, args[0])
        if op in ("float_pow", "sym_sqrt"):
            return self._root(node, args)
        if op == "round":
            return self._nearest(node, args[0])
        if op in ("int_truediv", "float_truediv"):
            return args[0].exact_div(args[1]) if _is_monomial(args[1]) else _refuse(node)
        if op in ("mod", "float_floordiv"):
            if self._off[node.index]:
                return _refuse(node)  # Python divides the floats as they are, not what they are near to
            return args[0].mod(args[1]) if op == "mod" else args[0].floordiv(args[1])
        if op == "sym_max" and (size := _at_least_one(args)) is not None:
            return size
        if op in ("sym_min", "sym_max"):
            return (Expr.minimum if op == "sym_min" else Expr.maximum)(*args)
        if op == "pow_by_natural" and args[1].is_const:
            return args[0] ** args[1].const_value()
        if op == "sym_ite":
            return args[1] if node.args[0].hint else args[2]
        if op == "abs":
            return args[0] if int(node.args[0].hint) >= 0 else -args[0]
        return _refuse(node)

    def _rounded(self, node: Node, value: Expr) -> Expr:
        """A ratio rounded to an integer: the ratio itself where it is one product and whole in this run."""
        top, bottom = value.fraction()
        up = node.op == "ceil"
        if node.op == "trunc" and not (value.is_const or is_positive(node.args[0])):
            up = self._hint(top) < 0
            self._steady |= self._granted(node, Condition(top, "<=" if up else ">=", Expr.const(0)))
        if self._off[node.args[0].index] & (Off.ABOVE if up else Off.BELOW) and not value.is_const:
            self._aside(node, value, Off.ABOVE if up else Off.BELOW)
        if value.is_whole:
            return value
        if self._is_even(node, value):
            self._divided(node, top, bottom)
            return value
        return top.ceildiv(bottom) if up else top.floordiv(bottom)

    def _is_even(self, node: Node, value: Expr) -> bool:
        """Whether a ratio is one product, whole in this run, and sizes are mostly multiples of its bottom."""
        _, bottom = value.fraction()
        halves = not bottom.is_const or bottom.const_value().bit_count() == 1
        return _is_monomial(value) and halves and float(node.args[0].hint).is_integer()

    def _aside(self, node: Node, value: Expr, aside: Off) -> None:
        """Grants that divisions are exact, or a ratio no whole number: a float may lie beside one."""
        left, even = off_if_even(node.args[0])
        if even and not left & aside:
            for quotient in even:
                self._divided(node, *self._build(quotient).fraction())
            return
        top, bottom = value.fraction()
        rest = _remainder(top, bottom)
        if value.is_whole or self._hint(rest) == 0:
            _refuse(node)
        self._steady |= self._granted(node, Condition(rest, "!=", Expr.const(0)))

    def _hint(self, value: Expr) -> int:
        """The number of a value in this run."""
        return value.evaluate({name: self.ledger.hints[name] for name in value.symbols()})

    def _nearest(self, node: Node, value: Expr) -> Expr:
        """A ratio rounded to the nearest integer, on condition that it is not half way between two."""
        if value.is_whole:
            return value
        if self._is_even(node, value):
            self._divided(node, *value.fraction())
            return value
        number = float(node.args[0].hint)
        if number % 1 == 0.5:  # noqa: PLR2004 - half way Python rounds to the even one
            return _refuse(node)
        top, bottom = value.fraction()
        above, twice = top * 2 + bottom, bottom * 2
        self._granted(node, Condition(above.mod(twice), "!=", Expr.const(0)))
        return above.floordiv(twice)

    def _root(self, node: Node, args: list[Expr]) -> Expr:
        """The square root of a square, as `int(length ** 0.5)` asks for the side of an image."""
        half = node.op == "sym_sqrt" or (node.args[1].op == "constant" and node.args[1].number == 0.5)  # noqa: PLR2004
        root = args[0].square_root() if half else None
        if root is None or self._off[node.args[0].index]:
            return _refuse(node)
        self._off[node.index] = Off(0)
        root = root if self._hint(root) >= 0 else -root
        self._granted(node, Condition(root, ">=", Expr.const(0)))
        return root

    def _divided(self, node: Node, top: Expr, bottom: Expr) -> None:
        self._granted(node, Condition(_remainder(top, bottom), "==", Expr.const(0)))

    def _granted(self, node: Node, condition: Condition) -> int:
        bit = self._bit(condition)
        self._marks[node.index] |= bit
        return bit

    def _bit(self, condition: Condition) -> int:
        index = self._division_index.setdefault(condition, len(self.divisions))
        if index == len(self.divisions):
            self.divisions.append(condition)
        return 1 << index

    def conditions(self, guards: Iterable[Guard]) -> list[Condition]:
        """The guards that say something, as conditions, each once, in the order they were met."""
        found: dict[Condition, None] = {}
        for guard in guards:
            found.update(dict.fromkeys(self._answer(guard)))
        return list(found)

    def _answer(self, guard: Guard) -> list[Condition]:
        key = (guard.node.index, guard.value)
        if key not in self._answered:
            said = self._conditions_of(guard.node, guard.value)
            self._answered[key] = [c for c in said if not c.is_trivially_true()]
        return self._answered[key]

    def _conditions_of(self, node: Node, value: bool) -> list[Condition]:
        if node.op == "sym_not":
            return self._conditions_of(node.args[0], not value)
        if node.op in ("and", "or"):
            parts = node.args
            if (node.op == "and") == value:
                return [c for p in parts for c in self._conditions_of(p, value)]
            return self._conditions_of(next(p for p in parts if bool(p.hint) == value), value)
        if node.op not in _COMPARISONS:
            return []
        try:
            left, right = (self._build(a) for a in node.args)
            further = [c for a in node.args for c in self.steady(a)]
            sign = _COMPARISONS[node.op] if value else NEGATED[_COMPARISONS[node.op]]
            if any(self._off[a.index] & _ASIDE for a in node.args):
                sign = self._apart(node, left, right, sign)
            if left == right and sign in ("==", "<=", ">="):
                return further
            if sign == "==":
                left, right = self._without_common(left, right)
            for bottom in [s.fraction()[1] for s in (left, right) if s.is_const or not self._is_whole(s)]:
                left, right = left * bottom, right * bottom  # what is no whole number is compared as it is
            return [*further, Condition(left, sign, right)]
        except (Unexpressed, FormulaError):
            said = steady(node, self._expressed)
            # these very sizes: others beside them may be answered alike, and no single run tells
            for condition in (c for c in said if c.op == "=="):
                self._steady |= self._bit(condition)
            return said

    def _apart(self, node: Node, left: Expr, right: Expr, sign: str) -> str:
        """What is said of floats that may differ where the real numbers are equal: nothing of these."""
        if sign == "==" or self._hint((left - right).fraction()[0]) == 0:
            _refuse(node)
        return {"<=": "<", ">=": ">"}.get(sign, sign)

    def _is_whole(self, value: Expr) -> bool:
        """Whether divisions come out even in this run."""
        try:
            self._hint(value)
        except FormulaError:
            return False
        return True

    def _without_common(self, left: Expr, right: Expr) -> tuple[Expr, Expr]:
        """Both sides of an equation without the sizes, not 0 in this run, that every term of both has."""
        terms = [dict(monomial.powers) for side in (left, right) for monomial in side.terms]
        for name, hint in self.ledger.hints.items():
            size = Expr.symbol(name)
            [atom] = size.atoms()
            common = min((powers.get(atom, 0) for powers in terms), default=0)
            if common > 0 and hint > 0:
                factor = size**common
                left, right = left.exact_div(factor), right.exact_div(factor)
        return left, right


def _refuse(node: Node) -> Expr:
    raise Unexpressed(f"{node.op} of {', '.join(str(a) for a in node.args)}")


def _at_least_one(args: list[Expr]) -> Expr | None:
    """`x` of `max(1, x)`, as torch writes the strides of a tensor that may be empty; None for others."""
    one = Expr.const(1)
    pairs = zip(args, args[::-1], strict=True)
    return next((size for size, least in pairs if least == one and size.at_least(one)), None)


def _constant(value: object) -> Expr:
    if isinstance(value, bool):
        return Expr.const(int(value))
    if isinstance(value, int):
        return Expr.const(value)
    assert isinstance(value, float)
    ratio = ratio_of(value)
    if ratio is None:
        raise Unexpressed(f"the number {value!r} is not a ratio of small integers")
    return Expr.const(ratio.numerator).exact_div(Expr.const(ratio.denominator))


def _remainder(top: Expr, bottom: Expr) -> Expr:
    """What is 0 where a division is exact."""
    factor, _ = top.content()
    if bottom.is_const and factor and gcd(factor, bottom.const_value()) == 1:
        top = top.exact_div(Expr.const(abs(factor)))
    return top.mod(bottom)


def _is_monomial(value: Expr) -> bool:
    return len(value.terms) == 1
