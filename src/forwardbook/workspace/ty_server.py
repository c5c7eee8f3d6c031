"""The type checker `ty` in a child process: positions in source files in, places of definitions out."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shutil
import subprocess
import sys
import threading
import weakref
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final
from urllib.parse import unquote, urlsplit

from forwardbook.analyzers.calls.second import Position, Target
from forwardbook.analyzers.index.python import index_python
from forwardbook.workspace.storage import WorkspaceError

_SECONDS: Final = 120.0  # for one answer
_LIBRARY: Final = ("site-packages", "dist-packages", "stdlib", "stubs")
Message = dict[str, Any]  # JSON: its shape is the protocol's


def ty_command() -> str | None:
    """The path of the installed `ty`: beside this Python, or on the search path."""
    beside = Path(sys.executable).parent / ("ty.exe" if os.name == "nt" else "ty")
    return str(beside) if beside.is_file() else shutil.which("ty")


class TyServer:
    """`ty server` on a root. It reads sources and never runs them; a forked process starts its own."""

    def __init__(self, root: Path) -> None:
        command = ty_command()
        if command is None:
            raise WorkspaceError(
                "starting the resolver ty: it is not installed; pip install 'forwardbook[ty]'"
            )
        self._command = command
        self._root = root.resolve()
        self._outside: dict[str, dict[int, str]] = {}
        self._rows: dict[str, list[bytes]] = {}
        self._start()

    def _start(self) -> None:
        self._owner = os.getpid()
        self._process = subprocess.Popen(
            [self._command, "server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self._root,
            env={**os.environ, "VIRTUAL_ENV": sys.prefix},
        )
        self._ending = weakref.finalize(self, _end, self._process, self._owner)
        self._messages: queue.Queue[Message | None] = queue.Queue()
        self._number = 0
        threading.Thread(target=_listen, args=(self._process.stdout, self._messages), daemon=True).start()
        uri = self._root.as_uri()
        start: Message = {
            "processId": self._owner,
            "rootUri": uri,
            "workspaceFolders": [{"uri": uri, "name": self._root.name}],
            "capabilities": {"general": {"positionEncodings": ["utf-8"]}},
        }
        answer = self._answers([self._request("initialize", start)])[0]
        self._utf8 = (answer or {}).get("capabilities", {}).get("positionEncoding") == "utf-8"
        self._send({"method": "initialized", "params": {}})

    def __enter__(self) -> TyServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the child process."""
        self._ending()

    def definitions(self, path: str, data: bytes, positions: Sequence[Position]) -> list[tuple[Target, ...]]:
        """Where the names at some positions of a file are defined."""
        if not positions:
            return []
        if os.getpid() != self._owner:
            self._start()
        uri = (self._root / path).as_uri()
        text = data.decode("utf-8", "replace")
        rows = text.split("\n")
        document: Message = {"uri": uri, "languageId": "python", "version": 1, "text": text}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        numbers = [
            self._request(
                "textDocument/definition",
                {"textDocument": {"uri": uri}, "position": self._position(rows, position)},
            )
            for position in positions
        ]
        answers = self._answers(numbers)
        self._send({"method": "textDocument/didClose", "params": {"textDocument": {"uri": uri}}})
        return [self._targets(answer) for answer in answers]

    def _position(self, rows: list[str], position: Position) -> Message:
        line, column = position
        if not self._utf8 and line <= len(rows):
            before = rows[line - 1].encode()[:column].decode("utf-8", "replace")
            column = len(before.encode("utf-16-le")) // 2
        return {"line": line - 1, "character": column}

    def _targets(self, answer: Any) -> tuple[Target, ...]:
        places = answer if isinstance(answer, list) else [answer] if answer else []
        found: dict[Target, None] = {}
        for place in places:
            span = place.get("targetSelectionRange") or place.get("range")
            line = span["start"]["line"] + 1
            file = Path(unquote(urlsplit(place.get("targetUri") or place["uri"]).path))
            if file.is_relative_to(self._root):
                if self._is_definition(file, line, span["start"]["character"]):
                    found[Target(file.relative_to(self._root).as_posix(), line)] = None
            else:
                found[Target("", line, self._name_at(file, line))] = None
        return tuple(found)

    def _is_definition(self, file: Path, line: int, column: int) -> bool:
        """Whether a place is the name after `def` or `class`, and not a parameter or a variable."""
        key = str(file)
        if key not in self._rows:
            try:
                self._rows[key] = file.read_bytes().split(b"\n")
            except OSError:
                self._rows[key] = []
        rows = self._rows[key]
        before = rows[line - 1][:column].split() if line <= len(rows) else []
        return bool(before) and before[-1] in (b"def", b"class")

    def _name_at(self, file: Path, line: int) -> str:
        """The dotted name of what a file outside the root defines at a line, its module where nothing is."""
        module = _module(file)
        key = str(file)
        if key not in self._outside:
            try:
                facts = index_python(key, file.read_bytes(), module)
            except OSError:
                self._outside[key] = {}
            else:
                self._outside[key] = {one.span.start: one.qualname for one in facts.definitions}
        name = self._outside[key].get(line)
        return f"{module}.{name}" if name else module

    # The protocol

    def _request(self, method: str, params: Message) -> int:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        return self._number

    def _send(self, message: Message) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        stream = self._process.stdin
        assert stream is not None
        try:
            stream.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
            stream.flush()
        except OSError as error:
            raise WorkspaceError(f"asking the resolver ty: it ended ({error})") from error

    def _answers(self, numbers: list[int]) -> list[Any]:
        waiting, found = set(numbers), dict.fromkeys(numbers)
        while waiting:
            try:
                message = self._messages.get(timeout=_SECONDS)
            except queue.Empty:
                raise WorkspaceError(f"asking the resolver ty: no answer in {_SECONDS:.0f} s") from None
            if message is None:
                raise WorkspaceError("asking the resolver ty: it ended; run with --resolver own")
            if "method" in message:
                if "id" in message:  # a question of the server's own: nothing is configured here
                    items = message.get("params", {}).get("items", [])
                    self._send({"id": message["id"], "result": [None for _ in items] or None})
            elif message.get("id") in waiting:
                waiting.discard(message["id"])
                found[message["id"]] = message.get("result")
        return [found[number] for number in numbers]


def _listen(stream: IO[bytes], messages: queue.Queue[Message | None]) -> None:
    """Put what the server says on a queue, and None when it ends."""
    try:
        while True:
            size = 0
            while (line := stream.readline()) not in (b"\r\n", b""):
                name, _, value = line.partition(b":")
                size = int(value) if name.lower() == b"content-length" else size
            body = stream.read(size) if size else b""
            if not body:
                break
            messages.put(json.loads(body))
    except (OSError, ValueError):
        pass
    messages.put(None)


def _end(process: subprocess.Popen[bytes], owner: int) -> None:
    """Kill a server that this very process started."""
    if os.getpid() != owner:
        return
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()


def _module(file: Path) -> str:
    """The dotted name of a module by where it lies in a library."""
    parts = list(file.with_suffix("").parts)
    for marker in _LIBRARY:
        if marker in parts:
            parts = parts[len(parts) - parts[::-1].index(marker) :]
            break
    else:
        start = next(
            (number for number, part in enumerate(parts) if part.startswith("python3")), len(parts) - 2
        )
        parts = parts[start + 1 :]
    return ".".join(part for part in parts if part != "__init__") or file.stem
