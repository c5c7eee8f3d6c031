"""What analysed code may not do with its process: outlive us, take all memory, compute without end."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
from pathlib import Path
from typing import Final

_PR_SET_PDEATHSIG: Final = 1  # from linux/prctl.h
_CPU_GRACE: Final = 30  # seconds beyond the wall time, should nobody be left to watch that


def die_with_parent(parent: int, number: int = signal.SIGKILL) -> None:
    """Send this process a signal when the one that started it is gone, which ends it.

    On Linux; elsewhere the CPU limit ends it.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:  # it was gone before we asked
        os._exit(1)


def limit_memory(amount: int) -> None:
    """Allow this many bytes beyond what is mapped now, which is the libraries'."""
    _set_soft(resource.RLIMIT_AS, _mapped() + amount)


def lift_memory_limit() -> None:
    """Make room to say that memory ran out."""
    _set_soft(resource.RLIMIT_AS, resource.getrlimit(resource.RLIMIT_AS)[1])


def limit_time(seconds: float) -> None:
    """End this process by a signal when it has computed for this long and more; leave no core file."""
    _set_soft(resource.RLIMIT_CPU, int(seconds) + _CPU_GRACE)
    limit_core()


def limit_core() -> None:
    """Leave no core file, whatever signal ends this process."""
    _set_soft(resource.RLIMIT_CORE, 0)


def _set_soft(kind: int, amount: int) -> None:
    hard = resource.getrlimit(kind)[1]
    amount = amount if hard == resource.RLIM_INFINITY or amount < 0 else min(amount, hard)
    try:
        resource.setrlimit(kind, (amount, hard))
    except (ValueError, OSError):
        return  # a system without this limit; the wall time still holds


def _mapped() -> int:
    """Bytes of address space in use."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (OSError, ValueError):
        return 0
    return pages * resource.getpagesize()
