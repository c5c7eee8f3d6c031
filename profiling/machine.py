"""The machine that runs in; what it is out: processor, memory, GPUs, versions, from a list of harmless facts.

Nothing else is recorded: no names of hosts or users, no environment variables, no paths.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

PACKAGES: Final = ("forwardbook", "torch", "transformers", "numpy", "nvtx", "nvidia-ml-py", "ncu-report")


def machine() -> dict[str, Any]:
    """All facts, ready for JSON; what cannot be told is null with a reason beside it."""
    import torch

    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "threads_of_torch": torch.get_num_threads(),
        "memory_bytes": memory_bytes(),
        "system": platform.system(),
        "architecture": platform.machine(),
        "python": platform.python_version(),
        "packages": versions(),
        "cuda": torch.version.cuda,
        "hip": torch.version.hip,
        "cpu_capability": str(torch.backends.cpu.get_cpu_capability()),
        "gpus": gpus(),
        "nvml": nvml(),
    }


def processor() -> str:
    """The model of the processor, as the system calls it."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def memory_bytes() -> int | None:
    """Bytes of memory that the machine has."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return None


def versions() -> dict[str, str | None]:
    """Versions of the packages that matter to a measurement."""
    found: dict[str, str | None] = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found


def gpus() -> list[dict[str, Any]]:
    """GPUs as torch sees them."""
    import torch

    if not torch.cuda.is_available():
        return []
    found: list[dict[str, Any]] = []
    for index in range(torch.cuda.device_count()):
        facts = torch.cuda.get_device_properties(index)
        found.append(
            {
                "name": facts.name,
                "memory_bytes": facts.total_memory,
                "multiprocessors": facts.multi_processor_count,
                "compute_capability": f"{facts.major}.{facts.minor}",
            }
        )
    return found


def nvml() -> dict[str, Any]:
    """What NVIDIA's management library says, or why it says nothing."""
    try:
        import pynvml  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        return {
            "available": False,
            "reason": "nvidia-ml-py is not installed: pip install 'forwardbook[nvml]'",
        }
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        return {"available": False, "reason": str(error)}
    try:
        count = pynvml.nvmlDeviceGetCount()
        return {
            "available": True,
            "driver": _text(pynvml.nvmlSystemGetDriverVersion()),
            "devices": [_device(pynvml, pynvml.nvmlDeviceGetHandleByIndex(i)) for i in range(count)],
        }
    finally:
        pynvml.nvmlShutdown()  # type: ignore[no-untyped-call, unused-ignore]


def _device(library: Any, handle: Any) -> Mapping[str, Any]:
    """Clocks, power and modes of one GPU; what a driver does not tell is null."""
    asked = {
        "name": lambda: _text(library.nvmlDeviceGetName(handle)),
        "sm_clock_mhz": lambda: library.nvmlDeviceGetClockInfo(handle, library.NVML_CLOCK_SM),
        "memory_clock_mhz": lambda: library.nvmlDeviceGetClockInfo(handle, library.NVML_CLOCK_MEM),
        "max_sm_clock_mhz": lambda: library.nvmlDeviceGetMaxClockInfo(handle, library.NVML_CLOCK_SM),
        "power_limit_w": lambda: library.nvmlDeviceGetEnforcedPowerLimit(handle) / 1000,
        "clock_event_reasons": lambda: library.nvmlDeviceGetCurrentClocksEventReasons(handle),
        "mig": lambda: library.nvmlDeviceGetMigMode(handle)[0],
        "bus_width_bits": lambda: library.nvmlDeviceGetMemoryBusWidth(handle),
    }
    found: dict[str, Any] = {}
    for name, ask in asked.items():
        try:
            found[name] = ask()  # type: ignore[no-untyped-call, unused-ignore]
        except (library.NVMLError, AttributeError):
            found[name] = None
    return found


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def python_named() -> str:
    """The interpreter as a command line shall name it."""
    return Path(sys.executable).name
