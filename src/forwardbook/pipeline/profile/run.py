"""A model and settings in; all that was measured of it, beside its formulas, in a folder of its own out."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from forwardbook.errors import ForwardbookError
from forwardbook.models.architecture import Architecture
from forwardbook.pipeline.profile.compare import CallComparison, compare_calls
from forwardbook.pipeline.profile.model import Prepared, prepared
from forwardbook.pipeline.profile.pages import (
    Results,
    operators_page,
    report_page,
    stakeholder_page,
    static_page,
)
from forwardbook.pipeline.profile.predict import Predictor
from forwardbook.pipeline.profile.rates import device_peaks, rates_of
from forwardbook.pipeline.profile.settings import (
    PASSES,
    Settings,
    assumptions_text,
    device_and_dtype,
    inputs_text,
)
from forwardbook.workspace.run_folder import RunFolder, run_folder

METRICS_VERSION: Final = 1
FOLDER: Final = "torch_profiler"


class PassFailed(ForwardbookError):
    """A pass that torch could not run; the folder keeps what was measured before."""


def profile_model(
    architecture: Architecture,
    settings: Settings,
    root: Path,
    run_id: str = "",
    told: Callable[[str], None] = lambda text: None,
    config: str = "",
) -> Path:
    """The folder of a finished run.

    Raises:
        ForwardbookError: where the model cannot be built or run; the folder says how far it came.
    """
    with run_folder(root, f"profile run {architecture.model_id}", run_id) as folder:
        told(f"run folder {folder.path}")
        if config:
            folder.write("config.yaml", config)
        profile_into(folder, architecture, settings, told)
        return folder.path


def profile_into(
    folder: RunFolder, architecture: Architecture, settings: Settings, told: Callable[[str], None]
) -> None:
    """The same within a run that has further stages."""
    _Run(architecture, settings, folder, told).all()


@dataclass
class _Run:
    architecture: Architecture
    settings: Settings
    folder: RunFolder
    told: Callable[[str], None]
    metrics: dict[str, Any] = field(default_factory=dict)

    def all(self) -> None:
        """Every pass, written as soon as it is done."""
        self.begin()
        ready = self.prepare()
        settings = self.settings
        self.results = Results(
            self.architecture, ready, settings.device, settings.dtype, settings.static_analysis
        )
        for name in PASSES:
            if name in self.settings.passes:
                self.step(name)
                self.measure(name, ready)
                self.save("partial")
        if self.settings.static_analysis:
            self.step("static_analysis")
            self.compare(ready)
        self.step("reports")
        self.rates(ready)
        self.save("complete")
        self.pages()

    def measure(self, name: str, ready: Prepared) -> None:
        """One pass; what torch refuses is an error of ours that names the pass."""
        try:
            getattr(self, f"pass_{name}")(ready)
        except (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError) as error:
            self.folder.write("error.txt", "".join(traceback.format_exception(error)))
            first = next(iter(str(error).splitlines()), "")
            raise PassFailed(
                f"measuring {name} of {self.architecture.model_id} on {self.settings.device} in "
                f"{self.settings.dtype}: {type(error).__name__}: {first}\n"
                f"  what was measured before is in {self.folder.path}, the traceback in its error.txt"
            ) from error

    def step(self, name: str) -> None:
        self.folder.step(name)
        self.told(name)

    def write(self, name: str, text: str) -> None:
        self.folder.write(f"{FOLDER}/{name}", text)

    def begin(self) -> None:
        from forwardbook.profiling.machine import machine

        self.step("environment")
        self.write("env.json", json.dumps({"env_version": 1, **machine()}, indent=1) + "\n")

    def prepare(self) -> Prepared:
        self.step("build")
        settings = self.settings
        ready = prepared(
            self.architecture,
            settings.sizes,
            *device_and_dtype(settings.device, settings.dtype),
            new_tokens=settings.new_tokens,
            seed=settings.seed,
            weights=settings.weights,
            content=settings.content,
        )
        self.write("inputs.yaml", inputs_text(self.architecture, settings, ready))
        self.write("assumptions.md", assumptions_text(settings, ready))
        for note in ready.notes:
            if "is not used" in note:
                self.told(f"warning: {note}")
        return ready

    def pass_timing(self, ready: Prepared) -> None:
        from contextlib import nullcontext

        from forwardbook.profiling.passes.nvtx_ranges import nvtx_ranges
        from forwardbook.profiling.passes.timing import summary, time_calls

        settings = self.settings
        ranges = nvtx_ranges(ready.workload, settings.nvtx_modules) if settings.nvtx else nullcontext("off")
        with ranges as maker:
            timing = time_calls(ready.workload, settings.repeats, settings.warmup)
        self.results.timing = timing
        self.metrics["nvtx"] = maker
        self.metrics["timing"] = {
            "method": timing.method,
            "warmup": timing.warmup,
            "phases": {phase: summary(timing.of(phase)) for phase in timing.phases()},
            "wall_s": list(timing.wall),
            "samples": [
                {"repeat": one.repeat, **asdict(one.call), "seconds": one.seconds} for one in timing.calls
            ],
        }

    def pass_operators(self, ready: Prepared) -> None:
        from forwardbook.profiling.passes.operators import operators

        trace = self.folder.path / FOLDER / "trace.json"
        rows = operators(ready.workload, trace)
        self.results.operators = rows
        self.metrics["operators"] = {"count": len(rows), "calls": sum(row.calls for row in rows)}
        self.write("operators.md", operators_page(rows, self.settings.topk))

    def pass_flops(self, ready: Prepared) -> None:
        from forwardbook.profiling.passes.flops import count_calls
        from forwardbook.profiling.passes.traffic import move_calls

        self.results.counted = count_calls(ready.workload)
        self.results.moved = move_calls(ready.workload)
        self.metrics["flops"] = [
            {**asdict(one.call), "flops": one.flops, "operators": dict(one.operators)}
            for one in self.results.counted
        ]

    def pass_memory(self, ready: Prepared) -> None:
        from forwardbook.profiling.passes.memory import peak_calls

        self.results.peaks = peak_calls(ready.workload)
        self.metrics["memory"] = [
            {
                **asdict(one.call),
                "peak_bytes": one.peak,
                "with_workspaces": one.with_workspaces,
                "method": one.method,
            }
            for one in self.results.peaks
        ]

    def compare(self, ready: Prepared) -> None:
        predictor = Predictor(ready.phases, ready.workload.dtype, ready.sizes)
        found = list(compare_calls(predictor, self.results.counted, self.results.peaks, self.results.moved))
        self.results.comparisons = found
        values = {"static_analysis_version": 1, "calls": [_comparison(one) for one in found]}
        self.folder.write("static_analysis/static_compute.json", json.dumps(values, indent=1) + "\n")
        self.folder.write("static_analysis/static_compute.md", static_page(found))
        self.chains(predictor, ready)

    def chains(self, predictor: Predictor, ready: Prepared) -> None:
        """The first call of each phase from formula to kernel, where the pass of operators left a trace."""
        from forwardbook.pipeline.profile.chain import phase_chains

        trace = self.folder.path / FOLDER / "trace.json"
        if trace.is_file():
            calls = [one.call for one in self.results.comparisons if one.totals is not None]
            self.results.chains = phase_chains(trace, calls, predictor, ready.workload)

    def rates(self, ready: Prepared) -> None:
        peaks = device_peaks(ready.workload.device, self.settings.dtype, self.settings.hardware)
        self.results.peaks_of_device = peaks
        if self.results.timing is not None:
            self.results.rates = rates_of(self.results.timing, self.results.comparisons, ready, peaks)
        self.metrics["device_peaks"] = asdict(peaks)
        self.metrics["rates"] = [asdict(one) for one in self.results.rates]

    def save(self, status: str) -> None:
        head = {
            "metrics_version": METRICS_VERSION,
            "status": status,
            "model": self.architecture.model_id,
            "device": self.settings.device,
            "dtype": self.settings.dtype,
        }
        self.write("metrics.json", json.dumps({**head, **self.metrics}, indent=1) + "\n")

    def pages(self) -> None:
        from forwardbook.pipeline.profile.pictures import pictures

        self.write("report.md", report_page(self.results))
        self.write("stakeholder_summary.md", stakeholder_page(self.results, self.settings.topk))
        for path in pictures(self.results, self.folder.path / FOLDER):
            self.told(f"drew {path.name}")


def _comparison(one: CallComparison) -> dict[str, Any]:
    return {
        **asdict(one.call),
        "exact": one.exact,
        "refused": one.refused or None,
        "whole": [{**asdict(pair), "difference": pair.difference} for pair in one.pairs],
        "modules": [
            {
                "name": module.name,
                "class": module.class_name,
                "times": module.times,
                "pairs": [{**asdict(pair), "difference": pair.difference} for pair in module.pairs],
            }
            for module in one.modules
        ],
    }
