"""Runs one analysis in a process of its own: a request and limits in, a response out, nothing left."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import IO, Final, Protocol

from forwardbook.pipeline.child.environment import TOKEN, environment
from forwardbook.pipeline.child.failure import Spot, chosen, out_of_memory
from forwardbook.pipeline.child.job import JOB, RESPONSE, WHERE, WORKER, Job, Limits
from forwardbook.pipeline.child.known_words import in_known_words
from forwardbook.pipeline.child.request import ProblemKind, Request, Response

_GRACE: Final = 6.0  # seconds in which a process that was told to end ends what it started
_KEPT: Final = 64 * 1024  # bytes of output, the last ones
_ANSWER: Final = 1_000_000_000  # bytes of an answer; that of the largest file of models has some ten millions
_SHOWN: Final = 20  # lines of output beside a problem
_SIGNALS: Final = {"SIGSEGV": "a segmentation fault", "SIGABRT": "abort()", "SIGFPE": "an arithmetic fault"}


class Running(Protocol):
    """A process that does a job: started afresh, or forked from one that was."""

    pid: int
    token: str
    """What it and all that descend from it carry in their environment ..."""
    spared: frozenset[int]
    """... and who else does."""

    @property
    def output(self) -> IO[bytes]: ...

    @property
    def returncode(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int: ...

    def send_signal(self, number: int) -> None: ...


def run_child(request: Request, limits: Limits | None = None, worker: str = WORKER) -> Response:
    """The response of a fresh process; whatever happens there, or here, it and all it started are gone after.

    What the analysed code printed is kept apart: its last lines are in the diagnostics of a problem.
    """
    return answered(request, limits or Limits.given(), worker, Fresh)


def answered(request: Request, limits: Limits, worker: str, start: Callable[[Path], Running]) -> Response:
    """The response of the process that `start` gives for a folder with a job."""
    with tempfile.TemporaryDirectory(prefix="forwardbook-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        job = Job(
            request=request,
            worker=worker,
            memory=int(limits.memory_gb * 1e9),
            seconds=limits.seconds,
            asked_in=os.getcwd(),
        )
        (folder / JOB).write_text(job.model_dump_json(), encoding="utf-8")
        process = start(folder)
        output = _Output(process.output)
        late = False
        try:
            try:
                process.wait(limits.seconds)
            except subprocess.TimeoutExpired:
                late = True
                _ask_where(process, folder)
        finally:
            code = _end(process)
            text = output.close()
        response = in_known_words(_response(folder, request, code, late, limits, text), request)
    if response.problem is None:
        return response
    shown = [*text.strip().splitlines()[-_SHOWN:]]
    return response.model_copy(update={"diagnostics": {**response.diagnostics, "output": [*shown]}})


class Fresh(subprocess.Popen[bytes]):
    """A new interpreter."""

    def __init__(self, folder: Path) -> None:
        self.token = uuid.uuid4().hex
        self.spared: frozenset[int] = frozenset()
        super().__init__(
            # -P: the current folder is not importable, or its files could hide the standard library's
            [sys.executable, "-P", "-m", "forwardbook.pipeline.child.main", str(folder), str(os.getpid())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # a group of its own, which a Ctrl-C at the terminal does not reach
            env=environment(self.token),
        )

    @property
    def output(self) -> IO[bytes]:
        """What it prints."""
        assert self.stdout is not None
        return self.stdout


class _Output:
    """Drains what a process prints, so that it never waits for us, and keeps the last of it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self._thread = threading.Thread(target=self._drain, daemon=True)
        self._thread.start()

    def _drain(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while chunk := self._stream.read1(8192):  # type: ignore[attr-defined]
                self._chunks.append(chunk)
                self._size += len(chunk)
                while self._size - len(self._chunks[0]) > _KEPT:
                    self._size -= len(self._chunks.popleft())

    def close(self) -> str:
        """The last of the output; for a process that has ended."""
        self._thread.join(2)
        if not self._thread.is_alive():
            self._stream.close()
        return b"".join(self._chunks).decode("utf-8", "replace")


def _ask_where(process: Running, folder: Path) -> None:
    """Let a process that still runs write down which line it is at."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGUSR1)  # it may be a process that the one that we know waits for
    deadline = time.monotonic() + 1
    with contextlib.suppress(OSError):  # the analysed code may have taken the file away
        while time.monotonic() < deadline and not (folder / WHERE).stat().st_size:
            time.sleep(0.02)
    time.sleep(0.05)


def _end(process: Running) -> int:
    """Kill the process, its group, and whatever left the group; its exit code."""
    if process.returncode is None and sys.platform == "linux":
        process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE)
    if process.returncode is None:
        process.send_signal(signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if process.pid:
            os.killpg(process.pid, signal.SIGKILL)
    code = process.wait()
    for _ in range(5):  # a process found may have started another meanwhile
        found = set(_descendants(process.token)) - process.spared
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not found:
            break
        time.sleep(0.05)
    return code


def _descendants(token: str) -> list[int]:
    """Processes that carry the token in their environment (Linux)."""
    mark = f"{TOKEN}={token}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark in (folder / "environ").read_bytes():
                found.append(int(folder.name))
    return found


def _response(folder: Path, request: Request, code: int, late: bool, limits: Limits, output: str) -> Response:
    response = _answered(folder / RESPONSE)
    if response is not None:
        if response.problem_kind == "memory" and response.problem is not None:
            said = response.problem.replace("the limit", f"{limits.memory_gb:g} GB (--memory)", 1)
            return response.model_copy(update={"problem": said, "told": said.partition("\n")[0]})
        return response
    place = _where(folder, request)
    if late or code == -signal.SIGXCPU:
        return _problem(
            "timeout",
            f"analysing {request.target}: it was not done after {limits.seconds:g} s and was ended"
            f"{place and f'{chr(10)}  it was at {place}'}",
            "allow more: --timeout seconds, or read the class without running it: --derive static",
        )
    if code == -signal.SIGKILL or _ran_out(output):
        return out_of_memory(request, place and f"at {place}", f"{limits.memory_gb:g} GB (--memory)")
    if code < 0:
        known = {one.value: one.name for one in signal.Signals}
        name = known.get(-code, f"signal {-code}")
        what = f"its process died of {_SIGNALS.get(name, 'a signal')} ({name})"
    else:
        what = f"its process ended with exit code {code} before it answered"
    return _problem(
        "crash",
        f"analysing {request.target}: {what}{place and f'{chr(10)}  it was at {place}'}",
        "read the class without running it: --derive static",
    )


def _answered(path: Path) -> Response | None:
    """What the process answered; None where it is nothing that a worker of ours writes."""
    try:
        text = _regular(path, _ANSWER)
        return Response.model_validate_json(text) if text is not None else None
    except (OSError, ValueError, RecursionError, MemoryError):
        return None


def _regular(path: Path, most: int) -> bytes | None:
    """The content of a plain file of at most so many bytes; a link, a pipe or a device has none."""
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    with open(number, "rb") as file:
        found = os.fstat(number)
        return file.read(most) if stat.S_ISREG(found.st_mode) and found.st_size <= most else None


def _problem(kind: ProblemKind, found: str, advice: str) -> Response:
    return Response(problem=f"{found}\n  {advice}", told=found, problem_kind=kind)


def _ran_out(output: str) -> bool:
    return any(text in output[-4096:] for text in ("bad_alloc", "MemoryError", "Cannot allocate memory"))


def _where(folder: Path, request: Request) -> str:
    """The line of the analysed code at which the process last said it was."""
    path = folder / WHERE
    try:
        text = (_regular(path, _ANSWER) or b"")[:_KEPT].decode("utf-8", "replace")
    except OSError:
        text = ""
    found = re.findall(r'^  File "(.*)", line (\d+) in (.*)$', text, re.MULTILINE)
    place = chosen(request, [Spot(file, int(line), name) for file, line, name in reversed(found)])
    return place.text if place else ""
