"""Concolic integers: hands out torch symbolic sizes that carry a number and remember how it was computed.

Every node knows its hint (the number of this run), so torch and Python never wait for a solver: a comparison
is answered by the hint and written down as a guard. Expressions are built when someone asks (`expressions`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING

import torch

from forwardbook.analyzers.symbolic import node as node_file
from forwardbook.analyzers.symbolic.forms import FORMS
from forwardbook.analyzers.symbolic.node import Node, Number, computed
from forwardbook.analyzers.symbolic.questions import Questions

if TYPE_CHECKING:
    from forwardbook.analyzers.symbolic.pairing import Paired


@dataclass(frozen=True, slots=True)
class Guard:
    """A comparison that the run answered: `node` was `value`, while `owners` were being built."""

    node: Node
    value: bool
    owners: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Consumption:
    """A symbolic integer that Python or torch needed as a plain number, and the frame that asked.

    `real` says that `float()` asked: the number is mostly a factor of values, and seldom one of sizes.
    """

    node: Node
    owners: tuple[int, ...]
    file: str
    line: int
    real: bool = False


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


_OUR_FILES = (__file__, node_file.__file__, "torch/fx/experimental/sym_node.py", "torch/__init__.py")


def asking_frame(frame: FrameType | None) -> tuple[str, int]:
    """File and line of the code that needs a number, ours and torch's wrappers apart."""
    while frame is not None and frame.f_code.co_filename.endswith(_OUR_FILES):
        frame = frame.f_back
    return (frame.f_code.co_filename, frame.f_lineno) if frame is not None else ("", 0)


class Ledger:
    """One run's symbols, nodes, guards and consumed numbers; it answers what torch asks of a ShapeEnv."""

    prefer_deferred_runtime_asserts_over_guards = False

    def __init__(self) -> None:
        self._nodes: dict[tuple[object, ...], Node] = {}
        self._by_form: dict[int, Node] = {}
        self.applied: dict[tuple[object, ...], Node] = {}
        """What torch's operators gave, by their names and operands."""
        self._constants: dict[tuple[type, Number], Node] = {}
        self.hints: dict[str, int] = {}
        self.guards: list[Guard] = []
        self.consumed: list[Consumption] = []
        self.spelled: list[tuple[str, tuple[int, ...], int]] = []
        """Texts with a size: what is said of each, in whose constructors, after how much was consumed."""
        self.pairs: list[Paired] = []
        """Where analysed code went through several things at once, with what they were long."""
        self._seen: set[tuple[int, int, bool]] = set()
        self.asked: Questions | None = None
        """Where questions are noted instead of among the guards, while a shape function is listened to."""
        self.clock = 0
        """The module call that runs, by number."""
        self.noted: list[Guard | Consumption] | None = None
        self._next = 0
        self.running = False
        self.constructing: Callable[[FrameType | None], tuple[int, ...]] = constructing
        self.asking: Callable[[FrameType | None], tuple[str, int]] = asking_frame

    def symbol(self, name: str, hint: int) -> torch.SymInt:
        """The symbolic integer called `name`, the same each time (ValueError on another hint)."""
        if self.hints.setdefault(name, hint) != hint:
            raise ValueError(f"symbol {name} asked for with hint {hint}, known with {self.hints[name]}")
        return torch.SymInt(self._node("symbol", (), hint, int, name))

    def constant(self, value: Number, kind: type) -> Node:
        found = self._constants.get((kind, value))
        if found is None:
            found = self._constants[kind, value] = self._node("constant", (), kind(value), kind)
        return found

    def apply(self, op: str, args: tuple[Node, ...], hint: Number, kind: type) -> Node:
        return self._node(op, args, hint, kind)

    def _node(self, op: str, args: tuple[Node, ...], hint: Number, kind: type, name: str = "") -> Node:
        key = (op, name, kind, *((hint,) if op == "constant" else (a.index for a in args)))
        node = self._nodes.get(key)
        if node is None:
            self._next += 1
            value = hint if op == "constant" else None
            form = FORMS.number(op, name, kind, tuple([a.form for a in args]), value)
            node = self._nodes[key] = Node(self, op, args, hint, kind, name, self._next, form)
            self._by_form[form] = node
        return node

    def of_form(self, form: int) -> Node | None:
        """The node computed so, made where it is missing; None where this run cannot compute it."""
        node = self._by_form.get(form)
        if node is not None:
            return node
        parts = FORMS.get(form)
        if parts is None or parts.op == "symbol":
            return None
        if parts.value is not None:
            return self.constant(parts.value, parts.kind)
        args = tuple([a for a in map(self.of_form, parts.args) if a is not None])
        if len(args) != len(parts.args):
            return None
        try:
            return self.apply(parts.op, args, computed(parts.op, args, parts.kind), parts.kind)
        except (ArithmeticError, ValueError, TypeError):
            return None

    def record(self, node: Node, *, real: bool = False) -> None:
        """Writes down that the run needed the number behind `node`."""
        if self.asked is not None:
            self.asked.truth(node)
            return
        owners = () if self.running else self.constructing(sys._getframe(2))
        if self.noted is None and self._key(node, owners, real) in self._seen:
            return
        said: Guard | Consumption
        if node.pytype is bool:
            said = Guard(node, bool(node.number), owners)
        else:
            said = Consumption(node, owners, *self.asking(sys._getframe(2)), real)
        if self.noted is not None:
            self.noted.append(said)
        self.repeat([said])

    def spell(self, text: str, frame: FrameType) -> None:
        """Writes down that `frame` goes on with a text that has a size in it; `text` says so."""
        owners = () if self.running else self.constructing(frame)
        self.spelled.append((text, owners, len(self.consumed)))

    def repeat(self, noted: Iterable[Guard | Consumption]) -> None:
        """Writes down, for the call that runs now, what it needs of an operation that ran, here or before."""
        for said in noted:
            key = self._key(said.node, said.owners, isinstance(said, Consumption) and said.real)
            if key in self._seen:
                continue
            self._seen.add(key)
            if isinstance(said, Guard):
                self.guards.append(said)
            else:
                self.consumed.append(said)

    def _key(self, node: Node, owners: tuple[int, ...], real: bool) -> tuple[int, int, bool]:
        """Each call writes down what it needs, and that once."""
        return node.index, self.clock if not owners else hash(owners), real

    @contextmanager
    def noting(self) -> Iterator[list[Guard | Consumption]]:
        """Inside, what is needed is written down and given as well, though it was written down before."""
        before, self.noted = self.noted, []
        try:
            yield self.noted
        finally:
            self.noted = before

    def answer(self, questions: Questions) -> None:
        """Writes down the comparisons of a shape function that was listened to, in this run or another."""
        for node in questions.comparisons(self):
            self.record(node)

    @contextmanager
    def listening(self) -> Iterator[Questions]:
        """Inside, what is asked is noted in what is given, and nowhere else."""
        before, self.asked = self.asked, Questions()
        try:
            yield self.asked
        finally:
            self.asked = before

    def __deepcopy__(self, memo: object) -> Ledger:
        return self

    # What torch's Python code asks of `node.shape_env`.
    def evaluate_sym_node(
        self, node: Node, size_oblivious: bool = False, fallback_value: object = None
    ) -> Number:
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


def number_of(value: float | torch.SymInt | torch.SymFloat) -> int:
    """The integer behind a size; that of a number is the number."""
    return int(value.node.hint if isinstance(value, torch.SymInt | torch.SymFloat) else value)


def hint_of(value: object) -> object:
    """The number behind a symbolic value; any other value itself."""
    return value.node.hint if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool) else value
