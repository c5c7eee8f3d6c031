"""Concolic integers: a `Ledger` hands out torch symbolic sizes that carry a number and remember how it was computed.

Every node knows its hint (the number of this run), so torch and Python never wait for a solver: a comparison is
answered by the hint and written down as a guard. Expressions are built only when someone asks (`expressions`).
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import FrameType

import sympy
import torch
from torch.fx.experimental.sym_node import METHOD_TO_OPERATOR, SymNode, method_to_operator

Number = bool | int | float


@dataclass(frozen=True, slots=True)
class Guard:
    """A comparison that the run answered: `node` was `value`, at `clock`, while `owners` were being built."""

    node: Node
    value: bool
    clock: int
    owners: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Consumption:
    """A symbolic integer that Python or torch needed as a plain number, and the frame that asked."""

    node: Node
    clock: int
    owners: tuple[int, ...]
    file: str
    line: int


def constructing(frame: FrameType | None, limit: int = 60) -> tuple[int, ...]:
    """Identities of the modules whose `__init__` is on the stack, innermost first."""
    found: list[int] = []
    while frame is not None and limit:
        if frame.f_code.co_name == "__init__":
            owner = frame.f_locals.get("self")
            if isinstance(owner, torch.nn.Module):
                found.append(id(owner))
        frame = frame.f_back
        limit -= 1
    return tuple(found)


_OUR_FILES = (__file__, "torch/fx/experimental/sym_node.py", "torch/__init__.py")


def asking_frame(frame: FrameType | None) -> tuple[str, int]:
    """File and line of the code that needs a number, ours and torch's wrappers apart."""
    while frame is not None and frame.f_code.co_filename.endswith(_OUR_FILES):
        frame = frame.f_back
    return (frame.f_code.co_filename, frame.f_lineno) if frame is not None else ("", 0)


class Ledger:
    """One run's symbols, nodes, guards and consumed numbers. It also answers what torch asks of a ShapeEnv."""

    prefer_deferred_runtime_asserts_over_guards = False

    def __init__(self) -> None:
        self._nodes: dict[tuple[object, ...], Node] = {}
        self.hints: dict[str, int] = {}
        self.guards: list[Guard] = []
        self.consumed: list[Consumption] = []
        self._seen: set[tuple[int, int]] = set()
        self.clock = 0
        self._next = 0
        self.running = False
        self.constructing: Callable[[FrameType | None], tuple[int, ...]] = constructing
        self.asking: Callable[[FrameType | None], tuple[str, int]] = asking_frame

    def symbol(self, name: str, hint: int) -> torch.SymInt:
        """The symbolic integer called `name`; the same name is the same symbol (ValueError on another hint)."""
        if self.hints.setdefault(name, hint) != hint:
            raise ValueError(f"symbol {name} asked for with hint {hint}, known with {self.hints[name]}")
        return torch.SymInt(self._node("symbol", (), hint, int, name))

    def constant(self, value: Number, kind: type) -> Node:
        return self._node("constant", (), kind(value), kind)

    def apply(self, op: str, args: tuple[Node, ...], hint: Number, kind: type) -> Node:
        return self._node(op, args, hint, kind)

    def _node(self, op: str, args: tuple[Node, ...], hint: Number, kind: type, name: str = "") -> Node:
        key = (op, name, kind, *((hint,) if op == "constant" else (a.index for a in args)))
        node = self._nodes.get(key)
        if node is None:
            self._next += 1
            node = self._nodes[key] = Node(self, op, args, hint, kind, name, self._next)
        return node

    def record(self, node: Node) -> None:
        """Writes down that the run needed the number behind `node`."""
        owners = () if self.running else self.constructing(sys._getframe(2))
        key = (node.index, self.clock if not owners else hash(owners))
        if key in self._seen:
            return
        self._seen.add(key)
        if node.pytype is bool:
            self.guards.append(Guard(node, bool(node.hint), self.clock, owners))
        else:
            file, line = self.asking(sys._getframe(2))
            self.consumed.append(Consumption(node, self.clock, owners, file, line))

    def __deepcopy__(self, memo: object) -> Ledger:
        return self

    # What torch's Python code asks of `node.shape_env`.
    def evaluate_sym_node(self, node: Node, size_oblivious: bool = False, fallback_value: object = None) -> Number:
        return node.evaluate()

    def evaluate_expr(self, expr: object, hint: object = None, *rest: object, **kw: object) -> object:
        return hint if hint is not None else expr

    def _maybe_evaluate_static(self, expr: object, *rest: object, **kw: object) -> object:
        return expr if isinstance(expr, bool | int) else None

    def replace(self, expr: object) -> object:
        return expr

    def simplify(self, expr: object, **kw: object) -> object:
        return expr

    def guard_or_defer_runtime_assert(self, *rest: object, **kw: object) -> bool:
        return True

    def has_hint(self, *rest: object) -> bool:
        return True

    def _suppress_guards_enter(self) -> None: ...

    def _suppress_guards_exit(self) -> None: ...


