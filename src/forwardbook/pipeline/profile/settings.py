"""What a person asks of a profile in; the device it runs on, and its inputs and assumptions in words, out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from forwardbook.models.architecture import Architecture
from forwardbook.pipeline.model.source import ModelRefused
from forwardbook.pipeline.profile.model import Content, Prepared

if TYPE_CHECKING:
    import torch

PASSES: Final = ("timing", "operators", "flops", "memory")
MADE_UP: Final = (
    "- tokens are counted up, other inputs random, both from the seed; costs do not depend on them"
)


@dataclass(frozen=True)
class Settings:
    """What to measure and how often; `passes` are those of PASSES, in that order."""

    sizes: Mapping[str, int] = field(default_factory=dict)
    device: str = "cpu"
    dtype: str = "float32"
    new_tokens: int = 8
    repeats: int = 5
    warmup: int = 2
    seed: int = 0
    passes: Sequence[str] = PASSES
    nvtx: bool = True
    nvtx_modules: bool = False
    topk: int = 20
    hardware: str | None = None
    weights: Path | None = None
    static_analysis: bool = True
    content: Content | None = None


def device_and_dtype(device_name: str, dtype_name: str) -> tuple[torch.device, torch.dtype]:
    """Where and in which format to run.

    Raises:
        ModelRefused: there is no such device here, or the format is none that can be measured.
    """
    import torch

    try:
        device = torch.device(device_name)
    except RuntimeError as error:
        raise ModelRefused(f"running on {device_name}: give cpu, cuda or cuda:1") from error
    if device.type not in ("cpu", "cuda"):
        raise ModelRefused(f"running on {device_name}: only cpu and cuda are measured")
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ModelRefused("running on cuda: torch sees no GPU here; give --device cpu")
    dtype = getattr(torch, dtype_name, None)
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
        raise ModelRefused(f"running in {dtype_name}: give a format such as float32 or bfloat16")
    return device, dtype


def inputs_text(architecture: Architecture, settings: Settings, ready: Prepared) -> str:
    """The model, its sizes and what its inputs are made of, as YAML."""
    import yaml  # type: ignore[import-untyped]

    values: dict[str, object] = {
        "model": architecture.model_id,
        "class": architecture.model_class,
        "sizes": dict(ready.sizes),
        "new_tokens": settings.new_tokens if ready.workload.generates else None,
        "seed": settings.seed,
        "made_of": "random tensors and tokens; see assumptions.md",
    }
    if settings.content is not None:
        values["made_of"] = settings.content.described()
    return str(yaml.safe_dump(values, sort_keys=False))


def assumptions_text(settings: Settings, ready: Prepared) -> str:
    """What the numbers of a profile take for granted, as a page of Markdown."""
    lines = [
        "# Assumptions",
        "",
        *(f"- {note}" for note in ready.notes),
        *([MADE_UP] if settings.content is None else []),
        "- decoding is greedy, one sequence for each sample, and never stops early",
        "- flops count a multiply-accumulate as 2, attention every pair of positions (dense)",
        "- bytes are algorithmic: each product reads its distinct inputs once and writes its result once",
        "- peaks are beyond weights and inputs of the call; workspaces of kernels are apart",
        f"- {settings.warmup} warm-up runs, then {settings.repeats}; times come from a pass "
        "in which nothing else is recorded",
    ]
    return "\n".join(lines) + "\n"
