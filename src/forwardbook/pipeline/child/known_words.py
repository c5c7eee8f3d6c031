"""Text that came out of a child process in; out the same text without any word that arose in it.

Analysed code can write the answer of its own analysis, and whatever it has read into that. A model, and
whoever is sent a file of `diagnostics/`, reads words that were known before the code ran: those of the
class's file, of the request and of this package, and numbers. `…` stands for any other.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from pydantic import JsonValue

import forwardbook
from forwardbook.analyzers.reader import Sources
from forwardbook.pipeline.child.request import Request, Response

LONGEST: Final = 20_000
"""Characters of one text."""
_UNKNOWN: Final = "…"
_WORDS: Final = re.compile(r"\w+")
_PIECES: Final = re.compile(r"\w+|[^\x20-\x7e\n\t]")
_NUMBER: Final = re.compile(r"[0-9]{1,20}|[0-9]{1,3}e")
_NUMBERED: Final = re.compile(r"_?[0-9]{1,3}$")
_SIGNS: Final = frozenset("…—–×·⌊⌋⌈⌉≤≥≠")  # noqa: RUF001 - that is the sign
_SAID: Final = frozenset({"reason", "points", "regimes", "traceback"})
"""What workers say beside an answer; results have names of their own, and whoever reads one checks it."""
_DATA: Final = ("generated_modules", "module_db")
_OPERATORS: Final = "packaged/ATen/native/native_functions.yaml"
_MOST: Final = 4_000_000  # characters of a source file that are looked at


@dataclass(frozen=True, slots=True)
class KnownWords:
    """Words that were known before a class was run."""

    words: frozenset[str]

    def only(self, text: str) -> str:
        """The text with `…` for each word, and each character of no plain text, that is not known."""
        return _PIECES.sub(lambda found: found[0] if self.has(found[0]) else _UNKNOWN, text[:LONGEST])

    def only_in(self, value: JsonValue) -> JsonValue:
        """A value whose texts hold known words alone."""
        if isinstance(value, str):
            return self.only(value)
        if isinstance(value, list):
            return [self.only_in(one) for one in value]
        if isinstance(value, dict):
            return {self.only(name): self.only_in(one) for name, one in value.items()}
        return value

    def has(self, word: str) -> bool:
        """Whether a word is known, is a number, or is made of such parts, as `hidden_size_2` is."""
        if self._has_part(word) or word in _SIGNS or _NUMBER.fullmatch(word):
            return True
        parts = word.split("_")
        return any(parts) and all(map(self._has_part, filter(None, parts)))

    def _has_part(self, part: str) -> bool:
        """Whether it is known, with a number at its end or without, or is a short number."""
        bare = _NUMBERED.sub("", part, count=1)
        return not bare or bare in self.words or part in self.words


def in_known_words(response: Response, request: Request) -> Response:
    """The response with known words alone in what is for a model and for files; `problem` is for a person."""
    if response.problem is None and not _SAID & response.diagnostics.keys():
        return response.model_copy(update={"told": ""}) if response.told else response
    words = known_words(request)
    kept = dict(response.diagnostics) if response.problem is None else {}
    kept |= {name: words.only_in(said) for name, said in response.diagnostics.items() if name in _SAID}
    return response.model_copy(update={"told": words.only(response.told), "diagnostics": kept})


def known_words(request: Request) -> KnownWords:
    """Those of the file of a request's class, of the request itself and of this package.

    Of an installed class those of the files beside it too, where its config is.
    """
    found = set(_words(request.model_dump_json()))
    roots = [Path(root) for root in request.roots]
    module = request.target.rpartition(".")[0]
    file = Path(request.file) if request.file else Sources(roots).find(module)
    files = [] if file is None else sorted(file.parent.glob("*.py")) if "-packages" in str(file) else [file]
    for one in (*files, *([Path(request.config_file)] if request.config_file else [])):
        found.update(_words(_text(one)))
    return KnownWords(frozenset(found) | _ours())


@lru_cache(maxsize=1)
def _ours() -> frozenset[str]:
    """Words of the sources of this package, and names of operators of torch."""
    root = Path(forwardbook.__file__).parent
    rooms = [one for one in root.iterdir() if one.name not in _DATA]
    files = [file for room in rooms for file in ([room] if room.suffix == ".py" else room.rglob("*.py"))]
    spec = importlib.util.find_spec("torchgen")
    operators = [Path(place) / _OPERATORS for place in spec.submodule_search_locations or ()] if spec else []
    return frozenset(word for file in (*files, *operators) for word in _words(_text(file)))


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")[:_MOST]
    except OSError:
        return ""


def _words(text: str) -> Iterator[str]:
    return (found[0] for found in _WORDS.finditer(text))
