"""Landlock of Linux: a folder in, a process out that writes nowhere else, whatever it calls or starts.

No right is needed for it, and all that the process starts inherits it. What the kernel is too old for it does
not refuse; `confine` returns what the kernel knows, and docs/security.md says what remains.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_CREATE, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_VERSION: Final = 1  # flag: tell the ABI
_PATH_BENEATH: Final = 1
_PR_SET_NO_NEW_PRIVS: Final = 38

# from linux/landlock.h, by the ABI that brought each
_WRITE_FILE: Final = 1 << 1
_WRITES: Final = {
    1: _WRITE_FILE | 0b1_1111_1111 << 4,  # remove, and make files, folders, links, sockets, pipes, devices
    2: 1 << 13,  # move between folders
    3: 1 << 14,  # truncate
}
_TCP: Final = {4: 0b11}  # bind, connect
_SCOPES: Final = {6: 0b11}  # abstract Unix sockets and signals of processes outside


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


def abi() -> int:
    """The version of Landlock that the kernel has; 0 where it has none."""
    if sys.platform != "linux":
        return 0
    version: int = _libc().syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))
    return max(version, 0)


def confine(folder: Path, files: Sequence[Path] = (Path(os.devnull),)) -> int:
    """From here on writing elsewhere than in the folder and to these files is refused, for good.

    So are TCP connections, and signals to processes outside, where the kernel can: its ABI is returned, 0
    where nothing was refused.
    """
    version = abi()
    if not version:
        return 0
    libc = _libc()
    writes = _up_to(version, _WRITES)
    ruleset = _Ruleset(writes, _up_to(version, _TCP), _up_to(version, _SCOPES))
    descriptor = libc.syscall(
        _CREATE, ctypes.byref(ruleset), ctypes.c_size_t(ctypes.sizeof(ruleset)), ctypes.c_uint32(0)
    )
    if descriptor < 0:
        return 0
    try:
        _allow(libc, descriptor, folder, writes)
        for file in files:
            if file.exists():
                _allow(libc, descriptor, file, writes & (_WRITE_FILE | _WRITES[3]))
        if libc.prctl(_PR_SET_NO_NEW_PRIVS, *map(ctypes.c_ulong, (1, 0, 0, 0))):
            return 0
        refused: int = libc.syscall(_RESTRICT_SELF, ctypes.c_int(descriptor), ctypes.c_uint32(0))
        return 0 if refused else version
    finally:
        os.close(descriptor)


def _allow(libc: ctypes.CDLL, ruleset: int, path: Path, rights: int) -> None:
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = _Beneath(rights, place)
        refused = libc.syscall(
            *(_ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(_PATH_BENEATH)),
            *(ctypes.byref(rule), ctypes.c_uint32(0)),
        )
        if refused:
            raise OSError(ctypes.get_errno(), f"allowing analysed code to write in {path}")
    finally:
        os.close(place)


def _up_to(version: int, rights: dict[int, int]) -> int:
    return sum(bits for since, bits in rights.items() if since <= version)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
