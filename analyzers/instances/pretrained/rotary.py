"""A config whose rotary positions do not fit its layers, and the error; out settings that do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from forwardbook.analyzers.instances.pretrained.raised import lines_of, named_fields

if TYPE_CHECKING:
    from transformers import PreTrainedConfig

PLAIN: Mapping[str, object] = {"rope_type": "default", "rope_theta": 10000.0}
"""The rotation as it was first published."""
AXES = 4
"""Positions that are rotated by, of a token in a text and of one in a film: in the text, x, y, and time."""


def _by_kind(parts: Mapping[str, PreTrainedConfig], error: BaseException) -> Iterator[tuple[str, object]]:
    """The same values for every kind of layer, where one is looked up by its kind."""
    if not isinstance(error, KeyError):
        return
    for prefix, part in parts.items():
        kinds = part.__dict__.get("layer_types")
        for name in dict.fromkeys(named_fields(error)):
            value = part.__dict__.get(name)
            if isinstance(value, dict) and kinds and error.args[0] in kinds and error.args[0] not in value:
                yield prefix + name, {kind: dict(value or PLAIN) for kind in dict.fromkeys(kinds)}


def _sections(parts: Mapping[str, PreTrainedConfig], error: BaseException) -> Iterator[tuple[str, object]]:
    """Rotary sections that are shares of the rotated width, in the proportions that they had."""
    told = re.search(r"sum exactly to (\d+).*split_sizes=\[([\d, ]+)\]", str(error))
    if told is None or "mrope_section" not in lines_of(error):
        return
    width, before = int(told[1]), [int(one) for one in told[2].split(",")]
    shares = [one * width // sum(before) for one in before[:-1]]
    for prefix, part in parts.items():
        if isinstance(rotary := part.__dict__.get("rope_parameters"), dict):
            yield prefix + "rope_parameters", {**rotary, "mrope_section": [*shares, width - sum(shares)]}


def _left_out(parts: Mapping[str, PreTrainedConfig], error: BaseException) -> Iterator[tuple[str, object]]:
    """The plain rotation for every kind of layer, where those of the config lack the field looked up."""
    if not isinstance(error, KeyError) or error.args[0] not in PLAIN:
        return
    for prefix, part in parts.items():
        rotary = part.__dict__.get("rope_parameters")
        if not isinstance(rotary, dict):
            continue
        if rotary and all(isinstance(one, dict) for one in rotary.values()):
            yield prefix + "rope_parameters", {kind: {**PLAIN, **one} for kind, one in rotary.items()}
        elif error.args[0] not in rotary:
            yield prefix + "rope_parameters", {**PLAIN, **rotary}


def _axes(parts: Mapping[str, PreTrainedConfig], error: BaseException) -> Iterator[tuple[str, object]]:
    """Half a head in equal shares for each axis, where the config says of none."""
    if not isinstance(error, TypeError) or "mrope_section" not in lines_of(error):
        return
    for prefix, part in parts.items():
        fields = part.__dict__
        rotary, width = fields.get("rope_parameters"), fields.get("head_dim")
        if isinstance(rotary, dict) and isinstance(width, int) and "mrope_section" not in rotary:
            yield prefix + "rope_parameters", {**rotary, "mrope_section": [width // 2 // AXES] * AXES}


def _even(parts: Mapping[str, PreTrainedConfig], error: BaseException) -> Iterator[tuple[str, object]]:
    """As many heads as share the hidden size out evenly: rotations turn the two halves of a head."""
    if not isinstance(error, RuntimeError) or "rotate_half" not in lines_of(error):
        return
    for prefix, part in parts.items():
        width, heads = part.__dict__.get("hidden_size"), part.__dict__.get("num_attention_heads")
        if isinstance(width, int) and isinstance(heads, int) and width // heads % 2:
            fits = next((n for n in range(heads, 0, -1) if width % (2 * n) == 0), 0)
            if fits:
                yield prefix + "num_attention_heads", fits


ROTARY = (_by_kind, _sections, _left_out, _axes, _even)
