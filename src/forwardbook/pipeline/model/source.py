"""What a user names a model by in; out its class and config: a shipped id, a folder, a class, a config file.

Nothing is downloaded, no weights are read, and code that comes with a checkpoint is not run unless asked.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, cast

from forwardbook.analyzers.instances.pretrained.strict import accept_symbolic_sizes
from forwardbook.errors import ForwardbookError
from forwardbook.models.architecture import Architecture
from forwardbook.pipeline.model.classes import class_called, class_for, foreign, lies_in, listed

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel

FORMATS = ("dtype", "torch_dtype")  # fields of a config that name the format of its checkpoint's numbers
REMOTE = "transformers_modules."  # where transformers puts the code that a checkpoint brings
_OWN_CODE = (
    "  if you trust it: put its files beside config.json and give --trust-remote-code; or name a factory of "
    "yours: package.module:function"
)


class ModelUnknown(ForwardbookError):
    """A model that cannot be found or built from what was named; the message says what would do."""


class ConfigUnreadable(ModelUnknown):
    """A file that holds no config; where the fault is."""


class ModelRefused(ForwardbookError):
    """A model whose formulas could not be derived or proved at the sizes asked for, and why."""

    tells_cause = True


class NoPolynomial(ModelRefused):
    """A size that became a number while the model ran, and in which its costs are no polynomial."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


class HangsOnData(ModelRefused):
    """A model whose costs only data decides; `sizes` are the others that its call has."""

    def __init__(self, sizes: Sequence[str], message: str) -> None:
        super().__init__(message)
        self.sizes = tuple(sizes)


@dataclass(frozen=True)
class ModelSource:
    """A model that can be built: its id, class and config, where the config came from, what to know of it."""

    model_id: str
    model_class: type[PreTrainedModel]
    config: PreTrainedConfig
    source: str
    notes: tuple[str, ...] = ()


def from_folder(folder: Path, trusted: bool = False) -> ModelSource:
    """The model that a folder's config.json describes.

    Raises:
        ConfigUnreadable: where there is no readable config.
        ModelUnknown: where it names code or classes that are not installed.
    """
    file = folder / "config.json"
    try:
        values = json.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise ConfigUnreadable(f"reading {file}: {error}") from error
    if not isinstance(values, dict):
        raise ConfigUnreadable(f"reading {file}: a config is one JSON object, found {type(values).__name__}")
    if trusted and lies_in(folder, values):
        return _from_its_own_code(folder)
    return from_values(folder.resolve().name, values, str(file))


def _from_its_own_code(folder: Path) -> ModelSource:
    """The model of a checkpoint that brings its code: it is imported and run, as its user asked."""
    from transformers import AutoConfig, AutoModel, AutoModelForCausalLM

    accept_symbolic_sizes()
    try:
        config = AutoConfig.from_pretrained(folder, trust_remote_code=True, local_files_only=True)
        kind = AutoModelForCausalLM if "AutoModelForCausalLM" in config.auto_map else AutoModel
        import torch

        with torch.device("meta"):
            model = kind.from_config(config, trust_remote_code=True)  # type: ignore[no-untyped-call]
    except Exception as error:
        raise ModelUnknown(f"running the code of {folder}: {type(error).__name__}: {error}") from error
    return ModelSource(folder.resolve().name, type(model), config, f"code and config of {folder.name}")


