"""Databases that somebody hostile could hand over: a name and what is done to a folder that holds a good one.

Each leads to a file PWNED if a command runs what stands in data.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

Entry = dict[str, Any]
Spoil = Callable[[Path, Entry], None]
KEY: Final = "classes_A0"
RUN: Final = "open('PWNED','w').write('x')"
_IMPORT: Final = "__import__('os').system('touch PWNED')"
ESCAPE: Final = "\x1b]0;owned\x07\x1b[2J\x1b]8;;http://127.0.0.1\x1b\\link\x1b]8;;\x1b\\\u202etxt\x9b31m\r\b"


def saved(folder: Path, entry: Entry, key: str = KEY, **more: object) -> None:
    """The database with the one entry."""
    content = {"schema_version": 1, "rules_version": "", "entries": {key: entry}, **more}
    (folder / "module_db.json").write_text(json.dumps(content), encoding="utf-8")


def _field(*path: str | int, value: object) -> Spoil:
    def spoil(folder: Path, entry: Entry) -> None:
        place: Any = entry
        for part in path[:-1]:
            place = place[part]
        place[path[-1]] = value
        saved(folder, entry)

    return spoil


def _key(key: str) -> Spoil:
    return lambda folder, entry: saved(folder, entry, key)


def _file(make: Callable[[Path], object], name: str = "classes_a0.py") -> Spoil:
    """A good entry beside a file of a calculator that is not what the entry renders to."""

    def spoil(folder: Path, entry: Entry) -> None:
        saved(folder, entry)
        place = folder / "generated_modules" / name
        place.parent.mkdir(exist_ok=True)
        make(place)

    return spoil


def _named(name: str) -> Spoil:
    """A file of code, and an entry that says that it is its calculator."""

    def spoil(folder: Path, entry: Entry) -> None:
        (folder / "generated_modules").mkdir()
        for place in (folder / "evil.py", folder / "generated_modules" / "evil.py"):
            place.write_text(f"{RUN}\n")
        entry["generated_file_name"] = name.replace("FOLDER", str(folder))
        saved(folder, entry)

    return spoil


def _whole(text: str | bytes) -> Spoil:
    def spoil(folder: Path, entry: Entry) -> None:
        data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
        (folder / "module_db.json").write_bytes(data)

    return spoil


def _note(content: object) -> Spoil:
    def spoil(folder: Path, entry: Entry) -> None:
        saved(folder, entry)
        (folder / "package.json").write_text("{}")
        (folder / ".module_db.json.note").write_text(json.dumps(content))

    return spoil


def _families(index: object) -> Spoil:
    def spoil(folder: Path, entry: Entry) -> None:
        content = {"schema_version": 2, "entries": {}, "families": index}
        (folder / "module_db.json").write_text(json.dumps(content))

    return spoil


def _deep(levels: int) -> Any:
    found: Any = 1
    for _ in range(levels):
        found = [found]
    return found


_CLASSES: Final[Mapping[str, str]] = {
    "body": f"A0Calculator(Calculator):\n    pass\n{RUN}\nclass Z",
    "base": f"A0Calculator({RUN}, Calculator):\n  pass\nclass B",
    "semicolon": f"A:0\n{RUN};x=1#",
    "keyword": "class",
    "builtin": "greatest",
    "letters": "ÜnïCalculator",
    "lookalike": "Ａ0Calculator",
    "blank": "A 0Calculator",
    "dotted": "os.system",
    "escape": ESCAPE,
    "long": "A" * 100_000 + "Calculator",
    "nul": "A\x00Calculator",
}
_FILES: Final[Mapping[str, str]] = {
    "absolute": "FOLDER/evil.py",
    "above": "../evil.py",
    "far above": "../../../../../../../../tmp/evil.py",
    "beside": "evil.py",
    "package": "__init__.py",
    "folder": "../generated_modules",
    "nul": "evil.py\x00.py",
    "windows": "..\\evil.py",
    "capitals": "EVIL.PY",
    "url": "http://127.0.0.1/evil.py",
    "long": "a" * 5000 + ".py",
    "escape": ESCAPE + ".py",
}
_FORMULAS: Final[Mapping[str, str]] = {
    "import": _IMPORT,
    "attribute": "{batch_size}.__class__",
    "power": "9 ** 9 ** 9",
    "deep": "(" * 5000 + "1" + ")" * 5000,
    "digits": "9" * 100_000,
    "statement": f"1\n{RUN}",
    "braces": "{batch_size}}{" + RUN + "}",
    "divided": "{batch_size} // 0",
}
_FIRST: Final = ("regimes", 0)

SPOILT: Final[dict[str, Spoil]] = {
    **{f"class name: {n}": _field("generated_class_name", value=v) for n, v in _CLASSES.items()},
    **{f"file name: {n}": _named(v) for n, v in _FILES.items()},
    **{f"flops: {n}": _field(*_FIRST, "flop_analysis", "flops", value=v) for n, v in _FORMULAS.items()},
    "full name: code": _field("full_class_name", value=f"classes.A0(Calculator):\n {RUN}\nclass B"),
    "full name: escape": _field("full_class_name", value=f"classes.{ESCAPE}A0"),
    "full name: path": _field("full_class_name", value="../../x.A0"),
    "full name: docstring": _field("full_class_name", value=f'classes."""\n{RUN}\n"""A0'),
    "full name: markup": _field("full_class_name", value="classes[/bold][link=http://127.0.0.1].A0"),
    "full name: no class": _field("full_class_name", value="A0("),
    "library: path": _field("library", value="/etc"),
    "source file: absolute": _field("code_location", "file", value="/etc/passwd"),
    "source file: above": _field("code_location", "file", value="../../evil.py"),
    "same as: path": _field("same_as", value="../../x"),
    "same as: itself": _field("same_as", value=KEY),
    "same as: nothing": _field("same_as", value="classes_B0"),
    "same as: a number": _field("same_as", value=7),
    "key: path": _key("../../evil"),
    "key: escape": _key(ESCAPE),
    "key: half a pair": _key("a\ud800"),
    "key: empty": _key(""),
    "regime name: code": _field(*_FIRST, "name", value=f'"\n{RUN}\n"'),
    "regime name: markup": _field(*_FIRST, "name", value="[/red][link=http://127.0.0.1]x[/link]"),
    "regime name: escape": _field(*_FIRST, "name", value=ESCAPE),
    "context: code": _field(*_FIRST, "context", value=f'"""\n{RUN}\n"""'),
    "context: backslash": _field(*_FIRST, "context", value="\\"),
    "context: nul": _field(*_FIRST, "context", value="\x00\x0c\x1c\x85\u2028"),
    "context: half a pair": _field(*_FIRST, "context", value="\udfff"),
    "condition: code": _field(*_FIRST, "conditions", value=[f"{RUN} == 1"]),
    "parameters: code": _field(*_FIRST, "parameters", value=[f"a: int = {RUN}"]),
    "choices: code": _field(*_FIRST, "choices", value={f'a"\n{RUN}\n"': "__import__('os')"}),
    "choices: not a number": _field(*_FIRST, "choices", value={"a": float("nan"), "b": {"c": float("inf")}}),
    "choices: deep": _field(*_FIRST, "choices", value={"a": _deep(300)}),
    "defaults: code": _field("defaults", value={"a": f"'''\n{RUN}"}),
    "given: code": _field("given", value={"init": {"in_features": _IMPORT, "out_features": "[].__class__"}}),
    "given: shape": _field("given", value={"inputs": {"input": f"{_IMPORT},{RUN}"}}),
    "given: config": _field("given", value={"config": {"auto_map": {"AutoConfig": "evil.Evil"}, "a": RUN}}),
    "given: escape": _field("given", value={"init": {ESCAPE: ESCAPE}, "inputs": {ESCAPE: ESCAPE}}),
    "unknown field": _field("run", value=RUN),
    "regimes: a number": _field("regimes", value=5),
    "regimes: numbers": _field("regimes", value=[1, None]),
    "validation: a text": _field("validation", value="exact"),
    "unresolved: a text": _field("unresolved", value="nothing"),
    "unresolved: numbers": _field("unresolved", value=[1]),
    "symbols: a number": _field("parameters", value=5),
    "symbols: numbers": _field("parameters", value=[1]),
    "symbols: nameless": _field("parameters", value=[{}]),
    "code location: a text": _field("code_location", value="classes.py"),
    "flop analysis: a list": _field(*_FIRST, "flop_analysis", value=[1]),
    "calls: numbers": _field(*_FIRST, "flop_analysis", "submodule_calls", value=[1]),
    "lines: numbers": _field(*_FIRST, "flop_analysis", "lines", value=[1]),
    "proof: a list": _field(*_FIRST, "proof", value=[1]),
    "versions: a list": _field("versions", value=[1]),
    "derived by: a number": _field("derived_by", value=3),
    "verdict: escape": _field("validation", value={"verdict": ESCAPE}),
    "derived by: markup": _field("derived_by", value=["[/]", 3]),
    "rewritten: code": _field(
        "rewritten", value={"model": "m", "prompt_version": "1", "formulas": {"0": RUN, "1": "{evil}"}}
    ),
    "calculator: code": _file(lambda path: path.write_text(f"{RUN}\n")),
    "calculator: binary": _file(lambda path: path.write_bytes(b"\x00\xff\xfe" * 99)),
    "calculator: link": _file(lambda path: path.symlink_to("/etc/passwd")),
    "calculator: pipe": _file(lambda path: os.mkfifo(path)),
    "calculator: folder": _file(lambda path: path.mkdir()),
    "calculator: link loop": _file(lambda path: path.symlink_to(path)),
    "note: list": _note(["a"]),
    "note: another file": _note({"package.json": True}),
    "note: above": _note({"../x.json": True}),
    "note: escape": _note({ESCAPE: True}),
    "families: path": _families({"../../etc": {"bytes": 1, "entries": {}}}),
    "families: list": _families([1]),
    "families: missing file": _families({"a.b": {"bytes": 1, "entries": {KEY: {"full_class_name": "a.A0"}}}}),
    "whole: list": _whole("[]"),
    "whole: deep": _whole("[" * 100_000),
    "whole: digits": _whole('{"schema_version": 2, "entries": {"a": {"line": ' + "9" * 10_000 + "}}}"),
    "whole: not UTF-8": _whole(b'{"schema_version": 2, "entries": {"\xff": {}}}'),
    "whole: escape": _whole(ESCAPE),
    "whole: version": _whole('{"schema_version": "\\u001b[31m", "entries": {}}'),
    "whole: pipe": lambda folder, entry: os.mkfifo(folder / "module_db.json"),
    "whole: link loop": lambda folder, entry: (folder / "module_db.json").symlink_to("module_db.json"),
    "whole: folder": lambda folder, entry: (folder / "module_db.json").mkdir(),
}
"""What is hostile, by name."""


def spoil(name: str, folder: Path, entry: Entry) -> None:
    """Put the database of that name into a folder; `entry` is a good one."""
    SPOILT[name](folder, copy.deepcopy(entry))
