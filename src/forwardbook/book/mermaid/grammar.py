"""Diagram text in, the verdict of Mermaid's own grammar out: asked once, started when needed."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, MutableMapping
from concurrent.futures import Future
from dataclasses import dataclass
from hashlib import sha256
from queue import SimpleQueue
from typing import Final

from forwardbook.book.mermaid.engine import Answer, Engine, EngineMissingError

MAX_TEXT: Final = 50_000
"""Mermaid's own `maxTextSize`: a longer diagram is not drawn."""
SECONDS: Final = 10.0

_RULE = re.compile(r"^-{3}\s*$")
_COMMENT = re.compile(r"^\s*%%(?!\{)")


@dataclass(frozen=True, slots=True)
class Parsed:
    """`ok` is None where the grammar could not be asked; `line` counts from 1 in the diagram's text."""

    ok: bool | None
    line: int = 0
    message: str = ""


class _V8:
    """The engine of a process, made when it is first needed."""

    def __init__(self) -> None:
        self._engine: Engine | None = None

    def engine(self) -> Engine:
        self._engine = self._engine or Engine()
        return self._engine

    def drop(self) -> None:
        """End the engine; the next question makes another one."""
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()


class _Server:
    """The one thread of a process in which V8 is made, asked and ended.

    A V8 that a second thread makes or ends ends the process on machines with memory protection keys: a thread
    has the key of the first V8 only if it descends from that V8's thread. The thread is a daemon, and V8 is
    a local of it: a program that ends early waits for no verdict and ends no V8. A forked process begins
    anew.
    """

    def __init__(self) -> None:
        self._waiting: SimpleQueue[Callable[[_V8], None]] = SimpleQueue()
        self._process = 0

    def put(self, work: Callable[[_V8], None]) -> None:
        """Do some work in that thread, after all that was put before."""
        if self._process != os.getpid():
            self._process, self._waiting = os.getpid(), SimpleQueue()
            threading.Thread(target=self._serve, args=(self._waiting,), name="mermaid", daemon=True).start()
        self._waiting.put(work)

    @staticmethod
    def _serve(waiting: SimpleQueue[Callable[[_V8], None]]) -> None:
        v8 = _V8()
        while True:
            waiting.get()(v8)


_SERVER: Final = _Server()


class Grammar:
    """Mermaid's grammar behind a store of verdicts by `key(text)`; `store` may outlive the process."""

    def __init__(self, store: MutableMapping[str, Parsed] | None = None, seconds: float = SECONDS) -> None:
        self.store: MutableMapping[str, Parsed] = {} if store is None else store
        self.seconds = seconds
        self._asked: dict[str, Future[Parsed]] = {}
        self._missing: Parsed | None = None

    def submit(self, text: str) -> Future[Parsed]:
        """The verdict to come: V8 works in its own thread while the caller goes on."""
        name = key(text)
        if name in self._asked:
            return self._asked[name]
        future = self._asked[name] = Future[Parsed]()
        if name in self.store or len(text) > MAX_TEXT:
            future.set_result(self.store.get(name) or _too_long(text))
            return future
        _SERVER.put(lambda v8: self._answer(v8, text, name, future))
        return future

    def check(self, text: str) -> Parsed:
        """The verdict on a diagram."""
        return self.submit(text).result()

    def close(self) -> None:
        """Give the memory of the engine back, once it has answered what was asked."""
        done = threading.Event()
        _SERVER.put(_V8.drop)
        _SERVER.put(lambda v8: done.set())
        done.wait()

    def _answer(self, v8: _V8, text: str, name: str, future: Future[Parsed]) -> None:
        try:
            future.set_result(self._ask(v8, text, name))
        except BaseException as problem:  # whoever waits shall have it
            future.set_exception(problem)

    def _ask(self, v8: _V8, text: str, name: str) -> Parsed:
        if self._missing is not None:
            return self._missing
        try:
            engine = v8.engine()
        except EngineMissingError as missing:
            self._missing = Parsed(None, 0, str(missing))
            return self._missing
        found = self._parse(v8, engine, text)
        if found.ok is not None:
            self.store[name] = found
        return found

    def _parse(self, v8: _V8, engine: Engine, text: str) -> Parsed:
        head, kept = _as_mermaid_reads(text)
        given = "\n".join([*head, *(line for _, line in kept)])
        first = kept[0][0] if kept else 1
        try:
            answer = engine.ask(given, self.seconds)
        except Exception as problem:  # out of time, memory or stack, each with a class of its own
            answer = Answer(done=False, error=type(problem).__name__)
        if not answer.get("done"):
            v8.drop()  # that engine is spent
            why = answer.get("error", f"no answer in {self.seconds:g} s")
            return Parsed(None, first, f"Mermaid's parser gave up: {why}")
        if answer.get("lacking"):
            return Parsed(None, first, f"Mermaid needs what this engine lacks: {answer.get('error')}")
        if "error" not in answer:
            return Parsed(True)
        line = answer.get("line")
        place = kept[min(max(line, 1), len(kept)) - 1][0] if line is not None and kept else first
        return Parsed(False, place, _first_line(answer["error"]))


def key(text: str) -> str:
    """The name of a diagram's verdict in a store."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _too_long(text: str) -> Parsed:
    return Parsed(False, 1, f"{len(text)} characters; Mermaid draws at most {MAX_TEXT}")


def _first_line(message: str) -> str:
    lines = [line.strip() for line in message.split("\n") if line.strip()]
    expected = next((line for line in lines if line.startswith("Expecting")), "")
    got = expected.rpartition("got ")[2] if "got " in expected else ""
    said = re.sub(r" on line \d+:?$", "", lines[0]) if lines else "no message"  # that number is the lexer's
    return said + (f": unexpected {got}" if got else "")


def _as_mermaid_reads(text: str) -> tuple[list[str], list[tuple[int, str]]]:
    """Front matter, then every other line with its number: comments are dropped before the grammar counts."""
    lines = text.replace("\r\n", "\n").split("\n")
    begin = 0
    if _RULE.match(lines[0]):
        ends = (number + 1 for number, line in enumerate(lines[1:], 1) if _RULE.match(line.strip()))
        begin = next(ends, 0)
    numbered = enumerate(lines[begin:], begin + 1)
    kept = [(number, line) for number, line in numbered if not _COMMENT.match(line)]
    while kept and not kept[0][1].strip():
        kept.pop(0)
    return lines[:begin], kept