class Node(SymNode):
    """One value of the run: an operation on other values, its hint, and nothing of sympy."""

    def __init__(
        self, ledger: Ledger, op: str, args: tuple[Node, ...], hint: Number, kind: type, name: str, index: int
    ) -> None:
        self.ledger, self.op, self.args, self.pytype = ledger, op, args, kind
        self._hint, self.name, self.index = hint, name, index
        self.constant = hint if op == "constant" else None
        self.fx_node = None
        self._optimized_summation = False

    @property
    def shape_env(self) -> Ledger:  # type: ignore[override]
        return self.ledger

    @property
    def hint(self) -> Number:
        return self._hint

    @property
    def expr(self) -> sympy.Expr:
        """A stand-in for torch code that asks for symbols: the number, or one symbol for the whole node."""
        return sympy.Integer(int(self._hint)) if self.op == "constant" else sympy.Symbol(f"n{self.index}")

    _expr = expr

    def evaluate(self, size_oblivious: bool = False) -> Number:
        """The number, written down as needed."""
        if self.op != "constant":
            self.ledger.record(self)
        return self._hint

    def _number(self, *rest: object, **kw: object) -> Number:
        return self.evaluate()

    def _truth(self, *rest: object, **kw: object) -> bool:
        return bool(self.evaluate())

    guard_int = int_ = _number
    guard_bool = guard_size_oblivious = guard_or_false = guard_or_true = expect_true = bool_ = _truth

    def guard_float(self, file: str, line: int) -> float:
        return float(self._hint)

    def expect_size(self, file: str, line: int) -> bool:
        return True

    def statically_known_true(self, file: str, line: int) -> bool:
        return bool(self._hint) if self.op == "constant" else False

    def has_hint(self) -> bool:
        return True

    def require_hint(self, fallback: object = None) -> Number:
        return self._hint

    def maybe_as_int(self) -> int | None:
        return int(self._hint) if self.op == "constant" else None

    def maybe_as_float(self) -> float | None:
        return float(self._hint) if self.op == "constant" else None

    def maybe_as_bool(self) -> bool | None:
        return bool(self._hint) if self.op == "constant" else None

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
        return f"{self.name or self.op}<{self._hint}>"

    __repr__ = _graph_repr = __str__

    def str(self) -> str:  # noqa: A003 - the name torch calls
        return self.__str__()

    def __deepcopy__(self, memo: object) -> Node:
        return self

    def sym_sum(self, args: Iterable[Node]) -> Node:
        first, *rest = args
        for other in rest:
            first = first.add(other)  # type: ignore[attr-defined]
        return first


