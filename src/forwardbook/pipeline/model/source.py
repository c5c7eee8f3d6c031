"""What a user names a model by in; out its class and config: a shipped id, a folder, a class, a config file.

Nothing is downloaded, no weights are read, and code that comes with a checkpoint is not run unless asked.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, cast

from forwardbook.analyzers.instances.pretrained.strict import accept_symbolic_sizes
from forwardbook.errors import ForwardbookError
from forwardbook.models.architecture import Architecture

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel

REMOTE = "transformers_modules."  # where transformers puts the code that a checkpoint brings
# Tables of transformers that lead from a model type to a class, the most specific task first.
TABLES = (
    "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES",
    "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES",
    "MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES",
    "MODEL_MAPPING_NAMES",
)


class ModelUnknown(ForwardbookError):
    """A model that cannot be found or built from what was named; the message says what would do."""


class ConfigUnreadable(ModelUnknown):
    """A file that holds no config; where the fault is."""


class ModelRefused(ForwardbookError):
    """A model whose formulas could not be derived or proved at the sizes asked for, and why."""


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
    """A model that can be built: its id, class and config, and where the config came from."""

    model_id: str
    model_class: type[PreTrainedModel]
    config: PreTrainedConfig
    source: str


def from_folder(folder: Path, trusted: bool = False) -> ModelSource:
    """The model that a folder's config.json describes.

    Raises:
        ConfigUnreadable: where there is no readable config.
        ModelUnknown: where it names code or classes that are not installed.
    """
    file = folder / "config.json"
    try:
        values = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigUnreadable(f"reading {file}: {error}") from error
    if not isinstance(values, dict):
        raise ConfigUnreadable(f"reading {file}: a config is one JSON object, found {type(values).__name__}")
    if trusted and "auto_map" in values:
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
    """The model that the fields of a config describe.

    Raises:
        ModelUnknown: as `from_folder`.
    """
    if "auto_map" in values:
        raise ModelUnknown(
            f"building {model_id}: its config names code of its own (auto_map), not run unless asked\n"
            "  if you trust it: --trust-remote-code; or name a factory of yours: package.module:function"
        )
    config = config_from(values, source)
    return ModelSource(model_id, _class_of(config, values.get("architectures"), source), config, source)


def config_from(values: dict[str, object], source: str) -> PreTrainedConfig:
    """The config object of a dictionary, by its model_type."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    accept_symbolic_sizes()
    kind = values.get("model_type")
    known = sorted(str(key) for key in CONFIG_MAPPING)
    if not isinstance(kind, str) or kind not in known:
        near = ", ".join(get_close_matches(str(kind), known, 3)) or "none is near"
        raise ModelUnknown(f"building from {source}: transformers knows no model_type {kind!r} ({near})")
    try:
        return CONFIG_MAPPING[kind].from_dict(values)
    except Exception as error:
        raise ModelUnknown(f"building from {source}: {type(error).__name__}: {error}") from error


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
    return ModelSource(config.model_type, _class_of(config, None, path), config, f"defaults of {path}")


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


def _class_of(config: PreTrainedConfig, listed: object, source: str) -> type[PreTrainedModel]:
    """The class that the config lists first, else the one that the Auto classes lead to."""
    import transformers

    names = [n for n in listed if isinstance(n, str)] if isinstance(listed, list) else []
    for name in names or _automatic(config.model_type):
        found = getattr(transformers, name, None)
        if isinstance(found, type):
            return cast("type[PreTrainedModel]", found)
    tried = ", ".join(names or _automatic(config.model_type)) or "none is known"
    raise ModelUnknown(f"building from {source}: no class of transformers for {config.model_type}: {tried}")


def _automatic(model_type: str) -> list[str]:
    auto = importlib.import_module("transformers.models.auto.modeling_auto")
    found: list[str] = []
    for table in TABLES:
        name = getattr(auto, table).get(model_type)
        found += [name] if isinstance(name, str) else list(name or ())
    return found
