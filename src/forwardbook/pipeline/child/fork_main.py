"""A server process: it imports once, then forks a child for each folder with a job that it is told of."""

from __future__ import annotations

import array
import contextlib
import gc
import importlib
import json
import os
import socket
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

from forwardbook.pipeline.child.guards import die_with_parent
from forwardbook.pipeline.child.namespaces import possible

_TEXT = 4096  # bytes of the name of a folder


def main(line: socket.socket, parent: int, warmer: str, given: Sequence[str]) -> None:
    """Serve until the line is closed; in a child this never returns."""
    die_with_parent(parent)
    if sys.platform == "linux":
        possible()  # found out once, while this process is small
    with contextlib.suppress(Exception):  # what could not be had before, each child gets for itself
        module, _, name = warmer.partition(":")
        cast("Callable[[Sequence[str]], None]", getattr(importlib.import_module(module), name))(given)
    gc.collect()
    gc.freeze()  # what is shared stays where it is: no child looks through it, or copies it by looking
    server = os.getpid()
    while job := _next(line):
        folder, output = job
        pid = os.fork()
        if pid == 0:
            line.close()
            _child(Path(folder), output, server)
        os.close(output)
        _say(line, {"pid": pid})
        _say(line, {"code": os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])})


def _next(line: socket.socket) -> tuple[str, int] | None:
    rights = array.array("i")
    text, extra, _, _ = line.recvmsg(_TEXT, socket.CMSG_SPACE(rights.itemsize))
    if not text:
        return None
    rights.frombytes(extra[0][2][: rights.itemsize])
    return text.decode(), rights[0]


def _say(line: socket.socket, what: dict[str, int]) -> None:
    line.send(json.dumps(what).encode())


def _child(folder: Path, output: int, server: int) -> None:
    """As a process that was started for the job alone: a group of its own, its output its own."""
    from forwardbook.pipeline.child.main import main as work

    try:
        os.setsid()
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.close(output)
        work(folder, server)
    finally:
        os._exit(1)  # the job was not done; a child never goes on as a server


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]), sys.argv[3], sys.argv[4:])
