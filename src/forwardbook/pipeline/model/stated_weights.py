"""A checkpoint's folder in; how many elements its weights have, as its own files state it, out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Final

from pydantic import JsonValue

INDEX: Final = "model.safetensors.index.json"
_HEADER: Final = 50_000_000  # bytes of a header beyond which the file is not what it says
_BYTES: Final = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2}


def stated_weights(folder: Path, config: Mapping[str, JsonValue]) -> tuple[int, str] | None:
    """The number and the file that states it; None where nothing does. No weight is read."""
    index = _json(folder / INDEX)
    names = index.get("weight_map")
    shards = sorted(
        {str(one) for one in names.values()} if isinstance(names, dict) else {"model.safetensors"}
    )
    headers = [_shapes(folder / Path(one).name) for one in shards]
    if all(one is not None for one in headers):
        shapes = {name: shape for one in headers for name, shape in (one or {}).items()}
        return sum(prod(shape) for shape in shapes.values()), shards[0]
    metadata = index.get("metadata")
    if not isinstance(metadata, dict):
        return None
    total = metadata.get("total_parameters")
    if isinstance(total, int):
        return total, INDEX
    size, width = metadata.get("total_size"), _BYTES.get(str(config.get("dtype", config.get("torch_dtype"))))
    return (size // width, INDEX) if isinstance(size, int) and width else None


def _shapes(path: Path) -> dict[str, list[int]] | None:
    """The shapes in the header of a safetensors file; None where it cannot be read."""
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if not 2 <= length <= _HEADER:
                return None
            header = json.loads(file.read(length))
        return {name: [*map(int, one["shape"])] for name, one in header.items() if name != "__metadata__"}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _json(path: Path) -> dict[str, JsonValue]:
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
