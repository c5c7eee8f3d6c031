"""What analysed code may not do in its process: outlive us, take all memory, fork, reach the network."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import socket
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Final

_PR_SET_PDEATHSIG: Final = 1  # from linux/prctl.h
_CPU_GRACE: Final = 30  # seconds beyond the wall time, should nobody be left to watch that


class ForkRefused(RuntimeError):
    """Analysed code tried to copy its process; both copies would have run on."""


class NetworkRefused(OSError):
    """Analysed code tried to reach the network."""


@dataclass
class Watch:
    """What the guards refused so far."""

    forks: list[str] = field(default_factory=list)


def die_with_parent(parent: int) -> None:
    """End this process when the one that started it is gone (Linux; elsewhere the CPU limit ends it)."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
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


def refuse_forks_and_network() -> Watch:
    """From here on a fork and a connection raise. Other programs may start; they end with this process."""
    watch = Watch()

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event in ("os.fork", "os.forkpty"):
            watch.forks.append(_caller(sys._getframe(1)))
            raise ForkRefused("forwardbook lets analysed code not copy its process")
        if event == "socket.connect" and _is_remote(arguments[0]):
            raise NetworkRefused("forwardbook runs analysed code offline")

    sys.addaudithook(hook)
    return watch


def _is_remote(connection: object) -> bool:
    return getattr(connection, "family", None) in (socket.AF_INET, socket.AF_INET6)


def _caller(frame: FrameType | None) -> str:
    """`file:line in function` of the innermost code outside the standard library."""
    library = str(Path(os.__file__).parent)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith("<") and (not file.startswith(library) or "-packages" in file):
            return f"{file}:{frame.f_lineno} in {frame.f_code.co_name}"
        frame = frame.f_back
    return "code without source"
