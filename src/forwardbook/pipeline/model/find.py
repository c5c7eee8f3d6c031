"""What a user calls a model in; its architecture out: kept under an id, or told from a config just now."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from pydantic import JsonValue

from forwardbook.analyzers.instances.pretrained.depth import counts_layers, lists_of_layers
from forwardbook.models.architecture import Architecture
from forwardbook.pipeline.model.architecture import architecture_of
from forwardbook.pipeline.model.source import (
    FORMATS,
    ModelSource,
    ModelUnknown,
    config_from,
    from_config_class,
    from_folder,
    model_named,
)
from forwardbook.pipeline.model.user import from_factory, is_factory, source_digest
from forwardbook.workspace.model_files import ModelFiles, read_architecture

if TYPE_CHECKING:
    from transformers import PreTrainedConfig


def find_model(
    name: str, kept: ModelFiles, inputs: Mapping[str, str] | None = None, trusted: bool = False
) -> Architecture:
    """The architecture of what a user named: an id, an alias, a file, a folder with a config, a config class,
    a factory `package.module:function`.

    Raises:
        ModelUnknown: where nothing of that name is known here; nothing is ever downloaded.
    """
    if is_factory(name):
        return from_factory(name, dict(inputs or {}))
    found = kept.find(name)
    if found is not None:
        return found
    path = Path(name)
    if path.is_file() and path.suffix == ".json" and path.name != "config.json":
        return read_architecture(path)
    if path.is_file() and path.name == "config.json":
        return described(from_folder(path.parent, trusted))
    if path.is_dir():
        return described(from_folder(path, trusted))
    if name.count(".") > 1 and name.replace(".", "_").isidentifier():
        return described(from_config_class(name))
    if path.suffix == ".json":
        raise ModelUnknown(f"reading {name}: there is no such file; --generate-arch writes models/<id>.json")
    if (found := kept.alike(name)) is not None:
        return found
    ids = kept.ids()
    near = get_close_matches(name.rpartition("/")[2].lower(), ids, 4, 0.4)
    raise ModelUnknown(
        f"looking for the model {name}: no id kept here, file, folder or class has this name, and nothing is "
        "downloaded\n"
        f"  {'near it' if near else 'there are'}: {', '.join(near or ids)}\n"
        "  or put the model's config.json into a folder and name that folder"
    )


def described(source: ModelSource) -> Architecture:
    """The architecture of a model that can be built.

    Raises:
        ModelUnknown: where its constructor refuses the config.
    """
    try:
        found = architecture_of(source.model_id, source.model_class, source.config, source=source.source)
    except ModelUnknown:
        raise
    except Exception as error:
        raise ModelUnknown(f"building {source.model_id}: {type(error).__name__}: {error}") from error
    return found.model_copy(update={"notes": list(source.notes)})


def changed(architecture: Architecture, fields: Mapping[str, JsonValue]) -> Architecture:
    """The architecture with other values for fields of its config, `vision_config.image_size` among them.

    Raises:
        ModelUnknown: for fields that the config does not have, all of them listed; for a size below 0.
    """
    if not fields:
        return architecture
    if named := [name for name in fields if name.rpartition(".")[2] in FORMATS]:
        raise ModelUnknown(
            f"changing the config of {architecture.model_id}: {', '.join(named)} changes no formula; "
            "give widths: --w_bit, --a_bit, --kv_bit"
        )
    config = config_from(dict(architecture.config), architecture.model_id)
    values = cast("dict[str, JsonValue]", json.loads(json.dumps(architecture.config)))
    problems: list[str] = []
    for name, value in fields.items():
        holder: object = config
        place = values
        *parts, last = name.split(".")
        for part in parts:
            holder = getattr(holder, part, None)
            inner = place.setdefault(part, {})
            place = inner if isinstance(inner, dict) else {}
        if not hasattr(holder, last):
            problems.append(name)
        elif _is_below(value, getattr(holder, last)) and not last.endswith(_OF_TOKENS):
            raise ModelUnknown(
                f"changing the config of {architecture.model_id}: {name}={value} is below 0; "
                f"give a whole number, such as its own {getattr(holder, last)}"
            )
        place.update(_following(place, holder, last, value, fields))
        place[last] = value
    if problems:
        raise ModelUnknown(
            f"changing the config of {architecture.model_id}: it has no field {', '.join(problems)}"
        )
    suffix = "".join(f"-{name.rpartition('.')[2]}-{value}" for name, value in fields.items())
    model_id = f"{architecture.model_id}{suffix}".replace("/", "-").replace(" ", "")
    try:
        new = config_from(dict(values), model_id)
    except ModelUnknown as error:
        raise ModelUnknown(f"changing the config of {architecture.model_id}: {error}") from error
    source = ModelSource(model_id, model_named(architecture.model_class), new, architecture.source)
    kept = {"proposal": architecture.proposal, "notes": architecture.notes}
    return described(source).model_copy(update=kept)


_OF_TOKENS: Final = ("_id", "_ids", "_index", "_token")  # fields in which -1 says: none


def _is_below(value: object, before: object) -> bool:
    """Whether a number is below 0 where the config has one above it."""
    numbers = type(value) is int and type(before) is int
    return numbers and cast(int, value) < 0 < cast(int, before)


def _following(
    place: Mapping[str, JsonValue],
    holder: object,
    name: str,
    value: JsonValue,
    given: Mapping[str, JsonValue],
) -> dict[str, JsonValue]:
    """Where the number of layers changes, what lists their kinds and was not given itself, one for each."""
    before = getattr(holder, name, None)
    if not (counts_layers(name) and isinstance(before, int) and isinstance(value, int)):
        return {}
    lists = lists_of_layers(place, cast("type[PreTrainedConfig]", type(holder)), before, value)
    named = {field.rpartition(".")[2] for field in given}
    return {field: list(kinds) for field, kinds in lists.items() if field not in named}


def with_image_size(architecture: Architecture, size: int) -> Architecture:
    """The model for square images of that many pixels.

    Raises:
        ModelUnknown: where its config has no size of images.
    """
    for place in ("image_size", "vision_config.image_size"):
        outer, _, inner = place.rpartition(".")
        part = architecture.config.get(outer) if outer else architecture.config
        if isinstance(part, dict) and (inner in part or (not outer and _has(architecture, inner))):
            return architecture if part.get(inner) == size else changed(architecture, {place: size})
    raise ModelUnknown(f"{architecture.model_id} takes no images: its config has no image_size")


def with_frames(architecture: Architecture, frames: int) -> Architecture:
    """The model for that many frames: of a film, or of audio features, of which two make one position.

    Raises:
        ModelUnknown: where its config has no number of frames, or the number is odd and halves are needed.
    """
    if "num_frames" in architecture.config:
        same = architecture.config["num_frames"] == frames
        return architecture if same else changed(architecture, {"num_frames": frames})
    positions = architecture.config.get("max_source_positions")
    if "num_mel_bins" not in architecture.config or not isinstance(positions, int):
        raise ModelUnknown(f"{architecture.model_id} takes no frames: its config has no number of them")
    if frames % 2:
        raise ModelUnknown(f"{architecture.model_id} halves its frames: give an even number, not {frames}")
    same = positions == frames // 2
    return architecture if same else changed(architecture, {"max_source_positions": frames // 2})


def _has(architecture: Architecture, name: str) -> bool:
    if "image_size" not in architecture.config and "vision_config" in architecture.config:
        return False
    return hasattr(config_from(dict(architecture.config), architecture.model_id), name)


def config_digest(architecture: Architecture) -> str:
    """What formulas depend on: class and config; of a factory its inputs and source."""
    parts: list[object] = [architecture.model_class, architecture.config]
    if architecture.inputs:
        parts += [architecture.inputs, source_digest(architecture.model_class)]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]
