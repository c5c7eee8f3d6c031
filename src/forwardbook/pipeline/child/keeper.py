"""A process in; out one that runs analysed code, while the first waits, and ends as it does.

On Linux the code runs among processes of its own, whose first one takes all others with it. Where the system
allows no such thing, whatever loses its parent falls to the process that waits, which ends it. Elsewhere
than on Linux nothing waits.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import sys
import time
from pathlib import Path
from typing import Final, NoReturn

from forwardbook.pipeline.child import namespaces
from forwardbook.pipeline.child.guards import die_with_parent, limit_core

_PR_SET_CHILD_SUBREAPER: Final = 36
_SECONDS: Final = 5.0  # in which what was left is ended, where it may start others meanwhile
_HELD: Final = frozenset({signal.SIGTERM, signal.SIGCHLD, signal.SIGUSR1})
"""Signals that the processes that wait take when they come to it; the last is for analysed code alone."""


def apart(folder: Path, parent: int) -> None:
    """Return in a further process that owns the folder; this one ends as that one does, and with `parent`."""
    if sys.platform != "linux":
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _HELD)
    die_with_parent(parent, signal.SIGTERM)
    flags = namespaces.possible()
    sockets = namespaces.named_sockets()
    if flags:
        namespaces.leave(flags)
    else:
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
    ended, end = os.pipe()
    alive, life = os.pipe()
    keeper = os.getpid()
    child = os.fork()
    if child:
        for descriptor in (end, alive):
            os.close(descriptor)
        _keep(child, ended, bool(flags))
    os.close(life)
    os.close(ended)
    if flags:
        _first_of_its_own(folder, sockets, alive, end)
        namespaces.drop_capabilities()
    else:
        die_with_parent(keeper)
    for descriptor in (alive, end):
        os.close(descriptor)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _first_of_its_own(folder: Path, sockets: list[str], alive: int, end: int) -> None:
    """Return in a further process; this one, the first in its namespace, ends when that one has."""
    die_with_parent(0)
    if select.select([alive], [], [], 0)[0]:  # whoever waits was gone before we asked
        os._exit(1)
    namespaces.narrow_mounts(folder, sockets)
    child = os.fork()
    if not child:
        return
    while True:
        ended, status = os.waitpid(-1, 0)
        if ended == child:
            os.write(end, str(status).encode())
            os._exit(0)  # the kernel ends whatever else there is in the namespace


def _keep(child: int, ended: int, is_apart: bool) -> NoReturn:
    """Wait for the child, or to be told to end; end what is left, then end as the child did."""
    done, status = 0, int(signal.SIGKILL)
    while not done:
        if signal.sigwait({signal.SIGTERM, signal.SIGCHLD}) == signal.SIGTERM:
            os.kill(child, signal.SIGKILL)
            done, status = os.waitpid(child, 0)
        else:
            done, status = os.waitpid(child, os.WNOHANG)
    if is_apart:
        said = os.read(ended, 16)
        status = int(said) if said else int(signal.SIGKILL)
    else:
        _end_orphans()
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        os._exit(code)
    limit_core()
    with contextlib.suppress(OSError, ValueError):  # some cannot be changed
        signal.signal(-code, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.kill(os.getpid(), -code)
    os._exit(1)


def _end_orphans() -> None:
    """End every child that this process has or comes to have."""
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline:
        for pid in children_of(os.getpid()):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.01)


def children_of(parent: int) -> list[int]:
    """The processes that a process has for children, as /proc tells."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            state = (entry / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            if int(state[1]) == parent:
                found.append(int(entry.name))
    return found
