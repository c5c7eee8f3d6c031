"""Rows of a class and what a person gives its constructor in; out the rows of modules that are built so."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from forwardbook.analyzers.instances.choices import parameters_of
from forwardbook.analyzers.instances.notation import Row
from forwardbook.analyzers.instances.recipe import NoRecipe
from forwardbook.formula import Condition

if TYPE_CHECKING:
    from torch import nn

_OF_INPUTS: Final = {"batch_first"}
"""Arguments that say which side of an input is which: only rows that have them state their inputs so."""


def built_with(
    rows: Sequence[Row], class_name: str, cls: type[nn.Module], given: Mapping[str, str]
) -> tuple[Row, ...]:
    """The rows near the sizes given, their modules built with all else that is given.

    A whole number is a size where a row has one of that name, or one for each dimension.

    Raises:
        NoRecipe: for a name that is neither a size nor an argument, or arguments that no row can have.
    """
    sizes = {name for row in rows for name in row.names()}
    hints: dict[str, int] = {}
    literals: dict[str, object] = {}
    for name, text in given.items():
        value = _read(text)
        each = sorted(size for size in sizes if re.fullmatch(rf"{re.escape(name)}(_\d+)?", size))
        if each and type(value) is int:
            hints |= dict.fromkeys(each, value)
        elif name in parameters_of(cls, "__init__"):
            literals[name] = value
        else:
            known = ", ".join(sorted(sizes))
            others = ", ".join(sorted(parameters_of(cls, "__init__").keys() - sizes))
            said = f"its sizes are {known}, not {name}={text}"
            raise NoRecipe(f"torch.nn.{class_name}", f"{said}; its other arguments are {others or 'none'}")
    found = [_built(row, cls, literals) for row in rows if hints.keys() <= row.names()]
    alone = {row.text: row for row in reversed(found) if row is not None}
    fitting = [replace(row, hints={**row.hints, **hints}) for row in reversed(alone.values())]
    if not fitting:
        said = ", ".join(f"{name}={text}" for name, text in given.items())
        raise NoRecipe(
            f"torch.nn.{class_name}", f"none of its calls has all of {said}; write a module that does"
        )
    return tuple(fitting)


def _read(text: str) -> object:
    """The value as Python reads it, any other word as a text."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _built(row: Row, cls: type[nn.Module], literals: Mapping[str, object]) -> Row | None:
    """The row with these arguments of its constructor; None where it is of a module that has others."""
    if not literals:
        return row
    call = ast.parse(row.text, mode="eval").body
    assert isinstance(call, ast.Call) and isinstance(call.func, ast.Call)
    build = call.func
    places = {name: i for i, name in enumerate(parameters_of(cls, "__init__")) if i < len(build.args)}
    words = {word.arg: word for word in build.keywords}
    for name, value in literals.items():
        node = ast.parse(repr(value), mode="eval").body
        stated = build.args[places[name]] if name in places else words[name].value if name in words else None
        if stated is None and name in _OF_INPUTS and value != parameters_of(cls, "__init__")[name].default:
            return None
        if stated is not None and _is_plain(stated) and ast.dump(stated) != ast.dump(node):
            return None
        if name in places:
            build.args[places[name]] = node
        elif name in words:
            words[name].value = node
        else:
            build.keywords.append(ast.keyword(name, node))
    built = replace(row, text=ast.unparse(call))
    where = tuple(text for text in row.where if Condition.parse(text).symbols() <= built.names())
    said = ", ".join(f"{name}={value}" for name, value in literals.items())
    scenario = said if row.scenario == "default" else f"{row.scenario}, {said}"
    return replace(built, where=where, scenario=scenario)


def _is_plain(node: ast.expr) -> bool:
    """Whether a row has it as it is, not as a size."""
    return not any(isinstance(part, ast.Name) for part in ast.walk(node))
