"""What to profile in; the exact arguments of nsys and ncu out, as lists, never through a shell."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from forwardbook.errors import ForwardbookError

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

# Chips by compute capability, where torch sees the GPU that ncu will.
CHIPS: Final[Mapping[tuple[int, int], str]] = {
    (7, 0): "gv100",
    (7, 5): "tu104",
    (8, 0): "ga100",
    (8, 6): "ga102",
    (8, 9): "ad102",
    (9, 0): "gh100",
}

KEPT: Final = (
    *("PATH", "HOME", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "VIRTUAL_ENV", "TMPDIR"),
    *("HF_HOME", "HF_HUB_OFFLINE", "OMP_NUM_THREADS"),
)
"""All of the environment that the workload sees: nsys writes what it finds there into its reports."""


class UnknownChip(ForwardbookError):
    """A chip whose counters nobody listed."""


@dataclass(frozen=True)
class ToolCommand:
    """Arguments, environment, and the file that has to be there afterwards.

    `more` are further files of the same kind, one for each instance of a range; `asked` are counters that the
    user named, which nothing may leave out.
    """

    tool: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    report: str
    more: tuple[str, ...] = ()
    chip: str | None = None
    asked: tuple[str, ...] = ()


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """What is kept of the environment; numbers are written without a locale."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return {**kept, "LC_ALL": "C", **(more or {})}


def nsys_profile(workload: Sequence[str], output: str, capture: str, instances: int = 1) -> ToolCommand:
    """A timeline of some instances of one range."""
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
        *("-o", output, *workload),
    ]
    numbers = [""] if instances == 1 else [f".{number}" for number in range(1, instances + 1)]
    reports = [f"{output}{number}.nsys-rep" for number in numbers]
    return ToolCommand("nsys", tuple(arguments), environment(), reports[0], tuple(reports[1:]))


def metrics_for(chip: str | None) -> tuple[str, ...]:
    """Counters that exist on a chip; where none is named those that exist on all.

    Raises:
        UnknownChip: for a chip that is not in the table.
    """
    if chip is not None and chip not in TENSOR:
        near = get_close_matches(chip, TENSOR, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise UnknownChip(
            f"choosing counters: there is no table for the chip {chip}{hint}; there is one for "
            f"{', '.join(TENSOR)}\n  without --chip all but the counters of tensor cores are collected; name "
            "those with --metrics"
        )
    return (TIME, *BYTES, *VECTOR, *TENSOR.get(chip or "", ()))


def ncu_profile(
    workload: Sequence[str],
    output: str,
    include: str,
    chip: str | None = None,
    kernel: str | None = None,
    skip: int = 0,
    count: int = 0,
    asked: Sequence[str] = (),
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
            ",".join(dict.fromkeys([*metrics_for(chip), *asked])),
            "-f",
            "-o",
            output,
            *workload,
        ),
    ]
    report = f"{output}.ncu-rep"
    return ToolCommand("ncu", tuple(arguments), environment(), report, chip=chip, asked=tuple(asked))


def ncu_page(report: str) -> ToolCommand:
    """The counters of a report as CSV, in base units and without a locale."""
    arguments = ("ncu", "--import", report, "--csv", "--page", "raw", "--print-units", "base")
    return ToolCommand("ncu", arguments, environment(), "")
