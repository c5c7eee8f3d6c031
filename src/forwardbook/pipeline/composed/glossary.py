"""What a name of a class means and which value it has by default: as docstring, signature or config say."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from forwardbook.analyzers.derive.boundary import Boundary
from forwardbook.analyzers.derive.layout import TensorLayout
from forwardbook.analyzers.derive.local import Local
from forwardbook.analyzers.detail.docstrings import Docstring, understood
from forwardbook.entries.definitions import plain
from forwardbook.formula import Expr
from forwardbook.pipeline.composed.facts import path_of_caller

LONGEST: Final = 120
"""Characters of a meaning."""
WORDS: Final[Mapping[str, str]] = {
    "batch_size": "independent samples",
    "seq_len": "positions of the sequence",
    "past_len": "positions that are in the cache already",
    "channels": "channels of the input",
    "frames": "frames of the input",
    "height": "rows of the input",
    "width": "columns of the input",
}
"""What the usual words for the sizes of an input mean."""
FEATURES: Final = "numbers at each position"
"""What the width of an input with three dimensions is: it has no columns."""
_END: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\[(])|\s+\.\.\s")
"""Where a sentence ends, or a directive of reStructuredText begins."""
_LINK: Final = re.compile(r"\[([^\]]+)\]\([^)]*\)|\[`([^`\]]+)`\]")


class Glossary:
    """The names of a class alone."""

    def __init__(self, local: Local) -> None:
        self._local = local
        self._paths: dict[str, str] = {}
        self._usual: dict[type, object] = {}
        for path in sorted(local.sizes, key=lambda one: one.startswith("called.")):
            self._note(path, local.sizes[path])

    def _note(self, path: str, value: Expr) -> None:
        """Where a name comes from: a place of the constructor that is called like it, or else the first."""
        for name in value.symbols():
            known = self._paths.get(name, "")
            better = path.startswith("built.") and path.endswith(f".{name}") > known.endswith(f".{name}")
            if value == Expr.symbol(name) and (not known or better):
                self._paths[name] = path

    def default(self, name: str) -> int | None:
        """The number that the class has for a name of its constructor where nobody says another."""
        kind, _, path = self._paths.get(name, "").partition(".")
        if kind != "built":
            return None
        argument, *fields = path.split(".")
        value = self._local.boundary.constructor.arguments.get(argument)
        if fields and hasattr(value, "__dict__"):
            found = self._config(type(value))
        else:
            found = _usual_argument(self._local.boundary, argument)
        for field in fields:
            found = _part(found, field)
        return found if type(found) is int else None

    def _config(self, kind: type) -> object:
        """A config as it is without arguments; None where there is none."""
        if kind not in self._usual:
            try:
                self._usual[kind] = kind()
            except Exception:  # noqa: BLE001 - analysed code may raise anything
                self._usual[kind] = None
        return self._usual[kind]

    def meaning(self, name: str) -> str:
        """The first sentence that a docstring says of a name; of usual words what they mean."""
        if name in self._local.quotients:
            whole, divisor = self._local.quotients[name]
            return f"{whole} / {plain(divisor)}"
        kind, _, path = self._paths.get(name, "").partition(".")
        if kind == "called":
            return self._of_input(name, path)
        return _documented(self._local.boundary, path) if kind else ""

    def _of_input(self, name: str, path: str) -> str:
        """What a size of a tensor that forward() takes is; of which one, if the name is no usual word."""
        place, _, number = path.rpartition(".")
        leaf = dict(self._local.boundary.forward.leaves).get(place)
        if not isinstance(leaf, TensorLayout):
            return ""
        base = re.sub(r"_\d+$", "", name)
        meaning = FEATURES if base == "width" and leaf.rank <= 3 else WORDS.get(base, "")
        if meaning and base == name:
            return meaning
        said = path_of_caller(self._local.boundary, place)
        return f"{meaning}, of {said}" if meaning else f"dimension {number} of {said}"


def first_sentence(text: str) -> str:
    """The first sentence of a text, without links, cut between words where it is long."""
    sentence = _END.split(_LINK.sub(lambda link: link[1] or link[2], text).strip(), maxsplit=1)[0]
    if len(sentence) <= LONGEST:
        return sentence
    return f"{sentence[: LONGEST - 3].rpartition(' ')[0]}..."


def _part(value: object, name: str) -> object:
    if isinstance(value, list | tuple):
        return value[int(name)] if name.isdigit() and int(name) < len(value) else None
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _usual_argument(boundary: Boundary, name: str) -> object:
    """The default of an argument of a constructor; None where it has none."""
    try:
        parameter = inspect.signature(boundary.kind.__init__).parameters.get(name)
    except (TypeError, ValueError):
        return None
    return None if parameter is None else parameter.default


def _documented(boundary: Boundary, path: str) -> str:
    """What is said of an argument of a constructor, or of a field of its config where that is defined."""
    argument, *fields = path.split(".")
    value, name = boundary.constructor.arguments.get(argument), argument
    owner: type = boundary.kind
    for field in fields:
        if hasattr(value, "__dict__"):
            name, owner = field, type(value)
        value = _part(value, field)
    for text in (owner.__doc__, owner.__dict__.get("__init__", owner).__doc__):
        said = _read(text or "")
        found = said.parameters.get(name) or said.attributes.get(name)
        if found is not None and found.meaning:
            return first_sentence(found.meaning)
    return ""


@lru_cache(maxsize=256)
def _read(text: str) -> Docstring:
    return understood(inspect.cleandoc(text))
