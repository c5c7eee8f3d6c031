"""The bytes of a YAML, JSON or TOML file in, its keys with their types, values and lines out."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final

from forwardbook.analyzers.index.facts import Attribute, FileFacts, Language
from forwardbook.analyzers.index.marks import marks
from forwardbook.analyzers.index.problems import problem
from forwardbook.analyzers.index.source_text import decoded

LONGEST: Final = 512 * 1024  # bytes; longer files hold data, not settings
MOST: Final = 2_000  # keys
VALUE: Final = 160  # characters of a value


class Unreadable(Exception):  # noqa: N818 - it ends the reading of a file and never leaves this room
    """Why a configuration file cannot be read further, and the line."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line = line


def index_config(path: str, data: bytes, language: Language) -> FileFacts:
    """The facts of a configuration file: its dotted keys as constants, each with its type and value."""
    source = decoded(data)
    problems = list(source.problems)
    keys: list[Attribute] = []
    if len(data) > LONGEST:
        problems.append(problem(0, f"{len(data):,} bytes: keys are listed up to {LONGEST:,}"))
    else:
        try:
            for key in islice(_reader(language)(source.text), MOST + 1):
                keys.append(key)  # noqa: PERF402 - those before an error are kept
        except Unreadable as error:
            problems.append(problem(error.line, str(error)))
        except (ValueError, RecursionError) as error:
            problems.append(problem(0, f"not read: {error}"))
    if len(keys) > MOST:
        problems.append(problem(keys.pop().line, f"only the first {MOST:,} keys are listed"))
    said = marks(path, source.text)
    return FileFacts(
        path=path,
        language=language,
        digest=hashlib.sha256(data).hexdigest(),
        lines=source.lines,
        encoding=source.encoding,
        constants=tuple(keys),
        generated_by=said.generated_by,
        generated_from=said.generated_from,
        problems=tuple(problems),
    )


def _reader(language: Language) -> Callable[[str], Iterable[Attribute]]:
    if language == "yaml":
        from forwardbook.analyzers.index.config_yaml import yaml_keys

        return yaml_keys
    if language == "toml":
        from forwardbook.analyzers.index.config_toml import toml_keys

        return toml_keys
    from forwardbook.analyzers.index.config_json import json_keys

    return json_keys


class Keys:
    """Collects dotted keys while a file is read from top to bottom; items of lists share the key `name[]`.

    Call `opened` for a mapping or list, `key` and `scalar` within it, and `closed` at its end. A list is told
    by the types of its items.
    """

    def __init__(self) -> None:
        self._path: list[str] = []
        self._kinds: list[str] = []  # of the mappings and lists that are open
        self._items: list[dict[str, None]] = []  # the types of the items of each
        self._places: list[int] = []  # where in `found` the key of each stands, -1 for none
        self._seen: set[str] = set()
        self._named = False  # a key waits for its value
        self._line = 0
        self.found: list[Attribute] = []

    def key(self, name: str, line: int) -> None:
        """A mapping's next key, whose value follows."""
        self._path.append(name if name.isprintable() else ascii(name)[1:-1])
        self._named, self._line = True, line

    @property
    def in_list(self) -> bool:
        """Whether the next value is an item of a list."""
        return bool(self._kinds) and self._kinds[-1] == "list"

    def scalar(self, kind: str, value: str) -> None:
        """A value that is neither mapping nor list."""
        if self._items:
            self._items[-1][kind] = None
        if self._named:
            self._note(kind, value)
            self._path.pop()
        self._named = False

    def opened(self, kind: str) -> None:
        """A mapping or a list, whose keys or items follow."""
        if self._items:
            self._items[-1][kind] = None
        if not self._named:
            self._path.append("[]" if self.in_list else "")
        self._places.append(self._note(kind, "") if self._named else -1)
        self._kinds.append(kind)
        self._items.append({})
        self._named = False

    def closed(self) -> None:
        """The end of the innermost mapping or list."""
        if self._named:  # a key without a value, in a broken file
            self._path.pop()
            self._named = False
        kind, items, place = self._kinds.pop(), self._items.pop(), self._places.pop()
        self._path.pop()
        if kind == "list" and place >= 0:
            known = self.found[place]
            inner = " or ".join(items) if items else ""
            typed = f"list of {inner}" if inner else "list"
            self.found[place] = Attribute(known.name, known.line, typed, known.value)

    def _note(self, kind: str, value: str) -> int:
        name = ".".join(part for part in self._path if part).replace(".[]", "[]")
        if name in self._seen or not name:
            return -1
        self._seen.add(name)
        value = " ".join(value.split())
        if len(value) > VALUE:
            value = value[: VALUE - 1] + "…"
        self.found.append(Attribute(name, self._line, kind, value))
        return len(self.found) - 1


def walked(value: object, keys: Keys, line_of: Callable[[tuple[str, ...]], int]) -> Iterator[Attribute]:
    """The keys of nested dictionaries and lists, such as `tomllib` gives."""
    _walk(value, keys, line_of, ())
    yield from keys.found


def _walk(value: object, keys: Keys, line_of: Callable[[tuple[str, ...]], int], at: tuple[str, ...]) -> None:
    if isinstance(value, dict):
        keys.opened("mapping")
        for name, inner in value.items():
            keys.key(str(name), line_of((*at, str(name))))
            _walk(inner, keys, line_of, (*at, str(name)))
        keys.closed()
    elif isinstance(value, list):
        keys.opened("list")
        for inner in value:
            _walk(inner, keys, line_of, at)
        keys.closed()
    else:
        keys.scalar(kind_of(value), _text(value))


def kind_of(value: object) -> str:
    """The name of a value's type as a page prints it."""
    names = {bool: "boolean", int: "integer", float: "float", str: "string", type(None): "null"}
    return names.get(type(value), type(value).__name__)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)
