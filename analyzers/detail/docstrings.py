"""A docstring in Google's, NumPy's or Sphinx's style in, its parts out: summary, parameters, raises, ..."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

_SECTIONS: Final = {
    **dict.fromkeys(
        ("args", "arguments", "parameters", "params", "keyword args", "keyword arguments"), "parameters"
    ),
    **dict.fromkeys(("other parameters", "inputs"), "parameters"),
    **dict.fromkeys(("returns", "return", "output", "outputs"), "returns"),
    **dict.fromkeys(("yields", "yield"), "yields"),
    **dict.fromkeys(("raises", "raise", "exceptions"), "raises"),
    **dict.fromkeys(("attributes", "attrs", "fields"), "attributes"),
    **dict.fromkeys(("example", "examples", "usage"), "examples"),
    **dict.fromkeys(
        ("note", "notes", "warning", "warnings", "warns", "see also", "references", "todo"), "other"
    ),
    **dict.fromkeys(("shape", "shapes", "methods", "receives", "important", "tip", "caution"), "other"),
}
_GOOGLE: Final = re.compile(r"^(\s*)([A-Za-z][A-Za-z ]*?)\s*:{1,2}\s*$")
_RULE: Final = re.compile(r"^\s*[-=]{3,}\s*$")
_ITEM: Final = re.compile(r"^(\*{0,2}[\w.\\*]+(?:\s*,\s*\*{0,2}\w+)*)\s*(?:\((.*?)\))?\s*:(?!:)\s*(.*)$")
_QUOTED: Final = re.compile(r"^[`*]{1,2}([\w.]+)[`*]{1,2}\s*(.*)$")
_FIELD: Final = re.compile(r"^\s*:(\w+)(?:\s+([^:]*?))?:\s*(.*)$")
_NUMPY_ITEM: Final = re.compile(r"^(\*{0,2}[\w.]+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::\s*(.*))?$")


@dataclass(frozen=True, slots=True)
class Said:
    """What a docstring says of one name: its type and its meaning."""

    type: str = ""
    meaning: str = ""


@dataclass(slots=True)
class Docstring:
    """The parts of a docstring; what it does not hold is empty."""

    summary: str = ""
    parameters: dict[str, Said] = field(default_factory=dict)
    attributes: dict[str, Said] = field(default_factory=dict)
    raises: dict[str, str] = field(default_factory=dict)
    returns: Said = field(default_factory=Said)
    yields: Said = field(default_factory=Said)


def understood(text: str) -> Docstring:
    """The parts of a docstring whose indentation is taken off already."""
    found = Docstring(summary=summary(text))
    if not text or (":" not in text and "---" not in text):
        return found
    lines = text.split("\n")
    _fields(lines, found)
    at = 0
    while at < len(lines):
        name, style, indent = _heading(lines, at)
        if not name:
            at += 1
            continue
        at += 2 if style == "numpy" else 1
        end = _end(lines, at, indent, style)
        _section(name, style, lines[at:end], found)
        at = end
    return found


def summary(text: str) -> str:
    """The first paragraph of a docstring, on one line; a heading or section that it begins with is none."""
    words: list[str] = []
    lines = text.strip().split("\n")
    for number, line in enumerate(lines):
        bare = line.strip()
        if bare.startswith((":param", ":return", ":raise", ":type", ".. ", ">>>", "@param")):
            break
        if not bare:
            if words:
                break
            continue
        if _RULE.match(line):
            words = []
            continue
        if words and _heading(lines, number)[0]:
            break
        words.append(bare)
    return " ".join(words)


def _heading(lines: list[str], at: int) -> tuple[str, str, int]:
    """The section that begins on this line, by which style, and how far it is indented."""
    line = lines[at]
    if at + 1 < len(lines) and _RULE.match(lines[at + 1]):
        name = _SECTIONS.get(line.strip().rstrip(":").lower(), "")
        if name:
            return name, "numpy", len(line) - len(line.lstrip())
    match = _GOOGLE.match(line)
    if match is None:
        return "", "", 0
    return _SECTIONS.get(match[2].lower(), ""), "google", len(match[1])


def _end(lines: list[str], at: int, indent: int, style: str) -> int:
    """The line after the section that begins at `at`."""
    for number in range(at, len(lines)):
        line = lines[number]
        if not line.strip():
            continue
        if _heading(lines, number)[0] and len(line) - len(line.lstrip()) <= indent:
            return number
        if style == "google" and len(line) - len(line.lstrip()) <= indent:
            return number
    return len(lines)


def _section(name: str, style: str, lines: list[str], found: Docstring) -> None:
    if name in ("parameters", "attributes"):
        into = found.parameters if name == "parameters" else found.attributes
        for names, said in _items(lines, style):
            for each in re.split(r"\s*,\s*", names):
                into.setdefault(each.replace("\\", "").strip("*`"), said)
    elif name == "raises":
        for names, said in _items(lines, style):
            for each in re.split(r"\s*,\s*", names):
                found.raises.setdefault(each.strip("*`"), said.meaning)
    elif name in ("returns", "yields"):
        setattr(found, name, _result(lines, style))


def _items(lines: list[str], style: str) -> list[tuple[str, Said]]:
    """The entries of a section: names, and what is said of them in the lines that are indented deeper."""
    filled = [line for line in lines if line.strip()]
    if not filled:
        return []
    indent = len(filled[0]) - len(filled[0].lstrip())
    found: list[tuple[str, str, list[str]]] = []
    for line in filled:
        depth, bare = len(line) - len(line.lstrip()), line.strip().removeprefix("- ")
        head = _head(bare, style) if depth <= indent else None
        if head is not None:
            found.append((head[0], head[1], [head[2]] if head[2] else []))
        elif found:
            found[-1][2].append(bare)
    return [(names, Said(kind, " ".join(words))) for names, kind, words in found]


def _head(bare: str, style: str) -> tuple[str, str, str] | None:
    """The names, type and first words of an entry; nothing where the line goes on with the one before."""
    if style == "numpy":
        match = _NUMPY_ITEM.match(bare)
        return (match[1], match[2] or "", "") if match else None
    quoted = _QUOTED.match(bare)
    if quoted:
        bare = f"{quoted[1]} {quoted[2]}"
    match = _ITEM.match(bare)
    if match is None:
        return None
    kind = match[2] or ""
    if kind.count("(") > kind.count(")"):  # `(tuple(int, int)): ...` closes later
        whole = re.match(r"^(.*?)\s*\((.*)\)\s*:\s*(.*)$", bare)
        if whole:
            return whole[1], whole[2], whole[3]
    return match[1], kind, match[3]


def _result(lines: list[str], style: str) -> Said:
    filled = [line for line in lines if line.strip()]
    if not filled:
        return Said()
    if style == "numpy":
        first = filled[0].strip()
        rest = " ".join(line.strip() for line in filled[1:])
        indented = len(filled) > 1 and len(filled[1]) - len(filled[1].lstrip()) > len(filled[0]) - len(
            filled[0].lstrip()
        )
        return Said(first, rest) if indented else Said("", f"{first} {rest}".strip())
    words = " ".join(line.strip() for line in filled)
    match = re.match(r"^((?:[\w.]+(?:\[.*?\])?|`[^`]+`)(?:\s*\|\s*[\w.\[\]]+)*)\s*:\s+(.*)$", words)
    return Said(match[1].strip("`"), match[2]) if match else Said("", words)


def _fields(lines: list[str], found: Docstring) -> None:
    """Note Sphinx's `:param int x: ...`, `:type x: ...`, `:returns: ...`, `:raises E: ...`."""
    at = 0
    while at < len(lines):
        match = _FIELD.match(lines[at])
        if match is None:
            at += 1
            continue
        words = [match[3]]
        indent = len(lines[at]) - len(lines[at].lstrip())
        at += 1
        while at < len(lines) and lines[at].strip() and len(lines[at]) - len(lines[at].lstrip()) > indent:
            words.append(lines[at].strip())
            at += 1
        _field(match[1], (match[2] or "").strip(), " ".join(words).strip(), found)


def _field(name: str, subject: str, words: str, found: Docstring) -> None:
    kind, _, last = subject.rpartition(" ")
    last = last.replace("\\", "").strip("*")
    if name in ("param", "parameter", "arg", "argument", "key", "keyword") and last:
        known = found.parameters.get(last, Said())
        found.parameters[last] = Said(kind or known.type, words)
    elif name == "type" and last:
        found.parameters[last] = Said(words, found.parameters.get(last, Said()).meaning)
    elif name in ("return", "returns"):
        found.returns = Said(found.returns.type, words)
    elif name == "rtype":
        found.returns = Said(words, found.returns.meaning)
    elif name in ("yield", "yields"):
        found.yields = Said("", words)
    elif name in ("raise", "raises", "except", "exception") and subject:
        found.raises[subject] = words
    elif name in ("ivar", "var", "cvar") and last:
        found.attributes[last] = Said(kind, words)