_BOOLEAN = {"eq", "ne", "gt", "lt", "le", "ge", "and", "or", "sym_not", "is_integer"}
_FLOATING = {"int_truediv", "float_truediv", "sym_float", "float_pow"}
_INTEGER = {"ceil", "floor", "trunc", "pow_by_natural"}
_LOGIC: dict[str, Callable[..., Number]] = {
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "sym_not": operator.not_,
    "sym_ite": lambda c, a, b: a if c else b,
    "sym_max": max,
    "sym_min": min,
    "sym_float": float,
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
            if method == "mul" and one.hint in (0, 1):
                return other if one.hint else ledger.constant(0, int)
            if method == "add" and one.hint == 0:
                return other
    if right.op == "constant" and left.pytype is int:
        if method == "sub" and right.hint == 0:
            return left
        if method == "int_floordiv" and right.hint == 1:
            return left
    if left is right and method in ("eq", "le", "ge", "ne", "lt", "gt"):
        return ledger.constant(method in ("eq", "le", "ge"), bool)
    return None


def _method(name: str) -> Callable[..., Node]:
    compute = _LOGIC.get(name) or method_to_operator(name)

    def apply(self: Node, *others: Node | None) -> Node:
        args = (self, *(o for o in others if o is not None))
        kind = _kind(name, args)
        short = _identity(name, args)
        if short is not None:
            return short
        hint = kind(compute(*(a.hint for a in args)))
        if all(a.op == "constant" for a in args):
            return self.ledger.constant(hint, kind)
        return self.ledger.apply(name, args, hint, kind)

    apply.__name__ = name
    return apply


for _name in METHOD_TO_OPERATOR:
    setattr(Node, _name + "_" if _name in ("and", "or") else _name, _method(_name))
Node.floordiv = Node.int_floordiv  # type: ignore[attr-defined]
Node.truediv = Node.int_truediv  # type: ignore[attr-defined]
Node.sym_int = Node.trunc  # type: ignore[attr-defined]
Node.sym_and, Node.sym_or = Node.and_, Node.or_  # type: ignore[attr-defined]


def _power(self: Node, exponent: Node) -> Node:
    whole = exponent.pytype is int and self.pytype is int and exponent.hint >= 0
    return (self.pow_by_natural if whole else self.float_pow)(exponent)  # type: ignore[attr-defined,no-any-return]


Node.pow = _power  # type: ignore[attr-defined]


def _layout(answer: Callable[[list[int], list[int]], bool]) -> Callable[..., Node]:
    def ask(self: Node, sizes: list[Node], strides: list[Node]) -> Node:
        return self.ledger.constant(answer([int(s.hint) for s in sizes], [int(s.hint) for s in strides]), bool)

    return ask


def _contiguous(sizes: list[int], strides: list[int]) -> bool:
    expected = 1
    for size, stride in zip(reversed(sizes), reversed(strides), strict=True):
        if size == 1:
            continue
        if stride != expected:
            return False
        expected *= size
    return True


def _dense(sizes: list[int], strides: list[int]) -> bool:
    order = sorted(range(len(sizes)), key=lambda i: -strides[i])
    return _contiguous([sizes[i] for i in order], [strides[i] for i in order])


def _channels_last(order: tuple[int, ...]) -> Callable[[list[int], list[int]], bool]:
    def answer(sizes: list[int], strides: list[int]) -> bool:
        return len(sizes) == len(order) and _contiguous([sizes[i] for i in order], [strides[i] for i in order])

    return answer


Node.is_contiguous = _layout(_contiguous)  # type: ignore[method-assign]
Node.is_non_overlapping_and_dense = _layout(_dense)  # type: ignore[attr-defined]
Node.is_non_overlapping_and_dense_indicator = _layout(_dense)  # type: ignore[method-assign]
for _dims, _order in (("2d", (0, 2, 3, 1)), ("3d", (0, 2, 3, 4, 1))):
    setattr(Node, f"is_channels_last_contiguous_{_dims}", _layout(_channels_last(_order)))
    setattr(Node, f"is_channels_last_strides_{_dims}", _layout(_channels_last(_order)))


def hint_of(value: object) -> object:
    """The number behind a symbolic value; any other value itself."""
    return value.node.hint if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool) else value
