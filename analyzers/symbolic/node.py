"""One value of a run: an operation on other values, and the number it had; torch computes with it."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

import sympy
from torch.fx.experimental.sym_node import METHOD_TO_OPERATOR, SymNode, method_to_operator

from forwardbook.analyzers.symbolic.layout import QUESTIONS, Layout

if TYPE_CHECKING:
    from forwardbook.analyzers.symbolic.ledger import Ledger

Number = bool | int | float


class Node(SymNode):
    """One value of the run: an operation on other values, its hint, and nothing of sympy."""

    def __init__(
        self,
        ledger: Ledger,
        op: str,
        args: tuple[Node, ...],
        hint: Number,
        kind: type,
        name: str,
        index: int,
        form: int,
    ) -> None:
        self.ledger, self.op, self.args, self.pytype = ledger, op, args, kind
        self.number, self.name, self.index, self.form = hint, name, index, form
        self.constant = hint if op == "constant" else None
        self.fx_node = None
        self._optimized_summation = False

    @property
    def shape_env(self) -> Ledger:  # type: ignore[override]
        return self.ledger

    @property
    def hint(self) -> Number:
        """The number, as torch and others ask for it."""
        if self.ledger.asked is not None:
            self.ledger.asked.number(self)
        return self.number

    _hint = hint

    @property
    def expr(self) -> sympy.Expr:
        """For torch code that asks for symbols: the number, or one symbol for the whole node."""
        return sympy.Integer(int(self.number)) if self.op == "constant" else sympy.Symbol(f"n{self.index}")

    _expr = expr

    def evaluate(self, size_oblivious: bool = False) -> Number:
        """The number, written down as needed."""
        if self.op != "constant":
            self.ledger.record(self)
        return self.number

    def _integer(self, *rest: object, **kw: object) -> int:
        return cast("int", self.evaluate())

    def _truth(self, *rest: object, **kw: object) -> bool:
        return bool(self.evaluate())

    guard_int = int_ = _integer
    guard_bool = guard_size_oblivious = guard_or_false = guard_or_true = expect_true = bool_ = _truth

    def guard_float(self, file: str, line: int) -> float:
        """The number, for an operation that scales by it: mostly values, and sizes where it resizes."""
        if self.ledger.asked is None and self.op != "constant":
            self.ledger.record(self, real=True)
        return float(self.hint)

    def expect_size(self, file: str, line: int) -> bool:
        return True

    def statically_known_true(self, file: str, line: int) -> bool:
        return bool(self.number) if self.op == "constant" else False

    def has_hint(self) -> bool:
        return True

    def require_hint(self, fallback: object = None) -> Number:
        return self.hint

    def maybe_as_int(self) -> int | None:
        return int(self.number) if self.op == "constant" else None

    def maybe_as_float(self) -> float | None:
        return float(self.number) if self.op == "constant" else None

    def maybe_as_bool(self) -> bool | None:
        return bool(self.number) if self.op == "constant" else None

    def is_int(self) -> bool:
        return self.pytype is int

    def is_float(self) -> bool:
        return self.pytype is float

    def is_bool(self) -> bool:
        return self.pytype is bool

    def is_nested_int(self) -> bool:
        return False

    def is_constant(self) -> bool:
        return False

    def is_symbolic(self) -> bool:
        return True

    def nested_int(self) -> None:
        return None

    def clone(self) -> Node:
        return self

    def wrap_int(self, num: int) -> Node:
        return self.ledger.constant(int(num), int)

    def wrap_float(self, num: float) -> Node:
        return self.ledger.constant(float(num), float)

    def wrap_bool(self, num: bool) -> Node:
        return self.ledger.constant(bool(num), bool)

    def __str__(self) -> str:
        return f"{self.name or self.op}<{self.number}>"

    __repr__ = _graph_repr = __str__

    def str(self) -> str:  # noqa: A003 - the name torch calls
        return self.__str__()

    def __deepcopy__(self, memo: object) -> Node:
        return self

    def sym_sum(self, args: list[SymNode]) -> SymNode:
        first, *rest = args
        for other in rest:
            first = first.add(other)
        return first


FUNCTIONS = ("sqrt", "exp", "log", "cos", "sin", "tanh", "log2", "log10")
"""The functions of `math` that keep a symbolic number one."""

_BOOLEAN = {"eq", "ne", "gt", "lt", "le", "ge", "and", "or", "sym_not", "is_integer"}
_FLOATING = {"int_truediv", "float_truediv", "sym_float", "float_pow"}
_INTEGER = {"ceil", "floor", "trunc", "round", "pow_by_natural"}
_LOGIC: dict[str, Callable[..., Number]] = {
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "sym_not": operator.not_,
    "sym_ite": lambda c, a, b: a if c else b,
    "sym_max": max,
    "sym_min": min,
    "sym_float": float,
    "float_floordiv": operator.floordiv,
    "bit_length": int.bit_length,
    "round_to": round,
    **{f"sym_{name}": getattr(math, name) for name in FUNCTIONS},
}


def _kind(method: str, args: tuple[Node, ...]) -> type:
    if method in _BOOLEAN:
        return bool
    if method in _FLOATING or (method.startswith("sym_") and hasattr(math, method[4:])):
        return float
    if method in _INTEGER:
        return int
    if method == "sym_ite":
        return args[1].pytype
    return float if any(a.pytype is float for a in args) else int


def _identity(method: str, args: tuple[Node, ...]) -> Node | None:
    """The operand that x*1, x+0, x-0, x//1 already is, or the constant of x*0 and x==x."""
    if len(args) != 2 or args[0].pytype is float or args[1].pytype is float:
        return None
    left, right = args
    ledger = left.ledger
    for one, other in ((left, right), (right, left)):
        if one.op == "constant" and other.pytype is int:
            if method == "mul" and one.number in (0, 1):
                return other if one.number else ledger.constant(0, int)
            if method == "add" and one.number == 0:
                return other
    if right.op == "constant" and left.pytype is int:
        if method == "sub" and right.number == 0:
            return left
        if method == "int_floordiv" and right.number == 1:
            return left
    if left is right and method in ("eq", "le", "ge", "ne", "lt", "gt"):
        return ledger.constant(method in ("eq", "le", "ge"), bool)
    return None


