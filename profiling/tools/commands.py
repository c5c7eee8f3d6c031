"""What to profile in; the exact arguments of nsys and ncu out, as lists, never through a shell."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

TIME: Final = "gpu__time_duration.sum"
BYTES: Final = ("dram__bytes_read.sum", "dram__bytes_write.sum", "lts__t_bytes.sum")
VECTOR: Final = tuple(
    f"smsp__sass_thread_inst_executed_op_{kind}{op}_pred_on.sum"
    for kind in "fh"
    for op in ("add", "mul", "fma")
)
_PATH = "sm__ops_path_tensor_src_"
TENSOR: Final[Mapping[str, tuple[str, ...]]] = {
    "gv100": (f"{_PATH}fp16_dst_fp16.sum", f"{_PATH}fp16_dst_fp32.sum"),
    "tu104": (f"{_PATH}fp16_dst_fp16.sum", f"{_PATH}fp16_bf16_tf32_dst_fp32.sum"),
    "ga100": tuple(
        f"{_PATH}{k}.sum" for k in ("bf16_dst_fp32", "fp16_dst_fp16", "fp16_dst_fp32", "tf32_dst_fp32")
    ),
    "ga102": tuple(
        f"{_PATH}{k}.sum" for k in ("bf16_dst_fp32", "fp16_dst_fp16", "fp16_dst_fp32", "tf32_dst_fp32")
    ),
    "ad102": tuple(
        f"{_PATH}{k}.sum" for k in ("bf16_dst_fp32", "fp16_dst_fp16", "fp16_dst_fp32", "tf32_dst_fp32", "fp8")
    ),
    "gh100": tuple(f"{_PATH}{k}.sum" for k in ("bf16_dst_fp32", "fp16", "tf32_dst_fp32", "fp8")),
}
"""Counters of tensor operations by chip, as `ncu --query-metrics --chips <chip>` of 2024.1 lists them."""

KEPT: Final = ("PATH", "HOME", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "VIRTUAL_ENV", "HF_HOME", "TMPDIR")
"""All of the environment that the workload sees: nsys writes what it finds there into its reports."""


@dataclass(frozen=True)
class ToolCommand:
    """Arguments, environment, and the file that has to be there afterwards."""

    tool: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    report: str


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """What is kept of the environment; numbers are written without a locale."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return {**kept, "LC_ALL": "C", **(more or {})}


def nsys_profile(
    workload: Sequence[str], output: str, capture: str, instances: int = 1, discard: bool = False
) -> ToolCommand:
    """A timeline of some instances of one range; `discard` where nsys can leave the environment out."""
    end = "stop" if instances == 1 else f"repeat:{instances}"
    arguments = [
        *(
            "nsys",
            "profile",
            "--trace=cuda,nvtx",
            "--sample=none",
            "--cpuctxsw=none",
            "--cuda-graph-trace=node",
        ),
        *("--capture-range=nvtx", f"--nvtx-capture={capture}", f"--capture-range-end={end}"),
        *("--env-var=NSYS_NVTX_PROFILER_REGISTER_ONLY=0", "--force-overwrite=true", "--export=sqlite"),
        *(["--discard-environment=true"] if discard else []),
        *("-o", output, *workload),
    ]
    first = f"{output}.nsys-rep" if instances == 1 else f"{output}.1.nsys-rep"
    return ToolCommand("nsys", tuple(arguments), environment(), first)


def metrics_for(chip: str | None) -> tuple[str, ...]:
    """Counters that exist on a chip; on one that is not in the table those that exist on all."""
    return (TIME, *BYTES, *VECTOR, *TENSOR.get(chip or "", ()))


def ncu_profile(
    workload: Sequence[str],
    output: str,
    include: str,
    chip: str | None = None,
    kernel: str | None = None,
    skip: int = 0,
    count: int = 0,
) -> ToolCommand:
    """Counters of kernels within a range; clocks and caches are left as in a real run."""
    arguments = [
        *("ncu", "--target-processes", "all", "--nvtx", "--nvtx-include", include),
        *("--kernel-name-base", "mangled", *(["--kernel-name", kernel] if kernel else [])),
        *(["--launch-skip", str(skip)] if skip else []),
        *(["--launch-count", str(count)] if count else []),
        *("--replay-mode", "kernel", "--clock-control", "none", "--cache-control", "none"),
        *(
            "--graph-profiling",
            "node",
            "--metrics",
            ",".join(metrics_for(chip)),
            "-f",
            "-o",
            output,
            *workload,
        ),
    ]
    return ToolCommand("ncu", tuple(arguments), environment(), f"{output}.ncu-rep")


def ncu_page(report: str) -> ToolCommand:
    """The counters of a report as CSV, in base units and without a locale."""
    arguments = ("ncu", "--import", report, "--csv", "--page", "raw", "--print-units", "base")
    return ToolCommand("ncu", arguments, environment(), "")
