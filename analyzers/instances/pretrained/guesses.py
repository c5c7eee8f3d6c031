"""A module with a config or without in; out inputs to try on it alone, by names of parameters and by widths.

What a parameter takes follows from its name and annotation; how wide, from the module's first layers.
"""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import nn

MOST = 48
"""Sets of inputs that are tried on one module."""
WIDTHS = 4
"""Widths that are tried: those of the layers that come first."""

Place = tuple[str, str, int]
"""Where a width is kept: a submodule's path, its attribute, and the index where that is a shape."""


@dataclass(frozen=True)
class Guess:
    """Expressions by parameter, and where the widths named in them are kept in the module."""

    plan: Mapping[str, str]
    widths: Mapping[str, Place]


# Names of parameters -> what they take; D stands for every width in turn, N for the number of positions.
NAMED: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        r"position_embeddings|rotary_pos_emb|rotary_emb|freqs_cis|rope|rope_emb|image_rotary_emb",
        (
            "(floats(batch_size, N, head_dim), floats(batch_size, N, head_dim))",
            "(floats(N, head_dim), floats(N, head_dim))",
            "floats(batch_size, N, D)",
            "floats(N, head_dim // 2)",
        ),
    ),
    (
        r"position_ids|.*positions",
        ("integers(N, batch_size, N)", "integers(N, N)", "integers(N, 3, batch_size, N)"),
    ),
    (r"cu_seqlens.*|cu_seq_lens.*", ("values([0, 64])",)),
    (r"(image_|video_)?grid_thws?", ("values([[1, 8, 8]])",)),
    (r"(image_)?grid_hws?|target_sizes|spatial_shapes|tgt_sizes", ("values([[8, 8]])",)),
    (r"spatial_shapes_list", ("[(8, 8)]",)),
    (r"level_start_index", ("values([0])",)),
    (
        r"reference_points",
        ("floats(batch_size, N, 1, 2)", "floats(batch_size, N, 4)", "floats(batch_size, N, 2)"),
    ),
    (
        r"input_dimensions|spatial_shape|.*_(hw|resolution)|hw|size|(input|output|patch|image)_(shape|size)",
        ("(8, 8)",),
    ),
    (r"height|width|(patch|grid|num_patches|h|w)_?(height|width|h|w)|h|w", ("8",)),
    (r"max_seqlen|.*seq_?len(gth)?|.*length", ("N",)),
    (r"bbox", ("full(0, batch_size, N, 4)",)),
    (r"token_type_ids", ("full(0, batch_size, N)",)),
    (
        r".*(_ids|tokens?|indices|index|labels|codes)",
        ("integers(7, batch_size, N, low=1)", "integers(2, batch_size, N)"),
    ),
    (r"timesteps?|time|t|sigma", ("floats(batch_size)", "integers(7, batch_size)", "floats(batch_size, D)")),
    (
        r"temb|time_emb.*|cond|conditioning|emb|.*_emb(edding)?",
        ("floats(batch_size, D)", "floats(batch_size, N, D)"),
    ),
    (
        r".*mask.*|.*bias",
        ("None", "ones(batch_size, N)", "floats(batch_size, 1, N, N)", "full(1, batch_size, N)"),
    ),
    (
        r"encoder_hidden_states|key_value_states|context|memory|key|keys|value|values|encoder_.*|kv_states",
        (
            "floats(batch_size, encoder_seq_len, D)",
            "floats(batch_size, N, D)",
            "floats(batch_size, encoder_seq_len, hidden_size)",
        ),
    ),
    (r"layer_idx|layer_index|idx|index", ("0",)),
    (r"output_.*|use_.*|return_.*|is_.*|causal|training", ("False",)),
    (r"past_key_values?|cache_.*|past_.*|.*cache", ("None",)),
)
# Parameters with a default without which many a forward() does not run.
OFTEN = (
    "position_embeddings",
    "encoder_hidden_states",
    "rotary_pos_emb",
    "position_ids",
    "attention_mask",
    "key_value_states",
)
GRIDDED = re.compile(
    r"cu_seqlens.*|cu_seq_lens.*|.*grid_(thws?|hws?)|spatial_shapes.*|input_dimensions|spatial_shape|height|.*_hw|hw"
)

_SHAPES = {
    "rows": (
        "floats(batch_size, N, {})",
        "floats(N, {})",
        "floats(batch_size, {})",
        "floats(batch_size, {}, N)",
        "floats(batch_size, 16, 16, {})",
        "floats(batch_size, {}, 16, 16)",
        "floats(batch_size, 3, N, {})",
    ),
    "line": ("floats(batch_size, {}, 64)", "floats(batch_size, 64, {})", "floats(batch_size, 1, 16000)"),
    "image": (
        "floats(batch_size, {}, 32, 32)",
        "floats(batch_size, {}, 224, 224)",
        "floats(batch_size, 32, 32, {})",
        "floats(batch_size, 1024, {})",
    ),
    "film": ("floats(batch_size, {}, 8, 32, 32)", "floats(64, {} * 2 * 14 * 14)"),
    "ids": ("integers(7, batch_size, N, low=1)", "integers(7, batch_size)"),
}