def calculated(name: str, numbers: Sequence[Number], kind: type) -> Number:
    """The number of an operation on numbers."""
    of_math = getattr(math, name.removeprefix("math_")) if name.startswith("math_") else None
    compute = _LOGIC.get(name) or of_math or method_to_operator(name)
    return cast("Number", kind(compute(*numbers)))


def computed(name: str, args: tuple[Node, ...], kind: type) -> Number:
    """The number of an operation on nodes."""
    return calculated(name, [a.number for a in args], kind)


def _method(name: str) -> Callable[..., Node]:
    compute = _LOGIC.get(name) or method_to_operator(name)

    def apply(self: Node, *others: Node | None) -> Node:
        known, key = self.ledger.applied, (name, self, *others)
        found = known.get(key)
        if found is None:
            found = known[key] = made((self, *(o for o in others if o is not None)))
        return found

    def made(args: tuple[Node, ...]) -> Node:
        kind = _kind(name, args)
        short = _identity(name, args)
        if short is not None:
            return short
        hint = kind(compute(*[a.number for a in args]))
        ledger = args[0].ledger
        if all(a.op == "constant" for a in args):
            return ledger.constant(hint, kind)
        return ledger.apply(name, args, hint, kind)

    apply.__name__ = name
    return apply


def _power(self: Node, exponent: Node) -> SymNode:
    whole = exponent.pytype is int and self.pytype is int and exponent.hint >= 0
    return (self.pow_by_natural if whole else self.float_pow)(exponent)


def _ask(question: str, answer: Layout) -> Callable[..., Node]:
    def ask(self: Node, sizes: list[Node], strides: list[Node]) -> Node:
        found = answer([int(s.number) for s in sizes], [int(s.number) for s in strides])
        if self.ledger.asked is not None:
            self.ledger.asked.layout(question, sizes, strides, found)
        return self.ledger.constant(found, bool)

    return ask


# Other names for the same: Python's `/` and `//` on integers, `and`, `or`, and rounding to an integer.
_ALIASES = {
    "floordiv": "int_floordiv",
    "truediv": "int_truediv",
    "sym_int": "trunc",
    "sym_and": "and_",
    "sym_or": "or_",
}


def _complete() -> None:
    """Gives `Node` every method by which torch's operators compute."""
    for name in METHOD_TO_OPERATOR:
        setattr(Node, name + "_" if name in ("and", "or") else name, _method(name))
    for alias, name in _ALIASES.items():
        setattr(Node, alias, getattr(Node, name))
    Node.pow = _power  # type: ignore[assignment,method-assign]
    for question, answer in QUESTIONS.items():
        setattr(Node, question, _ask(question, answer))


_complete()
