"""Mermaid's own JavaScript in an embedded V8: the text of a diagram in, the answer of its parser out."""

from __future__ import annotations

import json
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypedDict, cast

from forwardbook.errors import ForwardbookError

if TYPE_CHECKING:
    from py_mini_racer import MiniRacer

MEMORY_LIMIT: Final = 1 << 30
START_SECONDS: Final = 60.0

# Mermaid expects a few things of the web. DOMPurify without a document is a function without methods; as the
# text is only parsed here and never shown, its two methods may do nothing.
_WEB: Final = r"""
globalThis.window = undefined;
for (const name of ["log", "warn", "error", "info", "debug", "trace"])
  (globalThis.console ??= {})[name] ??= () => {};
globalThis.structuredClone ??= value => JSON.parse(JSON.stringify(value));
globalThis.setTimeout ??= () => 0;
globalThis.clearTimeout ??= () => {};
globalThis.TextEncoder ??= class {
  encode(text) { return Uint8Array.from(unescape(encodeURIComponent(text)), c => c.charCodeAt(0)); }
};
globalThis.TextDecoder ??= class {
  decode(bytes) { return decodeURIComponent(escape(String.fromCharCode(...bytes))); }
};
globalThis.URL ??= class URL {
  constructor(given) {
    const parts = /^([a-z][a-z0-9+.-]*:)(\/\/([^\/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?$/i.exec(String(given));
    if (!parts) throw new TypeError("Invalid URL");
    [this.href, this.protocol, , this.host, this.pathname, this.search, this.hash] = parts;
    this.protocol = this.protocol.toLowerCase();
    this.host ??= ""; this.search ??= ""; this.hash ??= "";
    this.hostname = this.host.split("@").pop().split(":")[0];
  }
  toString() { return this.href; }
  static canParse(text) { try { new URL(text); return true; } catch { return false; } }
};
globalThis.Option ??= class { style = {}; };
Function.prototype.addHook = function () {};
Function.prototype.sanitize = text => text;
0
"""

_ASK: Final = r"""
globalThis.__ask = text => {
  const answer = globalThis.__answer = {done: false};
  mermaid.parse(text).then(
    found => { answer.done = true; answer.diagram = found && found.diagramType; },
    error => {
      answer.done = true;
      answer.error = String(error && error.message || error);
      answer.lacking = error instanceof ReferenceError;
      const place = error && error.hash;
      answer.line = place ? (place.loc ? place.loc.first_line : place.line) : null;
    });
  return 0;
};
0
"""


class Answer(TypedDict, total=False):
    """What Mermaid said: `error` and its `line`; `lacking` where the engine misses something of the web."""

    done: bool
    diagram: str
    error: str
    lacking: bool
    line: int | None


class EngineMissingError(ForwardbookError):
    """Mermaid's grammar cannot be asked; the message names the package that is missing."""


class Engine:
    """One V8 that has read Mermaid. To be made and asked in one thread: mini-racer refuses time limits beside
    a running event loop."""

    def __init__(self) -> None:
        source = mermaid_source()
        try:
            from py_mini_racer import MiniRacer
        except ImportError as missing:
            raise EngineMissingError(f"checking diagrams: mini-racer cannot be imported ({missing}); "
                                     "install it with: pip install mini-racer") from missing  # fmt: skip
        self._v8: MiniRacer = MiniRacer()
        self._v8.set_hard_memory_limit(MEMORY_LIMIT)
        for part in (_WEB, source + "\n;0", _ASK):
            self._v8.eval(part, timeout_sec=START_SECONDS)

    def ask(self, text: str, seconds: float) -> Answer:
        """Mermaid's answer, `done` false where it did not come in time."""
        self._v8.eval(f"__ask({json.dumps(text)})", timeout_sec=seconds)
        end = time.monotonic() + seconds
        answer = self._read(seconds)
        while not answer.get("done") and time.monotonic() < end:
            time.sleep(0.001)
            answer = self._read(seconds)
        return answer

    def _read(self, seconds: float) -> Answer:
        return cast(Answer, json.loads(str(self._v8.eval("JSON.stringify(__answer)", timeout_sec=seconds))))

    def close(self) -> None:
        """Give the memory back."""
        self._v8.close()


def mermaid_path() -> Path:
    """The file of Mermaid's JavaScript inside the installed package mermaidx, which is not imported."""
    spec = find_spec("mermaidx")
    for folder in (spec and spec.submodule_search_locations) or ():
        path = Path(folder, "assets", "mermaid.js")
        if path.is_file():
            return path
    raise EngineMissingError(
        "checking diagrams: the package mermaidx, which carries mermaid.js, is not installed; "
        "install it with: pip install mermaidx"
    )


def mermaid_source() -> str:
    """Mermaid's JavaScript."""
    return mermaid_path().read_text(encoding="utf-8")
