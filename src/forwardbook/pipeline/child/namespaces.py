"""Namespaces of Linux: a process in, out one that sees no network and no process but those that it starts.

Each is had with what rights the process has, else through a user namespace of its own; where the system
allows neither, nothing is changed. libc is called through ctypes: Python has `os.unshare` since 3.12.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
from pathlib import Path
from typing import Final

_NEW_NS, _NEW_USER, _NEW_PID, _NEW_NET = 0x00020000, 0x10000000, 0x20000000, 0x40000000
_NEW_IPC: Final = 0x08000000
_APART: Final = _NEW_NET | _NEW_PID | _NEW_NS | _NEW_IPC
_NO_SUID_DEV_EXEC: Final = 0b1110
_BIND, _PRIVATE = 1 << 12, 1 << 14 | 1 << 18  # with all that is mounted beneath
_MOUNT_SETATTR: Final = 442  # the same on every architecture
_READ_ONLY: Final = 1
_HERE, _RECURSIVE = -100, 0x8000
_PR_CAPBSET_DROP: Final = 24
_CAPABILITY_VERSION: Final = 0x20080522
_KEPT: Final = 1 << 1 | 1 << 2  # reading files that others own, as root may; Landlock still refuses writing
_SOCKETS: Final = Path("/proc/net/unix")


class _Attributes(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "userns"))


@functools.cache
def possible() -> int:
    """What `leave` can be given here, found out by a process that ends at once; 0 for nothing.

    Only for a process of one thread. What forks from it knows the answer.
    """
    for flags in (_APART, _APART | _NEW_USER):
        trial = os.fork()
        if trial == 0:
            code = 1
            try:
                leave(flags)
                code = 0
            finally:
                os._exit(code)
        if os.waitpid(trial, 0)[1] == 0:
            return flags
    return 0


def leave(flags: int) -> None:
    """Leave network and mounts of this system; the next process that is forked is the first of its own.

    Raises:
        OSError: where the system does not allow it.
    """
    user, group = os.geteuid(), os.getegid()
    _call("unshare", flags)
    if flags & _NEW_USER:
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")


def named_sockets() -> list[str]:
    """The paths at which processes of this network can be reached; to be asked before it is left."""
    try:
        lines = _SOCKETS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()[1:]
    except OSError:
        return []
    paths = (line.split(maxsplit=7)[7] for line in lines if line.count(" /"))
    return sorted({path for path in paths if path.startswith("/")})


def narrow_mounts(folder: Path, sockets: list[str]) -> None:
    """For the first process of its own: /proc shows its processes alone, and all but the folder is read-only.

    An empty file lies over each named socket. Whatever the system does not allow stays as it is.
    """
    empty = folder / ".socket"
    empty.touch()
    with contextlib.suppress(OSError):
        _mount(None, "/", None, _PRIVATE)
        with contextlib.suppress(OSError):
            _mount("proc", "/proc", "proc", _NO_SUID_DEV_EXEC)
        for path in sockets:
            with contextlib.suppress(OSError):
                _mount(str(empty), path, None, _BIND)
        _mount(str(folder), str(folder), None, _BIND)
        _read_only("/", _Attributes(_READ_ONLY, 0, 0, 0), _RECURSIVE)
        _read_only(str(folder), _Attributes(0, _READ_ONLY, 0, 0), 0)


def drop_capabilities() -> None:
    """Give up the rights of root, those to read files excepted, also for programs that are started."""
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in range(64):
        if not _KEPT >> capability & 1:
            libc.prctl(_PR_CAPBSET_DROP, *map(ctypes.c_ulong, (capability, 0, 0, 0)))
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    held = (ctypes.c_uint32 * 6)()
    if libc.capget(header, held):
        return
    kept = [held[0] & _KEPT, held[1] & _KEPT, 0, 0, 0, 0]  # effective, permitted, inheritable; twice 32 bits
    libc.capset(header, (ctypes.c_uint32 * 6)(*kept))


def _mount(source: str | None, target: str, kind: str | None, flags: int) -> None:
    encoded = [None if text is None else os.fsencode(text) for text in (source, target, kind)]
    _call("mount", *encoded, ctypes.c_ulong(flags), None)


def _read_only(path: str, attributes: _Attributes, flags: int) -> None:
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    place = os.fsencode(path)
    _call("syscall", _MOUNT_SETATTR, _HERE, place, ctypes.c_uint(flags), ctypes.byref(attributes), size)


def _call(name: str, *arguments: object) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*arguments):
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")
