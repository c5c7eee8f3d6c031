"""The nouns of control flow: what a function does, as a tree of calls, loops, branches and returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class CallStep:
    """One call; `line` and `column` are those of the index's `Call`, `result` the name its value is bound to.

    `starts` names the function handed to a pool, thread, process or task, where the call starts one.
    """

    line: int
    column: int
    target: str
    arguments: tuple[str, ...] = ()
    result: str = ""
    awaited: bool = False
    starts: str = ""


@dataclass(frozen=True, slots=True)
class LoopStep:
    """A loop: `header` is its first line without the colon (`for x in xs`), `body` what is repeated."""

    line: int
    header: str
    body: tuple[Step, ...]
    is_comprehension: bool = False
    is_async: bool = False


@dataclass(frozen=True, slots=True)
class Arm:
    """One way through a branch: the condition as written (`else` for the last), and what is done there."""

    line: int
    condition: str
    body: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class BranchStep:
    """`if`/`elif`/`else`, `match`, a conditional expression or a short circuit; one arm reads as `opt`."""

    line: int
    arms: tuple[Arm, ...]
    kind: Literal["if", "match", "expression"] = "if"


@dataclass(frozen=True, slots=True)
class ParallelStep:
    """What runs at the same time: `asyncio.gather(a(), b())` and the like, one arm each."""

    line: int
    header: str
    arms: tuple[Arm, ...]


@dataclass(frozen=True, slots=True)
class TryStep:
    """`try`: the body, the handlers (their conditions are the exceptions), `else` and `finally`."""

    line: int
    body: tuple[Step, ...]
    handlers: tuple[Arm, ...] = ()
    otherwise: tuple[Step, ...] = ()
    finally_: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class WithStep:
    """`with items:`; `setup` are the calls that make the managers."""

    line: int
    items: tuple[str, ...]
    setup: tuple[Step, ...]
    body: tuple[Step, ...]
    is_async: bool = False


@dataclass(frozen=True, slots=True)
class EndStep:
    """A statement that leaves (`return`, `yield`, `raise`, `break`, `continue`) and its value as written."""

    line: int
    kind: Literal["return", "yield", "raise", "break", "continue"]
    value: str = ""


Step = CallStep | LoopStep | BranchStep | ParallelStep | TryStep | WithStep | EndStep
