"""Completes sizes: those of some names and definitions in, those of all names that follow from them out."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from forwardbook.errors import FormulaError
from forwardbook.formula import Expr
from forwardbook.formula.atoms import symbol
from forwardbook.formula.bounds import linear_parts


class DefinitionError(FormulaError):
    """Sizes and definitions disagree; the message says which, in plain words."""


def completed(
    definitions: Mapping[str, Expr], sizes: Mapping[str, int], defaults: Mapping[str, int] | None = None
) -> dict[str, int]:
    """The sizes, and those that definitions give of them; `hidden_size` of `num_heads * head_dim` or back.

    A default is used for a name that has no size by then, one after another in their order.

    Raises:
        DefinitionError: a given size and a computed one differ, or a division leaves a remainder.
    """
    found = dict(sizes)
    _complete(definitions, found)
    for name, default in (defaults or {}).items():
        if name not in found:
            found[name] = default
            _complete(definitions, found)
    return found


def _complete(definitions: Mapping[str, Expr], sizes: dict[str, int]) -> None:
    """Adds to the sizes what follows from them; each round settles a definition or is the last."""
    waiting = dict(definitions)
    while settled := [name for name, value in waiting.items() if _settle(name, value, sizes)]:
        for name in settled:
            del waiting[name]


def _settle(name: str, value: Expr, sizes: dict[str, int]) -> bool:
    """Whether all names of a definition have a size now."""
    unknown = value.symbols() - sizes.keys()
    if not unknown:
        found = value.evaluate(sizes)
        if sizes.setdefault(name, found) != found:
            raise DefinitionError(f"{_said(name, value, sizes)} = {found}, not {sizes[name]}")
        return True
    if len(unknown) > 1 or name not in sizes:
        return False
    [missing] = unknown
    parts = solution_parts(value, missing)
    if parts is None:
        return False
    rest, factor = (part.evaluate(sizes) for part in parts)
    if not factor:
        return False
    found, remainder = divmod(sizes[name] - rest, factor)
    if remainder:
        less = f" - {plain(parts[0])}" if rest else ""
        left = f"{name}{less} = {sizes[name] - rest}"
        raise DefinitionError(
            f"{_said(name, value, {})}, but {left} is no multiple of {plain(parts[1])} = {factor}"
        )
    if found < 0:
        raise DefinitionError(f"{_said(name, value, sizes)}, so that {missing} would be {found}")
    sizes[missing] = found
    return True


@lru_cache(maxsize=1 << 12)
def solution_parts(value: Expr, name: str) -> tuple[Expr, Expr] | None:
    """The rest and the factor with `value = rest + factor * name`; None where it is not so simple."""
    parts = linear_parts(value, symbol(name))
    return None if parts is None or any(name in part.symbols() for part in parts) else parts


def plain(value: Expr) -> str:
    """A formula as people write it, without braces."""
    return value.text().replace("{", "").replace("}", "")


def _said(name: str, value: Expr, sizes: Mapping[str, int]) -> str:
    """A definition, with the numbers in it."""
    numbers = ", ".join(f"{one} = {sizes[one]}" for one in sorted(value.symbols()) if one in sizes)
    return f"{name} is {plain(value)}{f' ({numbers})' if numbers else ''}"
