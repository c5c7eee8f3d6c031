"""A definition's signature in, Python source that calls it with plain values out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from forwardbook.analyzers.index.facts import Definition, FileFacts, Parameter

_VALUES: Final = (
    (re.compile(r"^(builtins\.)?str$"), '"{name}"'),
    (re.compile(r"^(builtins\.)?int$"), "1"),
    (re.compile(r"^(builtins\.)?float$"), "1.0"),
    (re.compile(r"^(builtins\.)?bool$"), "True"),
    (re.compile(r"^(builtins\.)?bytes$"), 'b"{name}"'),
    (re.compile(r"^(typing\.)?(list|List|Sequence|Iterable|Collection)\b(?!.*\|)"), "[]"),
    (re.compile(r"^(typing\.)?(tuple|Tuple)\[\(?\)?\]?$"), "()"),
    (re.compile(r"^(typing\.)?(dict|Dict|Mapping|MutableMapping)\b(?!.*\|)"), "{{}}"),
    (re.compile(r"^(typing\.)?(set|Set)\b(?!.*\|)"), "set()"),
    (re.compile(r"\|\s*None$|^None\b|Optional\["), "None"),
    (re.compile(r"^(pathlib\.)?Path$"), 'Path("{name}")'),
)


def made_code(definition: Definition, facts: FileFacts, init: Sequence[Parameter] = ()) -> str:
    """The source of a call, imports first; `init` are the parameters of the class behind it.

    Empty for what cannot be called by a dotted name from outside: functions in functions, special methods.
    """
    root = definition.qualname.partition(".")[0]
    name = definition.name
    owner = next((each for each in facts.definitions if each.qualname == definition.parent), None)
    if "." in definition.parent or (owner is not None and owner.kind != "class"):
        return ""
    if name.startswith("__") and name.endswith("__") and name != "__init__":
        return ""
    lines = [f"from {facts.module} import {root}"] if facts.module.replace(".", "").isidentifier() else []
    lines += ["from pathlib import Path"] if _needs_path([*definition.parameters, *init]) else []
    lines += [""] if lines else []
    if definition.kind == "class" or name == "__init__":
        return "\n".join([*lines, f"{_variable(root)} = {root}({_arguments(_own(init))})"])
    awaited = "await " if definition.is_async and not definition.is_generator else ""
    if owner is None:
        call = f"{name}({_arguments(definition.parameters)})"
        return "\n".join([*lines, *_used(definition, call, awaited)])
    marks = {mark.rpartition(".")[2] for mark in definition.decorators}
    if "staticmethod" in marks or "classmethod" in marks:
        given = definition.parameters if "staticmethod" in marks else _own(definition.parameters)
        return "\n".join([*lines, *_used(definition, f"{root}.{name}({_arguments(given)})", awaited)])
    lines.append(f"{_variable(root)} = {root}({_arguments(_own(init))})")
    if definition.kind == "property":
        return "\n".join([*lines, f"value = {_variable(root)}.{name}"])
    call = f"{_variable(root)}.{name}({_arguments(_own(definition.parameters))})"
    return "\n".join([*lines, *_used(definition, call, awaited)])


def _used(definition: Definition, call: str, awaited: str) -> list[str]:
    """The statement that makes the call and takes what comes back."""
    if any(mark.rpartition(".")[2] == "contextmanager" for mark in definition.decorators):
        return [f"with {call} as value:", "    ..."]
    if any(mark.rpartition(".")[2] == "asynccontextmanager" for mark in definition.decorators):
        return ["async def main():", f"    async with {call} as value:", "        ..."]
    if definition.is_async:
        if definition.is_generator:
            return ["async def main():", f"    async for value in {call}:", "        ..."]
        return ["async def main():", f"    result = {awaited}{call}"]
    if definition.is_generator:
        return [f"for value in {call}:", "    ..."]
    return [call if definition.returns == "None" else f"result = {call}"]


def _own(parameters: Sequence[Parameter]) -> Sequence[Parameter]:
    """The parameters without the object itself."""
    return parameters[1:] if parameters and parameters[0].kind in ("", "/") else parameters


def _arguments(parameters: Sequence[Parameter]) -> str:
    required = [each for each in parameters if not each.default and each.kind not in ("*", "**")]
    return ", ".join(_value(each) if each.kind == "/" else f"{each.name}={_value(each)}" for each in required)


def _value(parameter: Parameter) -> str:
    """A value by the annotation, and `...` where it says no more than a reader can tell."""
    annotation = parameter.annotation.strip("\"'")
    for pattern, value in _VALUES:
        if pattern.search(annotation):
            return value.format(name=parameter.name)
    return "..."


def _needs_path(parameters: Sequence[Parameter]) -> bool:
    wanted = [each for each in parameters if not each.default and each.kind not in ("*", "**")]
    return any(_value(each).startswith("Path(") for each in wanted)


def _variable(name: str) -> str:
    """A class's name as a variable: `GraphCollection` gives `graph_collection`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name.strip("_")).lower()
    return words if words.isidentifier() and words != name else f"{words or 'an'}_object"
