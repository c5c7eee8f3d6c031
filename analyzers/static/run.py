"""A class path and arguments in, an interpreted module out; nothing of the class is imported."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import libcst as cst

from forwardbook.analyzers.reader.reader import find_class
from forwardbook.analyzers.reader.sources import Sources
from forwardbook.analyzers.static import (  # noqa: F401  each registers its handlers
    assignments,
    calls,
    classes,
    comprehensions,
    expressions,
    operators,
    patterns,
    statements,
)
from forwardbook.analyzers.static.frames import STACK, Frame, current_frames
from forwardbook.analyzers.static.interpreter import Interpreter
from forwardbook.analyzers.static.unresolved import Unresolved
from forwardbook.errors import ForwardbookError, own_type

Result = TypeVar("Result")
_RECURSION = (
    12_000  # an interpreted call takes some 30 of Python's own; the interpreter's depth limit ends first
)


@dataclass(frozen=True)
class ClassSource:
    """Which class: its dotted path, or its name in a file."""

    name: str
    file: Path | None = None


@dataclass
class InterpretedModule:
    """A module whose class is source text; its call interprets forward()."""

    interpreter: Interpreter
    full_class_name: str
    value: Any

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Interpret `module(*args, **kwargs)`."""
        return guarded(f"running forward() of {self.full_class_name}", lambda: self.value(*args, **kwargs))


@dataclass
class InterpretedRun:
    """One construction and one call."""

    module: InterpretedModule
    output: Any


def guarded(doing: str, action: Callable[[], Result]) -> Result:
    """Run an interpretation; whatever the source raises becomes an Unresolved that says where."""
    depth, limit = len(STACK), sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION))
    try:
        return action()
    except ForwardbookError:
        raise
    except RecursionError as error:
        raise Unresolved(f"{doing}: calls nest too deeply", *place(error)) from error
    except Exception as error:
        reason = f"{doing}: the source raised {own_type(error)}"
        raise Unresolved(reason, *place(error)) from error
    finally:
        del STACK[depth:]
        sys.setrecursionlimit(limit)


def place(error: BaseException) -> tuple[str, int]:
    """Where in the source an error arose."""
    return getattr(error, "interpreted_at", ("", 0))


def interpreted_class(source: ClassSource, interpreter: Interpreter) -> tuple[Any, str]:
    """The class as a value, from its source even where the installed one is trusted, and its full name."""
    found = find_class(source.name, source.file, interpreter.sources)
    assert isinstance(found.node, cst.ClassDef)
    name = found.source.module
    module = interpreter.imports.loaded.get(name)
    if module is None or not hasattr(module, "source"):
        interpreter.imports.loaded.pop(name, None)
        module = interpreter.imports.module(name, interpret=True)
    value = guarded(f"reading {found.full_name}", lambda: module.attribute(found.qualname.partition(".")[0]))
    for part in found.qualname.split(".")[1:]:
        value = getattr(value, part)
    if name.startswith("torch."):
        interpreter.imports.loaded.pop(name)  # its other classes stay native for code that imports them
    return value, found.full_name


def construct(
    source: ClassSource | str,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    interpreter: Interpreter | None = None,
) -> InterpretedModule:
    """Interpret the constructor of a class."""
    source = ClassSource(source) if isinstance(source, str) else source
    interpreter = interpreter or Interpreter(Sources())
    kind, name = interpreted_class(source, interpreter)
    value = guarded(f"constructing {name}", lambda: interpreter.call(kind, tuple(args), dict(kwargs or {})))
    return InterpretedModule(interpreter, name, value)


def construct_config(
    source: ClassSource | str,
    overrides: Mapping[str, Any] | None = None,
    interpreter: Interpreter | None = None,
) -> Any:
    """Interpret a configuration class with these fields."""
    return construct(source, (), overrides, interpreter).value


def interpret(
    source: ClassSource | str,
    constructor_args: Sequence[Any],
    constructor_kwargs: Mapping[str, Any],
    forward_args: Sequence[Any],
    forward_kwargs: Mapping[str, Any],
    recorder: AbstractContextManager[Any] | None = None,
    interpreter: Interpreter | None = None,
) -> InterpretedRun:
    """Construct in evaluation mode, then call under a recorder."""
    module = construct(source, constructor_args, constructor_kwargs, interpreter)
    module.value.eval()
    with recorder or nullcontext():
        output = module.call(*forward_args, **forward_kwargs)
    return InterpretedRun(module, output)


__all__ = [
    "ClassSource", "Frame", "InterpretedModule", "InterpretedRun", "construct", "construct_config",
    "current_frames",
    "interpret", "interpreted_class",
]  # fmt: skip
