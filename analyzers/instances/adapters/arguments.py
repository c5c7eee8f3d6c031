"""A class in; out values for its constructor: its own defaults, else what name and type hint suggest."""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, cast

from forwardbook.analyzers.instances.recipe import NoRecipe, Sizes

if TYPE_CHECKING:
    from torch import nn

# Sizes by the name of the argument, likeliest pattern first; widths are one number, so that parts fit.
WIDTH = 48
SIZES: tuple[tuple[str, int], ...] = (
    (r".*(layers|depth|blocks|n_layer|repeats|num_stages)", 2),
    (r".*(heads|nhead|n_head|num_head)", 4),
    (r".*(dim_head|head_dim|head_size|d_head)", 12),
    (r".*(kernel|window)(_size)?", 3),
    (r".*stride.*", 1),
    (r".*padding.*", 1),
    (r".*dilation.*", 1),
    (r".*groups", 4),
    (r"(in_)?(chans|image_channels|input_channels)", 3),
    (r".*(image|img|input|sample)_?(size|resolution)", 64),
    (r".*patch(_size|_dim)?", 8),
    (r".*(num_)?(classes|labels|tokens_out)|num_class|n_classes", 10),
    (r".*(vocab(_size)?|num_tokens|num_embeddings|n_vocab)", 97),
    (r".*(seq|context|max)_?(len|length|positions|size)|.*(length|positions|timesteps)", 64),
    (r".*(experts)", 8),
    (r".*(top_?k)", 2),
    (r".*(num|n)_(frames)", 4),
    (r"(ndim|spatial_dims|dims|num_dims|n_dims|dimensions|dimension)", 2),
    (r".*(scale|factor|ratio|mult|rate|reduction)", 2),
    (r".*(num|n)_.*", 4),
)
_SIZED = re.compile(
    r".*(dim|channel|feature|width|height|hidden|embed|size|planes|units|d_model|d_in|d_out|inner|num|n_|length"
    r"|len|ch|nf|dims|^c[12]?$|^d$|^n$|in_ch|out_ch).*"
)
_FRACTIONS = re.compile(
    r"(.*_)?(p|drop.*|rate|prob|eps|alpha|beta|gamma|momentum|scale|sigma|temperature|slope)$"
)
_NORMS = re.compile(r".*norm(_layer|_cls|_class|_fn)?$")
_ACTIVATIONS = re.compile(r".*(act|activation|nonlinearity|nonlin|act_layer|act_fn).*")


def arguments_of(cls: type[nn.Module]) -> dict[str, object]:
    """A value for every argument without a default, and every default that is a size.

    Raises:
        NoRecipe: where an argument is of a kind that nothing is known to fit; it names them.
    """
    hints = _annotations(cls)
    found: dict[str, object] = {}
    unknown: list[str] = []
    for parameter in list(inspect.signature(cls.__init__).parameters.values())[1:]:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.default is not parameter.empty:
            if _is_size(parameter.default) or _is_sizes(parameter.default):
                found[parameter.name] = parameter.default
            continue
        try:
            found[parameter.name] = _guess(parameter.name, hints.get(parameter.name, parameter.empty))
        except LookupError:
            unknown.append(str(parameter))
    if unknown:
        raise NoRecipe(
            f"{cls.__module__}.{cls.__qualname__}", f"no value is known for {', '.join(unknown)}", unknown
        )
    return found


def with_sizes(arguments: Mapping[str, object], sizes: Sizes) -> dict[str, object]:
    """The arguments with every integer asked for as a size: `dim`, `depths_0`."""
    found: dict[str, object] = {}
    for name, value in arguments.items():
        if _is_size(value):
            found[name] = sizes(name, cast(int, value), "", "__init__")
        elif _is_sizes(value):
            items = cast("list[int]", value)
            found[name] = type(value)(  # type: ignore[call-arg]
                sizes(f"{name}_{i}", item, "", "__init__") if _is_size(item) else item
                for i, item in enumerate(items)
            )
        else:
            found[name] = value
    return found


def _guess(name: str, hint: object) -> object:
    """A value for an argument of that name and type hint; LookupError where none is likely."""
    from torch import nn

    kind = _plain(hint)
    lower = name.lower()
    if isinstance(kind, tuple):  # the choices of a Literal
        return kind[0]
    if kind is bool or (kind is None and re.match(r"(use|is|has|with|do|enable)_", lower)):
        return False
    if kind is float or (kind is None and _FRACTIONS.fullmatch(lower)):
        if "drop" in lower or lower == "p":
            return 0.0
        return 0.5 if "scale" in lower or "slope" in lower else 0.1
    if kind is int or (kind in (None, inspect.Parameter.empty) and (_pattern(lower) or _SIZED.match(lower))):
        return _pattern(lower) or WIDTH
    if kind in ("ints", list, tuple) and _SIZED.match(lower):
        size = _pattern(lower) or WIDTH
        return [size, size]
    if inspect.isclass(kind) and issubclass(kind, nn.Module):
        if kind is nn.Module:
            return nn.Identity()
        return kind(**with_sizes(arguments_of(kind), lambda name, hint, meaning="", source="": hint))
    if _NORMS.fullmatch(lower):
        return nn.LayerNorm
    if _ACTIVATIONS.fullmatch(lower):
        return "relu" if kind is str else nn.GELU
    if kind is str:
        raise LookupError(name)
    if re.fullmatch(r"fn|layer|module|net|block|model|encoder|decoder|backbone", lower):
        return nn.Identity()
    raise LookupError(name)


def _pattern(name: str) -> int | None:
    return next((size for pattern, size in SIZES if re.fullmatch(pattern, name)), None)


def _plain(hint: object) -> object:
    """`int` for `int | None`, "ints" for sequences of integers, a Literal's choices, None for no hint."""
    if hint is inspect.Parameter.empty or hint is None:
        return None
    if isinstance(hint, str):
        return {"int": int, "float": float, "bool": bool, "str": str}.get(hint.partition("|")[0].strip())
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return _plain(next((one for one in inside if one is not type(None)), None))
    if origin is Literal:
        return tuple(inside)
    if origin in (list, tuple) or (origin is not None and "Sequence" in str(origin)):
        return "ints" if int in inside else origin
    return hint


def _annotations(cls: type[nn.Module]) -> dict[str, object]:
    try:
        return dict(typing.get_type_hints(cls.__init__))
    except Exception:  # annotations may name anything
        return dict(getattr(cls.__init__, "__annotations__", {}))


def _is_size(value: object) -> bool:
    """An integer from 2 on: 0 and 1 switch something off or broadcast, which is a regime and no size."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 2


def _is_sizes(value: object) -> bool:
    return (
        isinstance(value, list | tuple)
        and 0 < len(value) <= 8
        and type(value) in (list, tuple)
        and all(isinstance(item, int) and not isinstance(item, bool) for item in value)
    )
