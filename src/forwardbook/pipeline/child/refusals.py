"""What Python code may not do in its process: fork it, reach the network, write beyond its folder.

Audit hooks see calls of Python alone; what native code and started programs do, namespaces and Landlock
refuse where the system has them.
"""

from __future__ import annotations

import errno
import os
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Final

Arguments = tuple[object, ...]


class ForkRefused(RuntimeError):
    """Analysed code tried to copy its process; both copies would have run on."""


class NetworkRefused(OSError):
    """Analysed code tried to reach the network."""


class WriteRefused(PermissionError):
    """Analysed code tried to change a file beyond its folder."""


@dataclass
class Watch:
    """What was refused so far."""

    forks: list[str] = field(default_factory=list)


_FORKS: Final = ("os.fork", "os.forkpty")
_TO_ADDRESS: Final = ("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg")
_LOOKS_UP: Final = tuple(
    f"socket.{name}" for name in ("getaddrinfo", "gethostbyname", "gethostbyaddr", "getnameinfo")
)
_CHANGES: Final = {  # an event, and which of its arguments are paths that it changes
    **dict.fromkeys(("os.remove", "os.rmdir", "os.mkdir", "os.truncate", "os.utime", "os.mkfifo"), (0,)),
    **dict.fromkeys(("os.chmod", "os.chown", "os.setxattr", "os.removexattr", "os.chflags"), (0,)),
    "os.rename": (0, 1),
    **dict.fromkeys(("os.link", "os.symlink"), (1,)),
}
_WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def refuse(folder: Path) -> Watch:
    """From here on a fork, a connection, and a change of files beyond the folder raise in Python code.

    Other programs may start; they end with this process.
    """
    watch = Watch()
    own = os.path.realpath(folder)

    def fork(arguments: Arguments) -> None:
        watch.forks.append(_caller(sys._getframe(2)))
        raise ForkRefused("forwardbook lets analysed code not copy its process")

    def reach(arguments: Arguments) -> None:
        if _is_remote(arguments[0], arguments[1] if len(arguments) > 1 else None, own):
            raise NetworkRefused("forwardbook runs analysed code offline")

    def look_up(arguments: Arguments) -> None:
        raise NetworkRefused("forwardbook runs analysed code offline")

    def opened(arguments: Arguments) -> None:
        flags = arguments[2]
        if isinstance(flags, int) and flags & _WRITES and not _is_own(arguments[0], own):
            raise _write_refused(arguments[0])

    def changed(event: str) -> Callable[[Arguments], None]:
        def check(arguments: Arguments) -> None:
            for place in _CHANGES[event]:
                if not _is_own(arguments[place], own):
                    raise _write_refused(arguments[place])

        return check

    checks: dict[str, Callable[[Arguments], None]] = {
        **dict.fromkeys(_FORKS, fork),
        **dict.fromkeys(_TO_ADDRESS, reach),
        **dict.fromkeys(_LOOKS_UP, look_up),
        **{event: changed(event) for event in _CHANGES},
        "open": opened,
    }

    def hook(event: str, arguments: Arguments) -> None:
        check = checks.get(event)
        if check is not None:
            check(arguments)

    sys.addaudithook(hook)
    return watch


def _write_refused(path: object) -> WriteRefused:
    said = "forwardbook lets analysed code write in its own temporary folder alone"
    return WriteRefused(errno.EACCES, said, str(path))


def _is_own(path: object, folder: str) -> bool:
    """Whether a path leads into the folder, or to what keeps nothing; a file that is open already is."""
    if isinstance(path, int):
        return True
    if not isinstance(path, str | bytes | os.PathLike):
        return False
    text = os.fsdecode(path)
    if text == os.devnull or "\0" in text:  # a path with a null byte is none: whoever opens it is told so
        return text == os.devnull
    parent, name = os.path.split(os.path.abspath(text))
    found = os.path.join(os.path.realpath(parent), name)
    return found == folder or os.path.realpath(found).startswith(folder + os.sep)


def _is_remote(connection: object, address: object, folder: str) -> bool:
    """Whether a socket's address is that of anything but another end of a pair, or a socket in the folder."""
    if getattr(connection, "family", None) != getattr(socket, "AF_UNIX", None):
        return True
    return address is not None and not (isinstance(address, str | bytes) and _is_own(address, folder))


def _caller(frame: FrameType | None) -> str:
    """`file:line in function` of the innermost code outside the standard library."""
    library = str(Path(os.__file__).parent)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith("<") and (not file.startswith(library) or "-packages" in file):
            return f"{file}:{frame.f_lineno} in {frame.f_code.co_name}"
        frame = frame.f_back
    return "code without source"
