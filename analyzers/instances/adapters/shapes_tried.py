"""A forward() and its constructor's arguments in; out inputs to try, in the notation, likeliest first."""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Callable, Mapping

FREE: dict[str, tuple[int, str]] = {
    "batch_size": (3, "independent samples in the input"),
    "seq_len": (16, "positions in the sequence"),
    "length": (64, "extent of a one-dimensional signal"),
    "height": (32, "rows of the image"),
    "width": (32, "columns of the image"),
    "frames": (8, "images in a film"),
}
_WIDTHS = re.compile(
    r"(in_(channels|chans|features|dim|planes|ch)|input_(dim|size|channels)|dim(_in)?|d_model|d_in|embed(ding)?_dim"
    r"|hidden_(size|dim|channels)|num_(features|channels)|channels|chans|n_embd|width|emb_dim|d|c|c1|n_channels"
    r"|query_dim|feature_dim|inp|nf|features|planes|in_dims?|node_dim|input_channel)"
)
_IMAGE = re.compile(r"(img|image|input|sample)_?(size|resolution)")
_IDS = re.compile(r".*(ids?|tokens?|index|indices|labels?|targets?)$")
_MASKS = re.compile(r".*mask.*")
_TIMES = re.compile(r"(t|time|timesteps?|sigma|noise_level|temb|t_emb)")
_POSITIONAL = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
MOST = 60
"""Sets of inputs that are tried for one class."""


def plans_for(forward: Callable[..., object], arguments: Mapping[str, object]) -> list[dict[str, str]]:
    """What to call forward() with, as expressions by parameter; parameters with defaults keep them."""
    described = list(inspect.signature(forward).parameters.values())[1:]
    needed = [p for p in described if p.kind not in _POSITIONAL and p.default is p.empty]
    if not needed:
        needed = [p for p in described if p.kind not in _POSITIONAL][:1]
    choices = [_choices(p, i, arguments) for i, p in enumerate(needed)]
    if not needed:
        return [{}]
    names = [p.name for p in needed]
    alike = [
        dict(zip(names, (options[min(k, len(options) - 1)] for options in choices), strict=True))
        for k in range(max(map(len, choices)))
    ]
    mixed = (dict(zip(names, chosen, strict=True)) for chosen in itertools.product(*choices))
    found: list[dict[str, str]] = []
    for plan in itertools.chain(alike, mixed):
        if plan not in found:
            found.append(plan)
        if len(found) >= MOST:
            break
    return found


def _choices(parameter: inspect.Parameter, index: int, arguments: Mapping[str, object]) -> list[str]:
    name, hint = parameter.name, str(parameter.annotation)
    if hint in ("<class 'int'>", "int"):
        return ["seq_len"]
    if _MASKS.fullmatch(name):
        return [
            "ones(batch_size, seq_len)",
            "ones(batch_size, 1, seq_len, seq_len)",
            "ones(seq_len, seq_len)",
        ]
    if _IDS.fullmatch(name) or "LongTensor" in hint:
        return ["integers(7, batch_size, seq_len)", "integers(7, batch_size)"]
    widths = _widths(arguments)
    if _TIMES.fullmatch(name) and index > 0:
        return ["floats(batch_size)", *(f"floats(batch_size, {w})" for w in widths)]
    return [
        *_of_image(arguments),
        *_of_widths(widths),
        "integers(7, batch_size, seq_len)",
        "floats(batch_size)",
    ]


def _of_image(arguments: Mapping[str, object]) -> list[str]:
    """Images of the size and channels that the constructor was told."""
    sides = [n for n, v in arguments.items() if _IMAGE.fullmatch(n) and isinstance(v, int)]
    channels = [n for n in ("in_channels", "in_chans", "channels", "num_channels") if _number(arguments, n)]
    return [f"floats(batch_size, {c}, {s}, {s})" for s in sides for c in (*channels, "3")]


def _of_widths(widths: list[str]) -> list[str]:
    found: list[str] = []
    for shape in (
        "floats(batch_size, seq_len, {})",
        "floats(batch_size, {}, height, width)",
        "floats(batch_size, {})",
        "floats(batch_size, {}, length)",
        "floats(batch_size, height, width, {})",
        "floats(batch_size, {}, frames, height, width)",
    ):
        found += [shape.format(width) for width in widths]
    return found


def _widths(arguments: Mapping[str, object]) -> list[str]:
    """Arguments that may be the width of an input, likeliest first; an image has three channels."""
    named = [n for n in arguments if _WIDTHS.fullmatch(n) and _number(arguments, n)]
    others = [
        n for n in arguments if n not in named and _number(arguments, n) and cast_size(arguments[n]) > 4
    ]
    return [*named, *others[:3], "3", "1"] if not named else [*named, "3"]


def _number(arguments: Mapping[str, object], name: str) -> bool:
    value = arguments.get(name)
    return isinstance(value, int) and not isinstance(value, bool) and value >= 2


def cast_size(value: object) -> int:
    """An integer argument as one."""
    assert isinstance(value, int)
    return value