def from_values(model_id: str, values: dict[str, object], source: str) -> ModelSource:
    """The model that the fields of a config describe, of a class of transformers' own.

    A class that it lists and transformers lacks is replaced by the usual one of its model type, and a model
    type that transformers lacks by that of the class that it lists; `notes` say so.

    Raises:
        ModelUnknown: as `from_folder`; also where only code of the checkpoint has the class.
    """
    if names := foreign(values):
        raise ModelUnknown(
            f"building {model_id}: {', '.join(names)} is in code of the checkpoint (auto_map) and not in "
            f"transformers; it is not run unless asked\n{_OWN_CODE}"
        )
    model_class = next(filter(None, map(class_called, listed(values))), None)
    notes: list[str] = []
    kind = values.get("model_type")
    if not _is_known(kind) and model_class is not None and model_class.config_class is not None:
        own = model_class.config_class.model_type
        notes.append(f"transformers has no model_type {kind!r}: read as {own}, of {model_class.__name__}")
        values = {**values, "model_type": own}
    try:
        config = config_from(values, source)
    except ModelUnknown as error:
        more = f"\n{_OWN_CODE}" if values.get("auto_map") and not _is_known(kind) else ""
        raise ModelUnknown(f"{error}{more}") from error
    if model_class is None:
        model_class = _class_of(config, source)
        if names := listed(values):
            told = f"transformers has no {', '.join(names)}"
            notes.append(f"{told}: taken is {model_class.__name__}, the usual class of {config.model_type}")
    if quantised := values.get("quantization_config"):
        method = quantised.get("quant_method", "quantized") if isinstance(quantised, dict) else "quantized"
        notes.append(
            f"its checkpoint is of other numbers (quantization_config: {method}): told is the plain model in "
            "--w_bit, --a_bit and --kv_bit, without scales"
        )
    return ModelSource(model_id, model_class, config, source, tuple(notes))


def _is_known(model_type: object) -> bool:
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    return isinstance(model_type, str) and model_type in CONFIG_MAPPING


def config_from(values: dict[str, object], source: str) -> PreTrainedConfig:
    """The config object of a dictionary, by its model_type; the number formats that it names are left out,
    for no formula depends on them, and files spell them in ways that only other code reads."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    accept_symbolic_sizes()
    kind = values.get("model_type")
    known = sorted(str(key) for key in CONFIG_MAPPING)
    if not isinstance(kind, str) or kind not in known:
        near = ", ".join(get_close_matches(str(kind).lower(), known, 3)) or "none is near"
        raise ModelUnknown(f"building from {source}: transformers knows no model_type {kind!r} ({near})")
    try:
        return CONFIG_MAPPING[kind].from_dict(_without_formats(values))
    except Exception as error:
        raise ModelUnknown(f"building from {source}: {type(error).__name__}: {error}") from error


def _without_formats(values: Mapping[str, object]) -> dict[str, object]:
    kept = ((name, value) for name, value in values.items() if name not in FORMATS)
    return {name: _without_formats(value) if isinstance(value, dict) else value for name, value in kept}


def config_of(architecture: Architecture) -> PreTrainedConfig:
    """The config object of an architecture; code that a checkpoint brought was imported before."""
    if architecture.config_class.startswith(REMOTE):
        kind = _imported(architecture.config_class)
        return cast("type[PreTrainedConfig]", kind).from_dict(architecture.config)
    return config_from(dict(architecture.config), architecture.model_id)


def from_config_class(path: str) -> ModelSource:
    """The model of a config class with its defaults, by the class's dotted path.

    Raises:
        ModelUnknown: where the class cannot be imported, is no config, or cannot be made.
    """
    config_class = _imported(path)
    from transformers import PreTrainedConfig

    if not isinstance(config_class, type) or not issubclass(config_class, PreTrainedConfig):
        raise ModelUnknown(f"{path} is no config class of transformers")
    accept_symbolic_sizes()
    try:
        config = config_class()
    except Exception as error:
        raise ModelUnknown(f"making {path}(): {type(error).__name__}: {error}") from error
    return ModelSource(config.model_type, _class_of(config, path), config, f"defaults of {path}")


def model_named(path: str) -> type[PreTrainedModel]:
    """A model class by its dotted path.

    Raises:
        ModelUnknown: where it cannot be imported or is no model.
    """
    from transformers import PreTrainedModel

    accept_symbolic_sizes()
    found = _imported(path)
    if not isinstance(found, type) or not issubclass(found, PreTrainedModel):
        raise ModelUnknown(f"{path} is no model class of transformers")
    return found


def _imported(path: str) -> object:
    module, _, name = path.rpartition(".")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ModelUnknown(f"importing {path}: {error}") from error


def _class_of(config: PreTrainedConfig, source: str) -> type[PreTrainedModel]:
    """The class that the Auto classes lead to."""
    if found := class_for(config.model_type):
        return found
    raise ModelUnknown(f"building from {source}: transformers has no model class for {config.model_type}")
