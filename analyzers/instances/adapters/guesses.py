"""A class in; out values for its constructor as the names and type hints of its arguments suggest them."""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from forwardbook.analyzers.instances.adapters.examples import ClassNamed, Made
from forwardbook.analyzers.instances.adapters.sized import is_size, is_sizes
from forwardbook.analyzers.instances.recipe import NoRecipe, full_name

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
    (r"(.*_)?frames", 4),
    (r".*(index|_ind|_idx|_id)|(source|target|prev)_layer", 1),
    (r"[hwtl](_s)?", 8),
    (r"(ndim|spatial_dims|dims|num_dims|n_dims|dimensions|dimension)", 2),
    (r".*(scale|factor|ratio|mult|rate|reduction)", 2),
    (r".*(num|n)_.*", 4),
)
_SIZED = re.compile(
    r".*(dim|channel|feature|width|height|hidden|embed|size|planes|units|d_model|d_in|d_out|inner|num|n_|length"
    r"|len|ch|nf|dims|^c[12]?$|^d$|^n$|in_ch|out_ch).*"
)
DEPTHS = re.compile(
    r"(.*_)?(depth|(n|num)_?(layers?|blocks|stages|res_blocks|resnets)|layers|(n|num)_.*_(layers|blocks))"
)
_MANY = re.compile(r".*(s|depth|dim|channels|kernel|stride|size|blocks|layers|heads|list)")


@dataclass(frozen=True)
class Guess:
    """Numbers that fit each other: the width of everything, the others by name, how long a list is."""

    width: int
    sizes: tuple[tuple[str, int], ...]
    many: int = 0
    """As many numbers are given where a name may mean several; 0 where it is taken to mean one."""
    optional: bool = False
    """Whether sizes that may be left out are given too."""


_EVEN = (
    (r".*(dim_head|head_dim|head_size|d_head)", 16),
    (r".*(image|img|input|sample)_?(size|resolution)", 128),
    (r".*(kernel)(_size)?", 3),
    (r".*(window|patch)(_size|_dim)?", 4),
)
GUESSES = (
    Guess(WIDTH, SIZES),
    Guess(64, (*_EVEN, *SIZES)),
    Guess(64, (*_EVEN, *SIZES), optional=True),
    Guess(64, (*_EVEN, *SIZES), many=2),
    Guess(64, (*_EVEN, *SIZES), many=4),
    Guess(64, (*_EVEN, *SIZES), many=3),
)
_FRACTIONS = re.compile(
    r"(.*_)?(p|drop.*|rate|prob|eps|alpha|beta|gamma|momentum|scale|sigma|temperature|slope)$"
)
_NORMS = re.compile(r".*norm(_layer|_cls|_class|_fn)?$")
_ACTIVATIONS = re.compile(r".*(act|activation|nonlinearity|nonlin|act_layer|act_fn).*")


def arguments_of(cls: type[nn.Module], guess: Guess | None = None) -> dict[str, object]:
    """A value for every argument without a default, and every default that is a size.

    Raises:
        NoRecipe: where an argument is of a kind that nothing is known to fit; it names them.
    """
    guess = guess or GUESSES[0]
    hints = _annotations(cls)
    found: dict[str, object] = {}
    unknown: list[str] = []
    for parameter in _parameters(cls):
        hint = hints.get(parameter.name, parameter.empty)
        if parameter.default is not parameter.empty:
            if is_size(parameter.default) or is_sizes(parameter.default):
                found[parameter.name] = parameter.default
            elif parameter.default is None and guess.optional and _wanted(parameter.name, hint):
                found[parameter.name] = _guess(parameter.name, hint, guess)
            continue
        try:
            found[parameter.name] = _guess(parameter.name, hint, guess)
        except LookupError:
            unknown.append(str(parameter))
    if unknown:
        raise NoRecipe(full_name(cls), f"no value is known for {', '.join(unknown)}", unknown)
    return found


def _parameters(cls: type[nn.Module]) -> list[inspect.Parameter]:
    """The constructor's arguments; where it hands others on, those that its base asks for too."""
    found: dict[str, inspect.Parameter] = {}
    for base in cls.__mro__:
        initialise = base.__dict__.get("__init__")
        if initialise is None or base.__module__.startswith("torch.nn.modules.module"):
            continue
        described = list(inspect.signature(initialise).parameters.values())[1:]
        for parameter in described:
            if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                needed = not found or parameter.default is parameter.empty or parameter.default is None
                if needed or base is cls:
                    found.setdefault(parameter.name, parameter)
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in described):
            break
    return list(found.values())


def _wanted(name: str, hint: object) -> bool:
    """Whether an argument that may be left out is a size by its name and may be one by its hint."""
    kind = _plain(hint)
    return kind in (None, int) and bool(_SIZED.fullmatch(name.lower()) or _pattern(name.lower(), SIZES))


def _guess(name: str, hint: object, guess: Guess) -> object:
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
    size = _pattern(lower, guess.sizes) or guess.width
    if kind in ("ints", list, tuple) or (
        kind in (None, inspect.Parameter.empty) and guess.many and _MANY.fullmatch(lower)
    ):
        return (size,) * (guess.many or 2)
    if kind is int or (
        kind in (None, inspect.Parameter.empty) and (_pattern(lower, guess.sizes) or _SIZED.match(lower))
    ):
        return size
    if inspect.isclass(kind) and issubclass(kind, nn.Module):
        if kind is nn.Module:
            return Made(ClassNamed("Identity", "torch.nn"))
        return Made(ClassNamed(kind.__name__, kind.__module__), (), arguments_of(kind, guess))
    if _NORMS.fullmatch(lower):
        return nn.LayerNorm
    if _ACTIVATIONS.fullmatch(lower):
        return "relu" if kind is str else nn.GELU
    if kind is str:
        raise LookupError(name)
    if re.fullmatch(r"fn|layer|module|net|block|model|encoder|decoder|backbone", lower):
        return Made(ClassNamed("Identity", "torch.nn"))
    raise LookupError(name)


def _pattern(name: str, sizes: Sequence[tuple[str, int]]) -> int | None:
    return next((size for pattern, size in sizes if re.fullmatch(pattern, name)), None)


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
