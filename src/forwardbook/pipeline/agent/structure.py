"""A configuration that no rule knows in; the structure that a model proposed, built and counted, out."""

from __future__ import annotations

import asyncio
import importlib
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from forwardbook.agents.analyst import Failure, Task
from forwardbook.agents.choose import Chosen
from forwardbook.agents.flow import diagnostics, settle_all
from forwardbook.agents.requests import Preview
from forwardbook.agents.roles.architecture_analyst import ROLE, Structure, count_of, task
from forwardbook.agents.served import NotServed, lines_of
from forwardbook.models.architecture import Architecture
from forwardbook.pipeline.child.job import Limits
from forwardbook.pipeline.child.process import run_child
from forwardbook.pipeline.child.request import Request
from forwardbook.pipeline.model.classes import TABLES
from forwardbook.pipeline.model.source import ModelUnknown
from forwardbook.pipeline.model.stated_weights import stated_weights
from forwardbook.pipeline.store import write_diagnostics
from forwardbook.workspace import Workspace

_WORK: Final = "forwardbook.pipeline.agent.structure_work"
LIMITS: Final = Limits(memory_gb=8.0, seconds=120.0)
_FILES: Final = 20  # Python files of the folder that may be asked for


@dataclass
class Check:
    """Builds structures in child processes and counts; keeps the last architecture that fitted."""

    config: Mapping[str, JsonValue]
    stated: tuple[int, str] | None
    found: Architecture | None = None

    async def __call__(self, value: Structure, values: Mapping[str, JsonValue]) -> str:
        """Why a structure does not fit; empty where it does."""
        request = Request(target=value.model_class, claim=dict(values))
        response = await asyncio.to_thread(run_child, request, LIMITS, f"{_WORK}:build")
        if response.problem is not None:
            return response.plainly(request.target)
        made = Architecture.model_validate(response.diagnostics["architecture"])
        counts = response.diagnostics["counts"]
        assert isinstance(counts, list)
        problems = "\n".join(self._problems(value, made, [int(str(one)) for one in counts]))
        self.found = None if problems else made
        return problems

    def _problems(self, value: Structure, made: Architecture, counts: list[int]) -> Iterator[str]:
        built = Counter[str]()
        for top in made.layers:
            for _, times, layer in top.walk():
                built[layer.class_name.rpartition(".")[2]] += times
        named = {part.class_name.rpartition(".")[2]: count_of(part, self.config) for part in value.parts}
        for name, count in named.items():
            if built[name] != count:
                yield f"{name}: you say {count}, built are {built[name]} of {', '.join(sorted(built))}"
        repeated = {_of(one.class_name) for top in made.layers for _, _, one in top.walk() if one.repeat > 1}
        if left := sorted(repeated - named.keys()):
            yield f"parts that repeat are not named: {', '.join(left)}"
        if self.stated is not None and self.stated[0] not in counts:
            number, file = self.stated
            yield f"it has {counts[0]:,} parameters; {file} states {number:,}"


def proposed(config_file: Path, chosen: Chosen, root: Path) -> Architecture:
    """Ask the chosen analyst how a folder's model is built; only what is built and counted comes back.

    Raises:
        ModelUnknown: no answer held; the diagnostics are on disk.
    """
    asked, check = _task(config_file, chosen)
    [outcome] = asyncio.run(settle_all([asked], chosen.analyst))
    name = config_file.resolve().parent.name
    if isinstance(outcome, Failure):
        path = write_diagnostics(name, diagnostics(asked, chosen.analyst.model, outcome), Workspace(root))
        raise ModelUnknown(
            f"asking {chosen.analyst.model} how {name} is built: unresolved ({outcome.kind}): "
            f"{outcome.detail}\n  nothing was stored; all that was said is in {path}"
        )
    assert check.found is not None and isinstance(outcome.value, Structure)
    told = f"proposed by {outcome.model} as {outcome.value.model_class}; built and counted"
    if check.stated is not None:
        told += f"; its {check.stated[0]:,} parameters are those of {check.stated[1]}"
    else:
        told += "; nothing in the folder states how many parameters there are"
    update = {"model_id": name, "source": str(config_file), "proposal": told}
    return check.found.model_copy(update=update)


def previewed(config_file: Path, chosen: Chosen) -> Preview:
    """What would be sent, and the most that it could cost."""
    return chosen.preview(_task(config_file, chosen)[0])


def _task(config_file: Path, chosen: Chosen) -> tuple[Task, Check]:
    config = _read(config_file)
    folder = config_file.parent
    check = Check(config, stated_weights(folder, config))
    texts = dict(_texts(folder))
    asked = task(config, config_file.name, _classes(), texts, check, _fields(), chosen.limits(ROLE))
    return asked, check


def _read(config_file: Path) -> dict[str, JsonValue]:
    try:
        found = json.loads(config_file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise ModelUnknown(f"reading {config_file}: {error}") from error
    if not isinstance(found, dict):
        raise ModelUnknown(f"reading {config_file}: a config is one JSON object")
    return found


def _texts(folder: Path) -> Iterator[tuple[str, str]]:
    """The Python files of the folder as text; what leads out of it is not served."""
    for path in sorted(folder.glob("*.py"))[:_FILES]:
        try:
            yield path.name, lines_of(path, [folder])
        except NotServed:
            continue


def _classes() -> list[str]:
    """The classes of models that transformers builds from a configuration alone."""
    auto = importlib.import_module("transformers.models.auto.modeling_auto")
    found: set[str] = set()
    for table in TABLES:
        for name in getattr(auto, table).values():
            found |= {name} if isinstance(name, str) else set(name)
    return sorted(found)


def _fields() -> Callable[[str], Awaitable[str]]:
    async def fields(name: str) -> str:
        response = await asyncio.to_thread(run_child, Request(target=name), LIMITS, f"{_WORK}:fields")
        if response.problem is not None:
            return response.plainly(name)
        return json.dumps(response.diagnostics["fields"], indent=1)

    return fields


def _of(class_name: str) -> str:
    return class_name.rpartition(".")[2]
