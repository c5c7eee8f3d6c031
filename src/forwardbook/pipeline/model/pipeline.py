"""An architecture in; its formulas for a phase and sizes out: kept ones, or derived and proved just now."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forwardbook.analyzers.ops import RULES_VERSION
from forwardbook.formula import Condition
from forwardbook.models.architecture import Architecture
from forwardbook.models.record import ModelCosts, PhaseCosts, tells_width
from forwardbook.models.totals import NoFormulas, SizesRefused, Widths, holding, holds, is_same_call
from forwardbook.pipeline.model.find import config_digest
from forwardbook.pipeline.model.source import (
    HangsOnData,
    ModelRefused,
    NoPolynomial,
    config_of,
    model_named,
)
from forwardbook.pipeline.model.user import built, user_phases
from forwardbook.pipeline.versions import current_versions, differing
from forwardbook.profiling.raised import first_line_kept
from forwardbook.workspace.model_files import ModelFiles
from forwardbook.workspace.storage import WorkspaceError

if TYPE_CHECKING:
    import torch
    from torch import nn

    from forwardbook.analyzers.instances.pretrained.whole import Phase

SEED = 20240229
FEW = 3  # a size read as a symbol is well above 1, or comparisons with 1 would decide what is read

Told = Callable[[str], None]


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
        dtype = dtype_of(widths.a_bit)
        chosen = next((p for p in self.phases() if p.name == name), None)
        if chosen is None:
            return holding(known, name, sizes, widths)
        self.told(f"deriving {name} of {self.architecture.model_id}")
        first = not any(p.phase == name and p.proof.dtype == _name(dtype) for p in known)
        try:
            found = self._usual(chosen, dtype) if first else self._at(chosen, dtype, sizes, widths)
        except HangsOnData as refused:
            found = self._balanced(chosen, dtype, sizes, refused.sizes)
        except NoPolynomial:  # about the sizes that are tried first lies a bend, such as a window's end
            if not first:
                raise
            found = self._at(chosen, dtype, sizes, widths)
        self._refuse_another_call(found, sizes, widths)
        self._keep(found)
        try:
            return holding(self._known(), name, sizes, widths)
        except NoFormulas:
            found = self._at(chosen, dtype, sizes, widths)
            self._refuse_another_call(found, sizes, widths)
            self._keep(found)
            return holding(self._known(), name, sizes, widths)

    def knows(self, name: str, sizes: Mapping[str, int] | None = None, widths: Widths | None = None) -> bool:
        """Whether there are formulas of a phase, or formulas that hold at these sizes."""
        known = [p for p in self._known() if p.phase == name]
        if sizes is None or not known:
            return bool(known)
        try:
            return bool(holding(known, name, sizes, widths or Widths()))
        except (NoFormulas, SizesRefused):
            return False

    @property
    def generates(self) -> bool:
        """Whether the model has a decode."""
        if self.costs and any(p.phase == "decode" for p in self.costs.phases):
            return True
        if self.costs and self.costs.generates is not None:
            return self.costs.generates
        return any(p.name == "decode" for p in self.phases())

    def derive(self, phase: Phase) -> None:
        """The usual formulas of a phase: activations narrower than four bytes, any larger sizes."""
        self._keep(self._usual(phase, dtype_of(16)))

    def phases(self) -> list[Phase]:
        """How the model is called."""
        if self._phases is None:
            self._phases = self._made_phases()
        return self._phases

    def _made_phases(self) -> list[Phase]:
        from forwardbook.analyzers.instances.pretrained.whole import phases_of

        one = self.architecture
        if one.inputs:
            return user_phases(one.model_class, one.inputs)
        config = config_of(one)
        try:
            return phases_of(model_named(one.model_class), config)
        except Exception as error:
            raise ModelRefused(f"building {one.model_id}: {first_line_kept(error)}") from error

    def _usual(self, phase: Phase, dtype: torch.dtype) -> PhaseCosts:
        from forwardbook.pipeline.model.costs import phase_costs

        return phase_costs(phase, dtype, SEED)

    def _at(self, phase: Phase, dtype: torch.dtype, sizes: Mapping[str, int], widths: Widths) -> PhaseCosts:
        """Formulas around the sizes asked for; a size of 1 is a number in them only where it must be."""
        ones = {name for name, size in sizes.items() if size == 1}
        known = (p for p in self._known() if p.phase == phase.name and p.proof.dtype == _name(dtype))
        unmet = [c for p in known for c in p.conditions if not holds(c, sizes, widths)]
        in_the_way = {name for text in unmet for name in Condition.parse(text).symbols()}
        near = {name: max(size, FEW) for name, size in sizes.items()}
        pinned = dict.fromkeys(ones & in_the_way, 1)
        # where only sizes of 1 are in the way, small hints do: loops over a sequence run far quicker
        only_ones = bool(pinned) and in_the_way <= ones
        less = near if only_ones else _halved(near, in_the_way, unmet, widths)
        kept = _tried(phase, dtype, less, pinned) if less != near else None
        if kept is not None and all(holds(text, sizes, widths) for text in kept.conditions):
            return kept
        for hints in (None, near) if only_ones else (near,):
            found = _proved(phase, dtype, sizes, hints, pinned)
            if all(holds(text, sizes, widths) for text in found.conditions):
                return found
        return _proved(phase, dtype, sizes, near, dict.fromkeys(ones, 1))

    def _refuse_another_call(self, found: PhaseCosts, sizes: Mapping[str, int], widths: Widths) -> None:
        """Inputs that run at any size do not stand in for the usual ones where these do not run."""
        usual = next((p for p in self._known() if p.phase == found.phase), found)
        if not is_same_call(found, usual):
            unmet = [text for text in usual.conditions if not holds(text, sizes, widths)]
            raise ModelRefused(
                f"running {self.architecture.model_id} ({found.phase}): it does not run at these sizes; "
                f"its formulas hold where {' and '.join(unmet)}"
            )

    def _balanced(
        self, phase: Phase, dtype: torch.dtype, sizes: Mapping[str, int], needed: Sequence[str]
    ) -> PhaseCosts:
        """What a model costs at these sizes alone if routing is balanced: data decides what else it costs."""
        from forwardbook.pipeline.model.costs import phase_costs

        if missing := [name for name in needed if name not in sizes]:
            raise SizesRefused(f"evaluating {phase.name}: missing: {', '.join(missing)}")
        self.told(f"{phase.name} hangs on data: deriving it at these sizes, with balanced routing")
        at = {name: sizes[name] for name in needed}
        return phase_costs(phase, dtype, SEED, at, at, balanced=True)

    def _known(self) -> list[PhaseCosts]:
        return self.costs.phases if self.costs else []

    def _stored(self) -> ModelCosts | None:
        """The formulas on disk, where they are of this config, these rules and libraries, in any width."""
        digest = config_digest(self.architecture)
        for found in self.kept.costs(self.architecture.model_id):
            matter = {name: text for name, text in found.versions.items() if name != "python"}
            if found.parameter_count and not all(tells_width(p.model.costs.weights) for p in found.phases):
                continue
            # of its operations nothing is kept: where one costs another amount, so is COSTS_VERSION
            if found.config_digest == digest and not differing(matter, found.rules_version, ()):
                return found
        return None

    def _keep(self, found: PhaseCosts) -> None:
        if found.proof.verdict != "exact":
            raise ModelRefused(
                f"proving {self.architecture.model_id} ({found.phase}): formulas differ from what ran: "
                + "; ".join(found.proof.differences[:5])
            )
        if self.costs is None:
            self.costs = self._empty()
        self.costs = self.costs.model_copy(update={"phases": [*self.costs.phases, found]})
        try:
            self.kept.write_costs(self.costs)
        except WorkspaceError as error:
            self.told(f"the formulas are not kept for the next time: {error}")

    def _empty(self) -> ModelCosts:
        import torch

        from forwardbook.analyzers.symbolic.run import default_dtype

        narrow = torch.bfloat16
        with default_dtype(narrow):  # what is not of this type is of its own in every width
            model = self.module()
        buffers = list(model.buffers())
        return ModelCosts(
            model_id=self.architecture.model_id,
            model_class=self.architecture.model_class,
            config_digest=config_digest(self.architecture),
            versions=current_versions("transformers"),
            rules_version=RULES_VERSION,
            parameter_count=sum(p.numel() for p in model.parameters()),
            buffer_elements=sum(b.numel() for b in buffers if b.dtype == narrow),
            buffer_bytes=sum(b.numel() * b.element_size() for b in buffers if b.dtype != narrow),
            generates=any(p.name == "decode" for p in self.phases()),
            phases=[],
        )

    def module(self) -> nn.Module:
        """The model, built on the meta device without weights."""
        import torch

        from forwardbook.analyzers.instances.pretrained.models import instantiate

        one = self.architecture
        if one.inputs:
            return built(one.model_class)
        with torch.device("meta"):
            return instantiate(model_named(one.model_class), config_of(one))


def _halved(
    near: Mapping[str, int], in_the_way: Set[str], unmet: Sequence[str], widths: Widths
) -> dict[str, int]:
    """Sizes smaller by halves that meet none of the conditions either: a loop over chunks runs quicker."""
    small = dict(near)
    for name in sorted(in_the_way & near.keys()):
        while small[name] % 2 == 0 and small[name] > 2 * FEW:
            halved = {**small, name: small[name] // 2}
            if any(holds(text, halved, widths) for text in unmet):
                break
            small = halved
    return small


def _tried(
    phase: Phase, dtype: torch.dtype, hints: Mapping[str, int], pinned: Mapping[str, int]
) -> PhaseCosts | None:
    """Formulas that were read at other sizes than those asked for; None where there are none."""
    from forwardbook.pipeline.model.costs import phase_costs

    try:
        found = phase_costs(phase, dtype, SEED, hints, pinned)
    except ModelRefused:
        return None
    return found if found.proof.verdict == "exact" else None


def _proved(
    phase: Phase,
    dtype: torch.dtype,
    sizes: Mapping[str, int],
    hints: Mapping[str, int] | None,
    pinned: Mapping[str, int],
) -> PhaseCosts:
    """Formulas in which a size is a number too where costs are no polynomial in it, as at one full chunk."""
    from forwardbook.pipeline.model.costs import phase_costs

    fixed = dict(pinned)
    while True:
        try:
            return phase_costs(phase, dtype, SEED, hints, fixed)
        except NoPolynomial as refused:
            if refused.name in fixed:
                raise
            fixed[refused.name] = sizes[refused.name]


def dtype_of(bits: int) -> torch.dtype:
    """The type to derive with: what is computed in four bytes, in more, and in fewer costs differently."""
    import torch

    if bits == 32:
        return torch.float32
    return torch.float64 if bits > 32 else torch.bfloat16


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
