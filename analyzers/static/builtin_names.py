"""The builtin names that source may use, the dangerous ones replaced or left opaque."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

from forwardbook.analyzers.static.access import (
    builtin_getattr,
    builtin_hasattr,
    check_name,
    delete_attribute,
    own,
    set_attribute,
)
from forwardbook.analyzers.static.opaque import NoOp, Opaque
from forwardbook.analyzers.static.unresolved import Unresolved

if TYPE_CHECKING:
    from forwardbook.analyzers.static.interpreter import Interpreter

_PLAIN = [
    "abs",
    "all",
    "any",
    "ascii",
    "bin",
    "bool",
    "bytearray",
    "bytes",
    "callable",
    "chr",
    "classmethod",
    "complex",
    "dict",
    "dir",
    "divmod",
    "enumerate",
    "filter",
    "float",
    "format",
    "frozenset",
    "hash",
    "hex",
    "id",
    "int",
    "isinstance",
    "issubclass",
    "iter",
    "len",
    "list",
    "map",
    "max",
    "min",
    "next",
    "object",
    "oct",
    "ord",
    "pow",
    "property",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "slice",
    "sorted",
    "staticmethod",
    "str",
    "sum",
    "super",
    "tuple",
    "type",
    "zip",
    "NotImplemented",
    "Ellipsis",
    "True",
    "False",
    "None",
    "__debug__",
]
_REFUSED = [
    "open",
    "exec",
    "eval",
    "compile",
    "__import__",
    "input",
    "breakpoint",
    "globals",
    "locals",
    "memoryview",
    "exit",
    "quit",
    "help",
]


def safe_builtins(run: Interpreter) -> dict[str, Any]:
    """Every builtin name and its value."""
    names: dict[str, Any] = {name: getattr(builtins, name) for name in _PLAIN}
    for name in dir(builtins):
        value = getattr(builtins, name)
        if isinstance(value, type) and issubclass(value, BaseException):
            names[name] = value
    names |= {name: Opaque(name, "it reaches outside the interpretation") for name in _REFUSED}
    names |= {
        "getattr": builtin_getattr,
        "hasattr": builtin_hasattr,
        "setattr": set_attribute,
        "delattr": delete_attribute,
        "print": NoOp("print"),
        "vars": attributes,
    }
    return names


def attributes(owner: Any) -> dict[str, Any]:
    """`vars(x)` of an instance whose class is interpreted."""
    check_name(owner, "__dict__")
    if not own(owner):
        raise Unresolved(f"vars() of a {type(owner).__qualname__}")
    return owner.__dict__  # type: ignore[no-any-return]