def guesses(module: nn.Module) -> list[Guess]:
    """What to call a module with, likeliest first; parameters keep their defaults, then get values too."""
    given = [
        p
        for p in list(inspect.signature(type(module).forward).parameters.values())[1:]
        if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    needed = [p for p in given if p.default is p.empty] or given[:1]
    if not needed:
        return [Guess({}, {})]
    found: list[Guess] = []
    kinds, widths = _layers(module)
    positions = "64" if any(GRIDDED.fullmatch(p.name) for p in given) else "seq_len"
    often = [p for p in given if p.name in OFTEN and p not in needed]
    for chosen in [needed, [*needed, *often[:2]]] if often else [needed]:
        choices = [_choices(p, i, kinds, list(widths), positions) for i, p in enumerate(chosen)]
        for plan in _combined([p.name for p in chosen], choices, MOST // 2):
            guess = Guess(
                plan, {n: at for n, at in widths.items() if any(n in text for text in plan.values())}
            )
            if guess not in found:
                found.append(guess)
    return found


def _combined(names: Sequence[str], choices: Sequence[Sequence[str]], most: int) -> Iterator[dict[str, str]]:
    """Choices of the same rank first, then all others, so many."""
    alike = [
        tuple(options[min(k, len(options) - 1)] for options in choices) for k in range(max(map(len, choices)))
    ]
    every = dict.fromkeys(itertools.chain(alike, itertools.islice(itertools.product(*choices), 4 * most)))
    return (dict(zip(names, chosen, strict=True)) for chosen in itertools.islice(every, most))


def _choices(
    parameter: inspect.Parameter, index: int, kinds: Sequence[str], widths: Sequence[str], positions: str
) -> list[str]:
    """Expressions for one parameter, likeliest first."""
    hint = str(parameter.annotation)
    if hint in ("<class 'int'>", "int"):
        named = _named(parameter.name)
        return [named[0].replace("N", positions)] if named and named[0] in ("8", "N", "0") else ["8"]
    if hint in ("<class 'bool'>", "bool"):
        return ["False"]
    named = _named(parameter.name) if index or "ids" in parameter.name else ()
    texts = list(named) or _of_layers(kinds, widths)
    if "list[" in hint.lower() or (index == 0 and "tuple[" in hint.lower()):
        texts = [_listed(text) for text in texts] + texts
    found = [
        re.sub(r"\bD\b", width, re.sub(r"\bN\b", positions, text))
        for text in texts
        for width in (widths[:2] or ["hidden_size"])
    ]
    if "None" in hint and index:
        found.append("None")
    return list(dict.fromkeys(found))


def _named(name: str) -> tuple[str, ...]:
    return next((options for pattern, options in NAMED if re.fullmatch(pattern, name)), ())


def _listed(text: str) -> str:
    return f"[{', '.join([text] * 4)}]"


def _of_layers(kinds: Sequence[str], widths: Sequence[str]) -> list[str]:
    """Inputs of a module whose first layers are of these kinds and widths."""
    found: list[str] = []
    pairs = [*zip(kinds, widths, strict=False)] or [("rows", "hidden_size")]
    for kind, width in pairs:
        found += [shape.format(width) for shape in _SHAPES[kind]]
    found += [shape.format("hidden_size") for shape in _SHAPES["rows"]]
    return list(dict.fromkeys(found))


def _layers(module: nn.Module) -> tuple[list[str], dict[str, Place]]:
    """The kinds of a module's first layers that tell how wide their input is, and where that is kept."""
    kinds: list[str] = []
    places: dict[str, Place] = {}
    seen: set[tuple[str, int]] = set()
    for path, layer in module.named_modules():
        told = _told(layer)
        if told is None:
            continue
        kind, attribute, index, width = told
        if (kind, width) in seen:
            continue
        seen.add((kind, width))
        kinds.append(kind)
        places[f"width{len(places)}"] = (path, attribute, index)
        if len(kinds) == WIDTHS:
            break
    return kinds, places


def _told(layer: nn.Module) -> tuple[str, str, int, int] | None:
    """The kind of input that a layer takes, the attribute that holds its width, an index, and the width."""
    from torch import nn

    if isinstance(layer, nn.Embedding):
        return "ids", "num_embeddings", -1, layer.num_embeddings
    if isinstance(layer, nn.Linear):
        return "rows", "in_features", -1, layer.in_features
    for kind, types in (
        ("line", (nn.Conv1d, nn.ConvTranspose1d)),
        ("image", (nn.Conv2d, nn.ConvTranspose2d)),
        ("film", (nn.Conv3d, nn.ConvTranspose3d)),
    ):
        if isinstance(layer, types):
            return kind, "in_channels", -1, layer.in_channels
    if isinstance(layer, nn.BatchNorm2d):
        return "image", "num_features", -1, layer.num_features
    weight = layer._parameters.get("weight")
    if weight is not None and weight.dim() == 1:
        return "rows", "weight", 0, weight.shape[0]
    return None
