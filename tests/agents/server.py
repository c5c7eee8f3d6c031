"""A Messages API on 127.0.0.1 that plays a script: streaming or not, with faults; it logs every request."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType

from .batches import Batches
from .script import (
    Broken,
    Cut,
    Drop,
    Fail,
    Hang,
    Json,
    Play,
    Raw,
    Say,
    Step,
    events_of,
    message_of,
)


@dataclass
class Logged:
    """One request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: Json


@dataclass
class Scripted:
    """The server; `steps` are played in order, or `forever` answers every request."""

    steps: Sequence[Play] = ()
    forever: Callable[[Json], Step] | None = None
    log: list[Logged] = field(default_factory=list)
    pos: int = 0
    batches: Batches = field(default_factory=lambda: Batches())

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.script = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def bodies(self) -> list[Json]:
        """The bodies of all requests for messages."""
        return [each.body for each in self.log if each.path.split("?")[0] == "/v1/messages"]

    def next(self, body: Json) -> Step:
        """The step for a request."""
        with self._lock:
            if self.forever is not None:
                play: Play = self.forever
            elif self.pos < len(self.steps):
                play = self.steps[self.pos]
            else:
                play = Fail(400, "invalid_request_error", f"the script of {len(self.steps)} steps is over")
            self.pos += 1
        return play(body) if callable(play) else play

    def wait(self, seconds: float) -> None:
        """Sleep, but not beyond the end of the test."""
        self._stop.wait(seconds)

    def __enter__(self) -> Scripted:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self._stop.set()
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True
    block_on_close = False
    script: Scripted


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 64 * 1024
    server: _Server

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is printed."""

    def do_HEAD(self) -> None:
        self._log({})
        self._send(200, b"")

    def do_GET(self) -> None:
        self._log({})
        if self._batch({}):
            return
        self._json(404, {"type": "error", "error": {"type": "not_found_error", "message": self.path}})

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("content-length", "0")))
        body = json.loads(data or b"{}")
        self._log(body)
        path = self.path.split("?")[0]
        if self._batch(body):
            return
        if path.endswith("/v1/messages/count_tokens"):
            self._json(200, {"input_tokens": 100})
        elif path.endswith("/v1/messages"):
            self._play(self.server.script.next(body), body)
        else:
            self._json(404, {"type": "error", "error": {"type": "not_found_error", "message": path}})

    def _batch(self, body: Json) -> bool:
        """Whether it was a request for batches, which is then answered."""
        script = self.server.script
        found = script.batches.answer(self.command, self.path, body, script)
        if found is None:
            return False
        if isinstance(found, str):
            self._send(200, found.encode(), "application/binary")
        elif isinstance(found, dict):
            self._json(200, found)
        else:
            self._play(found, body)
        return True

    def _log(self, body: Json) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.script.log.append(Logged(self.command, self.path, headers, body))

    def _play(self, step: Step, body: Json) -> None:
        match step:
            case Hang(seconds):
                self.server.script.wait(seconds)
                self.close_connection = True
            case Drop():
                self.close_connection = True
                self.connection.close()
            case Fail(status, type_, message, after):
                error = {"type": "error", "error": {"type": type_, "message": message}}
                self._json(status, error, {"retry-after": after} if after else {})
            case Raw(status, text, content_type):
                self._send(status, text.encode(), content_type)
            case Cut(text):
                whole = Say(({"type": "text", "text": text},))
                if body.get("stream"):
                    self._events(list(events_of(message_of(whole, body)))[:3])
                else:  # fewer bytes than were promised
                    self._send(200, b'{"id": "msg_1", "content": [', promised=4096)
            case Broken(type_):
                error = {"type": "error", "error": {"type": type_, "message": "scripted"}}
                start = list(events_of(message_of(Say(()), body)))[:1]
                self._events([*start, ("error", error)])
            case Say():
                if step.delay:
                    time.sleep(step.delay)
                message = message_of(step, body)
                if body.get("stream"):
                    self._events(list(events_of(message)))
                else:
                    self._json(200, message)

    def _json(self, status: int, value: Json, headers: Mapping[str, str] | None = None) -> None:
        self._send(status, json.dumps(value).encode(), "application/json", headers)

    def _send(
        self,
        status: int,
        data: bytes,
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
        promised: int = 0,
    ) -> None:
        self.send_response(status)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(promised or len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()
        if promised:
            self.close_connection = True

    def _events(self, events: Sequence[tuple[str, Json]]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for name, value in events:
            self.wfile.write(f"event: {name}\ndata: {json.dumps(value)}\n\n".encode())
        self.wfile.flush()
        self.close_connection = True
