"""The fields of a config.json in; out the classes of transformers that they name, and which name none.

Code that a checkpoint brings (`auto_map`) is not looked at: of the classes that it holds, those that
transformers has under the same name are transformers' own.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import PreTrainedModel

# Tables of transformers that lead from a model type to a class, the most specific task first.
TABLES = (
    "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES",
    "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES",
    "MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES",
    "MODEL_MAPPING_NAMES",
)


def listed(values: Mapping[str, object]) -> list[str]:
    """The names under `architectures`."""
    names = values.get("architectures")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def class_called(name: str) -> type[PreTrainedModel] | None:
    """The model class of transformers of that name, letter case and underscores apart."""
    import transformers

    found = getattr(transformers, _names().get(_plain(name), name), None)
    return found if isinstance(found, type) and issubclass(found, transformers.PreTrainedModel) else None


def class_for(model_type: str) -> type[PreTrainedModel] | None:
    """The class that the Auto classes lead to."""
    auto = importlib.import_module("transformers.models.auto.modeling_auto")
    for table in TABLES:
        names = getattr(auto, table).get(model_type) or ()
        for name in [names] if isinstance(names, str) else names:
            if found := class_called(name):
                return found
    return None


def foreign(values: Mapping[str, object]) -> list[str]:
    """The listed classes that only the code of the checkpoint has."""
    brought = {_plain(name) for _, name in _brought(values)}
    return [name for name in listed(values) if _plain(name) in brought and class_called(name) is None]


def lies_in(folder: Path, values: Mapping[str, object]) -> bool:
    """Whether the folder has the files that the config's `auto_map` names."""
    files = {folder / f"{module}.py" for module, _ in _brought(values)}
    return bool(files) and all(file.is_file() for file in files)


def _brought(values: Mapping[str, object]) -> list[tuple[str, str]]:
    """The modules and classes that `auto_map` names: `modeling_x.XModel`, `owner/name--modeling_x.XModel`."""
    table = values.get("auto_map")
    paths: list[object] = []
    for path in table.values() if isinstance(table, dict) else ():
        paths += path if isinstance(path, list) else [path]
    parts = [path.rpartition("--")[2].rpartition(".") for path in paths if isinstance(path, str)]
    return [(module, name) for module, _, name in parts]


@cache
def _names() -> dict[str, str]:
    """The names in transformers by what is compared of them."""
    import transformers

    return {_plain(name): name for name in sorted(dir(transformers), reverse=True)}


def _plain(name: str) -> str:
    return name.replace("_", "").casefold()
