"""What a user asked of a model in, everything wrong with it told at once; the analysis at that point out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import JsonValue

from forwardbook.errors import ForwardbookError
from forwardbook.models.analysis import Analysis, PhaseAnalysis
from forwardbook.models.architecture import Architecture
from forwardbook.models.memory import cached, memory
from forwardbook.models.record import POSITIONS, PhaseCosts
from forwardbook.models.roofline import Device
from forwardbook.models.totals import NO_STATE, Attention, NoFormulas, SizesRefused, Widths, evaluate
from forwardbook.models.usual import LENGTHS, USUAL
from forwardbook.pipeline.model.find import changed, find_model, with_frames, with_image_size
from forwardbook.pipeline.model.pipeline import Model, Told
from forwardbook.pipeline.model.source import ConfigUnreadable, ModelRefused, ModelUnknown
from forwardbook.profiling.peaks import UnknownDevice, devices_named
from forwardbook.workspace.model_files import ModelFiles

if TYPE_CHECKING:
    from forwardbook.agents.choose import Chosen

PhaseChoice = Literal["prefill", "decode", "both"]
LONGEST = ("max_position_embeddings", "n_positions", "max_target_positions")


@dataclass(frozen=True)
class Request:
    """A model, the sizes of a call, the widths, and what else the answer shall tell."""

    model: str
    sizes: Mapping[str, int] = field(default_factory=dict)
    bits: Mapping[str, int] = field(default_factory=dict)
    phase: PhaseChoice = "prefill"
    attention: Attention = "dense"
    devices: Sequence[str] = ()
    image_size: int | None = None
    num_frames: int | None = None
    fields: Mapping[str, JsonValue] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    trusted: bool = False
    chosen: Chosen | None = None
    """Who is asked about a config that no rule knows; by default nobody."""

    @property
    def phases(self) -> tuple[str, ...]:
        """The phases asked for."""
        return ("prefill", "decode") if self.phase == "both" else (self.phase,)


@dataclass
class Checked:
    """A request with everything in it found and in order."""

    request: Request
    model: Model
    widths: Widths
    devices: tuple[Device, ...]
    sizes: dict[str, int]
    """Those given, and the usual ones for others: of these a model has only some."""

    @property
    def phases(self) -> tuple[str, ...]:
        """The phases asked for; of both, those that the model has."""
        one = self.request.phase == "both" and not self.model.generates
        return ("prefill",) if one else self.request.phases


def checked(
    request: Request, kept: ModelFiles, told: Told = lambda text: None, *, need_sizes: bool = True
) -> Checked:
    """The request with its model and devices found.

    Raises:
        ForwardbookError: with all that is wrong in one message.
    """
    problems: list[ForwardbookError] = []
    widths, devices = Widths(), list[Device]()
    try:
        widths = Widths(**request.bits)
    except SizesRefused as error:
        problems.append(error)
    for name in request.devices:
        try:
            devices += [one for one in devices_named(name) if one not in devices]
        except UnknownDevice as error:
            problems.append(error)
    given = dict(request.sizes)
    shaped = {"image_size": request.image_size, "num_frames": request.num_frames}
    given |= {name: size for name, size in shaped.items() if size is not None}
    if small := [f"{name} = {size}" for name, size in given.items() if size < 1]:
        problems.append(SizesRefused(f"reading the sizes: must be at least 1: {', '.join(small)}"))
    model: Model | None = None
    try:
        found = _found(request, kept, told)
        found = changed(found, request.fields)
        if request.image_size is not None and request.image_size > 0:
            found = with_image_size(found, request.image_size)
        if request.num_frames is not None and request.num_frames > 0:
            found = with_frames(found, request.num_frames)
        model = Model(found, kept, told)
    except ForwardbookError as error:
        problems.append(error)
    sizes = dict(request.sizes)
    if model is not None and need_sizes:
        sizes = _with_usual(sizes, request)
    if problems or model is None:
        kind = type(problems[0]) if len({type(p) for p in problems}) == 1 else SizesRefused
        raise kind("\n".join(str(problem) for problem in problems))
    return Checked(request, model, widths, tuple(devices), sizes)


def _found(request: Request, kept: ModelFiles, told: Told) -> Architecture:
    """The architecture; of a config that no rule knows the one that whoever was chosen proposed."""
    try:
        return find_model(request.model, kept, request.inputs, request.trusted)
    except ModelUnknown as error:
        file = config_file(request.model)
        if file is None or isinstance(error, ConfigUnreadable):
            raise
        if request.chosen is None:
            raise ModelUnknown(f"{error}\n  or ask a model how it is built: --analyst api") from error
        from forwardbook.pipeline.agent.structure import proposed

        told("asking how the model is built")
        return proposed(file, request.chosen, kept.root)


def config_file(name: str) -> Path | None:
    """The config.json that a name stands for, None where it stands for none."""
    path = Path(name)
    file = path / "config.json" if path.is_dir() else path
    return file if file.name == "config.json" and file.is_file() else None


def _with_usual(sizes: Mapping[str, int], request: Request) -> dict[str, int]:
    """The sizes given, and the usual ones for others; decode after a prefill of these sizes."""
    found = {**USUAL, **sizes}
    if "kv_len" not in sizes and (length := sizes.get("decoder_seq_len", sizes.get("seq_len"))) is not None:
        found["kv_len"] = length
    return found


def analyse(asked: Checked) -> Analysis:
    """The analysis at one point.

    Raises:
        SizesRefused: for sizes that are missing.
        ModelRefused: where the model cannot be run at these sizes.
    """
    model, widths = asked.model, asked.widths
    notes: list[str] = []
    phases: list[PhaseAnalysis] = []
    at = dict(asked.sizes)
    for name in asked.phases:
        try:
            if "seq_len" not in asked.request.sizes:
                at["seq_len"] = _usual_length(model, name, at, widths)
            costs = model.phase(name, at, widths)
        except ModelRefused as error:
            if not phases:
                raise
            notes.append(f"{name} is not told: {error}")
            continue
        sizes = sizes_of(costs, at)
        if name == "prefill" and "kv_len" not in asked.request.sizes:
            at["kv_len"] = cached(sizes)  # decode goes on from there
        totals = evaluate(costs, sizes, widths, asked.request.attention)
        decode = _decode(model, costs, sizes, widths, notes)
        phases.append(PhaseAnalysis(costs, totals, memory(costs, sizes, widths, decode)))
        if totals.unknown_masks:
            notes.append(
                f"{name}: the masks of {', '.join(dict.fromkeys(totals.unknown_masks))} have no known shape; "
                "their attention is counted dense"
            )
    notes += _cautions(model.architecture, asked, phases)
    assert model.costs is not None
    return Analysis(
        architecture=model.architecture,
        costs=model.costs,
        phases=tuple(phases),
        widths=widths,
        attention=asked.request.attention,
        devices=asked.devices,
        notes=tuple(notes),
    )


def _usual_length(model: Model, phase: str, sizes: Mapping[str, int], widths: Widths) -> int:
    """The first of the usual lengths at which the formulas of a phase hold: a BERT takes no more than 512."""
    if not model.knows(phase):
        model.phase(phase, {**sizes, "seq_len": LENGTHS[-1]}, widths)
    for length in LENGTHS:
        if model.knows(phase, {**sizes, "seq_len": length}, widths):
            return length
    return LENGTHS[0]


def sizes_of(costs: PhaseCosts, sizes: Mapping[str, int]) -> dict[str, int]:
    """Of the sizes those that the formulas of a phase have."""
    return {p.name: sizes[p.name] for p in costs.parameters}


def _decode(
    model: Model, costs: PhaseCosts, sizes: Mapping[str, int], widths: Widths, notes: list[str]
) -> PhaseCosts | None:
    """The decode whose cache a prefill makes; none for a model that has none."""
    if costs.phase == "decode" or not model.generates:
        return None
    after = {**sizes, "kv_len": cached(sizes)}
    try:
        return model.phase("decode", after, widths)
    except (NoFormulas, ModelRefused, SizesRefused) as error:
        notes.append(f"the size of the cache is not known: {str(error).splitlines()[0]}")
        return None


def _cautions(architecture: Architecture, asked: Checked, phases: Sequence[PhaseAnalysis]) -> list[str]:
    """What a careful reader would want to be told about these sizes."""
    found = [f"structure {architecture.proposal}"] if architecture.proposal else []
    found += architecture.notes
    used = {name: size for phase in phases for name, size in phase.totals.sizes.items()}
    given = set(asked.request.sizes)
    if asked.phases != asked.request.phases:
        found.append(f"{NO_STATE}: told is its prefill")
    if taken := [f"--{name} {size}" for name, size in used.items() if name not in {*given, "kv_len"}]:
        found.append(f"sizes that were not given are the usual ones: {' '.join(taken)}")
    longest = made_for(architecture)
    reached = max((used.get(n, 0) for n in POSITIONS), default=0)
    if longest is not None and reached > longest:
        found.append(f"{reached} positions are more than the {longest} that the model was made for")
    if "kv_len" in used and "kv_len" not in given:
        found.append(f"decode is one token after {used['kv_len']} positions (--kv_len)")
        given -= {next((n for n in ("decoder_seq_len", "seq_len") if n in given), "")}
    if ignored := sorted(given - used.keys()):
        found.append(f"not a size of this model in this phase: {', '.join(ignored)}")
    return found


def made_for(architecture: Architecture) -> int | None:
    """The positions that the config says the model was made for."""
    config = architecture.config.get("text_config") or architecture.config
    found = next((config[n] for n in LONGEST if isinstance(config, dict) and config.get(n)), None)
    return found if isinstance(found, int) else None
