"""A model's name in; its architecture and formulas out, found, derived where missing, and kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import torch

from forwardbook.analyzers.instances.pretrained.models import instantiate
from forwardbook.analyzers.instances.pretrained.whole import Phase, phases_of
from forwardbook.analyzers.ops import RULES_VERSION
from forwardbook.models.architecture import Architecture
from forwardbook.models.record import ModelCosts, PhaseCosts
from forwardbook.models.totals import NoFormulas, Widths, holding
from forwardbook.pipeline.model_architecture import architecture_of
from forwardbook.pipeline.model_costs import ModelRefused, phase_costs
from forwardbook.pipeline.model_source import (
    ModelSource,
    ModelUnknown,
    config_from,
    from_config_class,
    from_folder,
    model_named,
)
from forwardbook.pipeline.versions import current_versions
from forwardbook.workspace.model_files import ModelFiles, read_architecture

SEED = 20240229
HINTS = {"batch_size": 3, "seq_len": 17, "decoder_seq_len": 13, "kv_len": 23}

Told = Callable[[str], None]


def find_model(name: str, kept: ModelFiles) -> Architecture:
    """The architecture of what a user named: an id, an alias, a file, a folder with a config, a config class.

    Raises:
        ModelUnknown: where nothing of that name is known here; nothing is ever downloaded.
    """
    found = kept.find(name)
    if found is not None:
        return found
    path = Path(name)
    if path.is_file() and path.suffix == ".json" and path.name != "config.json":
        return read_architecture(path)
    if path.is_file() and path.name == "config.json":
        return described(from_folder(path.parent))
    if path.is_dir():
        return described(from_folder(path))
    if name.count(".") > 1 and name.replace(".", "_").isidentifier():
        return described(from_config_class(name))
    near = get_close_matches(name.rpartition("/")[2].lower(), kept.ids(), 4, 0.4)
    raise ModelUnknown(
        f"looking for the model {name}: no shipped id, file, folder or class, and nothing is downloaded\n"
        f"  shipped: {', '.join(near or kept.ids()[:8])}{'' if near else ', ...'}\n"
        "  or download its config.json and name the folder that holds it"
    )


def described(source: ModelSource) -> Architecture:
    """The architecture of a model that can be built.

    Raises:
        ModelUnknown: where its constructor refuses the config.
    """
    try:
        return architecture_of(source.model_id, source.model_class, source.config, source=source.source)
    except Exception as error:
        raise ModelUnknown(f"building {source.model_id}: {type(error).__name__}: {error}") from error


def config_digest(architecture: Architecture) -> str:
    """What formulas depend on: the class and every field of the config."""
    text = json.dumps([architecture.model_class, architecture.config], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass
class Model:
    """A model whose formulas are derived as they are asked for, and kept."""

    architecture: Architecture
    kept: ModelFiles
    told: Told = lambda text: None

    def __post_init__(self) -> None:
        self._phases: list[Phase] | None = None
        self.costs = self._stored()

    def phase(self, name: str, sizes: Mapping[str, int], widths: Widths) -> PhaseCosts:
        """The formulas of a phase that hold at these sizes, derived and proved now where none do.

        Raises:
            SizesRefused: for sizes that are missing or mean nothing.
            ModelRefused: where the model cannot be run, or the proof failed.
        """
        known = self.costs.phases if self.costs else []
        if any(p.phase == name for p in known):
            try:
                return holding(known, name, sizes, widths)
            except NoFormulas as error:
                self.told(f"{error}; deriving them")
        dtype = torch.float32 if widths.a_bit == 32 else torch.bfloat16
        chosen = next((p for p in self.phases() if p.name == name), None)
        if chosen is None:
            return holding(known, name, sizes, widths)
        self.told(f"deriving {name} of {self.architecture.model_id}")
        near = not any(p.phase == name and _width(p) == (dtype == torch.float32) for p in known)
        found = phase_costs(chosen, dtype, SEED) if near else self._at(chosen, dtype, sizes)
        self._keep(found)
        try:
            return holding(self.costs.phases if self.costs else [found], name, sizes, widths)
        except NoFormulas:
            self._keep(self._at(chosen, dtype, sizes))
            return holding(self.costs.phases if self.costs else [], name, sizes, widths)

    def phases(self) -> list[Phase]:
        """How the model is called."""
        if self._phases is None:
            config = config_from(dict(self.architecture.config), self.architecture.model_id)
            try:
                self._phases = phases_of(model_named(self.architecture.model_class), config)
            except Exception as error:
                raise ModelRefused(
                    f"building {self.architecture.model_id}: {type(error).__name__}: {error}"
                ) from error
        return self._phases

    def _at(self, phase: Phase, dtype: torch.dtype, sizes: Mapping[str, int]) -> PhaseCosts:
        """Formulas around the sizes asked for; a size of 1 is a number in them."""
        pinned = {name: 1 for name, size in sizes.items() if size == 1}
        return phase_costs(phase, dtype, SEED, sizes, pinned)

    def _stored(self) -> ModelCosts | None:
        """The formulas on disk, where they are of this config, these rules and libraries."""
        found = self.kept.costs(self.architecture.model_id)
        now = current_versions("transformers")
        fresh = found is not None and (
            found.config_digest == config_digest(self.architecture)
            and found.rules_version == RULES_VERSION
            and all(found.versions.get(name) == now[name] for name in ("torch", "transformers"))
        )
        return found if fresh else None

    def _keep(self, found: PhaseCosts) -> None:
        if found.proof.verdict != "exact":
            raise ModelRefused(
                f"proving {self.architecture.model_id} ({found.phase}): formulas differ from what ran: "
                + "; ".join(found.proof.differences[:5])
            )
        if self.costs is None:
            self.costs = self._empty()
        self.costs = self.costs.model_copy(update={"phases": [*self.costs.phases, found]})
        self.kept.write_costs(self.costs)

    def _empty(self) -> ModelCosts:
        config = config_from(dict(self.architecture.config), self.architecture.model_id)
        with torch.device("meta"):
            model = instantiate(model_named(self.architecture.model_class), config)
        return ModelCosts(
            model_id=self.architecture.model_id,
            model_class=self.architecture.model_class,
            config_digest=config_digest(self.architecture),
            versions=current_versions("transformers"),
            rules_version=RULES_VERSION,
            parameter_count=sum(p.numel() for p in model.parameters()),
            buffer_bytes=sum(b.numel() * b.element_size() for b in model.buffers()),
            phases=[],
        )


def _width(phase: PhaseCosts) -> bool:
    """Whether the formulas are those of activations of four bytes."""
    return "{a_dtype_bytes} == 4" in phase.conditions
