"""A checked configuration in; the stages that it switches on, run one after the other in one folder, out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from forwardbook.configuration.composition import Composed
from forwardbook.configuration.overrides import ConfigurationError
from forwardbook.configuration.schema import Configuration
from forwardbook.pipeline.configured.tools import TOOLS, Tool, expression, run_stage_two
from forwardbook.workspace.run_folder import RunFolder, run_folder

if TYPE_CHECKING:
    from forwardbook.inference.filling import Filling
    from forwardbook.models.architecture import Architecture
    from forwardbook.pipeline.profile.settings import Settings

STAGES = ("torch_profiler", "static_analysis", "nsys", "ncu", "direct_inference")
JUDGED = ("flops", "memory")
"""The passes that formulas are held against."""


@dataclass(frozen=True)
class Ran:
    """The folder, the tools that were not there, and how many samples got no prediction."""

    path: Path
    missing: tuple[str, ...] = ()
    failed_samples: int = 0


def run_configured(composed: Composed, wanted: Configuration, told: Callable[[str], None]) -> Ran:
    """Every stage that is switched on: inference, stage 1 with its formulas, stage 2.

    Raises:
        ForwardbookError: where nothing is switched on, or a stage fails; the folder says how far it came.
    """
    stages, named = wanted.pipeline, model_name(wanted)
    looked = _looked_at(wanted)
    missing: list[str] = []
    failed = 0
    with run_folder(Path(wanted.output.root), f"profile run {named}", wanted.output.run_id) as folder:
        told(f"run folder {folder.path}")
        folder.write("config.yaml", composed.text(resolve=True))
        if stages.direct_inference.enable:
            failed = _infer(folder, wanted, told)
        if looked.architecture is not None and looked.settings is not None:
            from forwardbook.pipeline.profile.run import profile_into

            profile_into(folder, looked.architecture, looked.settings, told)
        for tool, chosen in looked.ranges.items():
            missing += run_stage_two(tool, folder, wanted, chosen, told)
        return Ran(folder.path, tuple(missing), failed)


@dataclass(frozen=True)
class _Looked:
    """What stage 1 measures, and how; the range that each tool of stage 2 waits for."""

    architecture: Architecture | None = None
    settings: Settings | None = None
    ranges: Mapping[Tool, str] = field(default_factory=dict)


def _looked_at(wanted: Configuration) -> _Looked:
    """What each stage will do; what none of them can do is said before a folder is made."""
    stages = wanted.pipeline
    enabled = [name for name in STAGES if getattr(stages, name).enable]
    if not enabled:
        raise ConfigurationError(
            "running the pipeline: no stage is switched on; give pipeline.STAGE.enable=true with one of "
            + ", ".join(STAGES)
        )
    if "direct_inference" in enabled:
        from forwardbook.pipeline.configured.inference import plan

        plan(wanted)
    if enabled == ["direct_inference"]:
        return _Looked()
    architecture, weights = choose_model(wanted)
    modules = architecture if stages.torch_profiler.nvtx_modules else None
    ranges: dict[Tool, str] = {}
    for tool in TOOLS:
        if tool in enabled:
            stage = getattr(stages, tool)
            ranges[tool] = expression(tool, stage.range, stage.domain, modules)
    first = "torch_profiler" in enabled or "static_analysis" in enabled
    return _Looked(architecture, settings_of(wanted, weights) if first else None, ranges)


def _infer(folder: RunFolder, wanted: Configuration, told: Callable[[str], None]) -> int:
    from forwardbook.pipeline.configured.inference import infer_into, predictions_lock

    with predictions_lock(folder.path):
        return infer_into(folder, wanted, told).failed


def model_name(wanted: Configuration) -> str:
    """What the model is called.

    Raises:
        ConfigurationError: where none was named.
    """
    name = wanted.model.name or wanted.model.path
    if not name:
        raise ConfigurationError(
            "choosing a model: none is named; give MODEL (an id, a folder, package.module:factory), "
            "or model=OPTION of the configuration"
        )
    return name


def choose_model(wanted: Configuration) -> tuple[Architecture, Path | None]:
    """The architecture, and the folder of its weights where there is one and they are wanted.

    Raises:
        ModelUnknown: where nothing of that name is known here.
    """
    from forwardbook.pipeline.model.find import changed, find_model
    from forwardbook.pipeline.profile.model import weights_in
    from forwardbook.workspace.model_files import ModelFiles

    model = wanted.model
    linked = model.path if model.path and (Path(model.path) / "config.json").is_file() else None
    name = linked or model.name or model_name(wanted)
    kept = ModelFiles(Path.cwd())
    found = changed(find_model(name, kept, model.inputs, model.trust_remote_code), model.fields)
    plain = model.random_weights or bool(model.fields)
    return found, None if plain else weights_in(Path(name))


def settings_of(wanted: Configuration, weights: Path | None) -> Settings:
    """What stage 1 is told; without its own passes those stay that formulas are held against."""
    from forwardbook.pipeline.profile.settings import Settings

    first, runtime = wanted.pipeline.torch_profiler, wanted.runtime
    sizes = {
        "batch_size": runtime.batch_size,
        "seq_len": runtime.seq_len,
        "num_samples": runtime.num_samples,
        **runtime.sizes,
    }
    return Settings(
        sizes={name: size for name, size in sizes.items() if size is not None},
        device=wanted.hardware.device,
        dtype=wanted.dtype,
        new_tokens=runtime.new_tokens,
        repeats=first.repeats,
        warmup=first.warmup,
        seed=runtime.seed,
        passes=first.passes if first.enable else JUDGED,
        nvtx=first.nvtx,
        nvtx_modules=first.nvtx_modules,
        topk=first.output.topk,
        hardware=wanted.hardware.peaks,
        weights=weights,
        static_analysis=wanted.pipeline.static_analysis.enable,
        content=_content(wanted, weights),
    )


def _content(wanted: Configuration, weights: Path | None) -> Filling | None:
    if wanted.dataset.kind == "random":
        return None
    from forwardbook.inference.filling import Filling

    path = wanted.model.path or wanted.model.name
    beside = Path(path) if path and Path(path).is_dir() else None
    return Filling(wanted.dataset, weights or beside)
