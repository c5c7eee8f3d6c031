"""Children forked from processes that have imported what all of them need: a request in, a response out."""

from __future__ import annotations

import array
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import uuid
from pathlib import Path
from types import TracebackType
from typing import IO, Final

from forwardbook.pipeline.child.environment import environment
from forwardbook.pipeline.child.job import WORKER, Limits
from forwardbook.pipeline.child.process import answered
from forwardbook.pipeline.child.request import Request, Response

GONE: Final = -signal.SIGKILL  # as which a child counts whose server died: both ran out of memory


class Forks:
    """`run` is what `run_child` is, without its start: for each thread a server imports once, then forks.

    A server runs no analysed code. `warmer` names a function (`module:function`) of a list of texts, `given`,
    that imports and reads what the children will need; it must leave nothing that changes their results.
    """

    def __init__(self, warmer: str, given: tuple[str, ...] = ()) -> None:
        self._warmer, self._given = warmer, given
        self._mine = threading.local()
        self._all: list[Server] = []

    def run(self, request: Request, limits: Limits | None = None, worker: str = WORKER) -> Response:
        """The response of a forked child; what `run_child` promises holds of it too."""
        return answered(request, limits or Limits.given(), worker, self._server().start)

    def _server(self) -> Server:
        server: Server | None = getattr(self._mine, "server", None)
        if server is None or not server.alive:
            server = self._mine.server = Server(self._warmer, self._given)
            self._all.append(server)
        return server

    def __enter__(self) -> Forks:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for server in self._all:
            server.close()


class Server:
    """One server and its end of the line; it has one child at a time."""

    def __init__(self, warmer: str, given: tuple[str, ...]) -> None:
        self.token = uuid.uuid4().hex
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-P", "-m", "forwardbook.pipeline.child.fork_main"),
                    *(str(theirs.fileno()), str(os.getpid()), warmer, *given),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
                env=environment(self.token),
            )
        self._line = ours

    @property
    def alive(self) -> bool:
        """Whether it can start another child."""
        return self._process.poll() is None

    def start(self, folder: Path) -> Forked:
        """A child that does the job of a folder."""
        read, write = os.pipe()
        stream = os.fdopen(read, "rb")
        try:
            self.tell(str(folder), write)
        finally:
            os.close(write)
        return Forked(self, stream)

    def tell(self, text: str, file: int) -> None:
        """Send a text and an open file; a server that is gone will not answer."""
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [file]))
        with contextlib.suppress(OSError):
            self._line.sendmsg([text.encode()], [rights])

    def hear(self, timeout: float | None) -> dict[str, int]:
        """What it says next; that the child is gone where the server is.

        Raises:
            TimeoutError: when it says nothing for so long.
        """
        self._line.settimeout(timeout)
        try:
            said = self._line.recv(4096)
        except TimeoutError:
            raise
        except OSError:
            said = b""
        if not said:
            self.close()
            return {"pid": 0, "code": GONE}
        heard: dict[str, int] = json.loads(said)
        return heard

    @property
    def pid(self) -> int:
        """The server's own process."""
        return self._process.pid

    def close(self) -> None:
        """End the server, and with it a child that it may have."""
        self._line.close()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


class Forked:
    """A child of a server, as `answered` wants it."""

    def __init__(self, server: Server, stream: IO[bytes]) -> None:
        self._server = server
        self.output = stream
        self.token, self.spared = server.token, frozenset({server.pid})
        heard = server.hear(None)
        self.pid = heard["pid"]
        self.returncode: int | None = heard.get("code")

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, negative for a signal.

        Raises:
            subprocess.TimeoutExpired: when it still runs after so many seconds.
        """
        if self.returncode is None:
            try:
                self.returncode = self._server.hear(timeout)["code"]
            except TimeoutError:
                raise subprocess.TimeoutExpired("a forked child", timeout or 0) from None
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it still runs."""
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)
