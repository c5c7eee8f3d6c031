"""Stored proof points of a database as data of their own: sizes, and measured integers of eight quantities.

    python -m benchmarks.goldens FOLDER

writes those of the database that is found from here, one file of JSON lines for each library. Formulas of
another engine, in other names, must give the same integers (benchmarks.reproduce).

A file begins with a line that says its format, the eight quantities in the order of all rows, where the
numbers are from, and the names of all sizes. Then follow, for each module of Python, one line with its name
and what its regimes share; for each class in it one line; for each regime of the class one. What is shared is
told by its place, from 0: names; texts; points, which are rows of integers in tables with names as columns,
counted through all tables of a module; `runs`, which are points and their number formats; `ways` to call a
class. A class whose code equals another's has no regimes but `same_as`, the key of the other. Where a class
does not say its key, it is that of the library and its name; what else is not said is as in PLAIN.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, Final, TypeVar

from benchmarks.measuring import commit

from forwardbook.errors import ForwardbookError
from forwardbook.registry import Registry
from forwardbook.schema import PROVED, QUANTITIES, Entry, Regime

FOLDER: Final = Path(__file__).parent.parent / "tests" / "data" / "goldens"
LIBRARIES: Final = ("torch", "transformers")
FORMAT: Final = "forwardbook goldens 1"
PLAIN: Final[Mapping[str, Any]] = {
    "regime": "default",
    "verdict": "exact",
    "dtype": "float32, bfloat16",
    "context": "called by itself",
    "given": [],
    "choices": {},
    "assumptions": [],
}

Json = dict[str, Any]
_T = TypeVar("_T")
_Row = tuple[tuple[str, ...], tuple[int, ...]]
"""A point: names of sizes, and the integers."""


@dataclass(frozen=True, slots=True)
class Point:
    """Sizes of all names of the run, and what was measured there, by quantity."""

    sizes: Mapping[str, int]
    measured: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Golden:
    """One regime of a class: how it was called, and its points."""

    full_class_name: str
    key: str
    regime: str
    verdict: str
    dtype: str
    """Formats of the weights and activations of its points, as `float32, bfloat16`."""
    context: str
    """`called by itself`, or `called as layers.*.mlp` of a call below a model."""
    given: tuple[str, ...]
    choices: Mapping[str, Any]
    assumptions: tuple[str, ...]
    points: tuple[Point, ...]

    @property
    def head(self) -> Regime:
        """The regime as the record says it, without formulas: for its `places` and its `scenario`."""
        return Regime.model_construct(name=self.regime, context=self.context, proof=None)


@dataclass(frozen=True, slots=True)
class Goldens:
    """Those of one file, in its order, and the classes that share the regimes of another key."""

    origin: Mapping[str, str]
    regimes: tuple[Golden, ...]
    same_as: Mapping[str, str] = field(default_factory=dict)
    """Full names of classes, and the key of the entry of equal code."""


def read(path: Path) -> Goldens:
    """The goldens of a file.

    Raises:
        ForwardbookError: where it is none of this format.
    """
    try:
        with path.open(encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        if lines[0]["format"] != FORMAT:
            raise ValueError(f"its format is {lines[0]['format']!r}")
        regimes, same = _read(lines)
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise ForwardbookError(
            f"reading goldens of {path.name}: it is no file of format {FORMAT!r} ({error}); "
            "write one with: python -m benchmarks.goldens FOLDER"
        ) from error
    return Goldens(lines[0]["origin"], regimes, same)


def _read(lines: list[Json]) -> tuple[tuple[Golden, ...], dict[str, str]]:
    head, regimes, same = lines[0], list[Golden](), dict[str, str]()
    module: Json = {}
    sizes, name, key = list[dict[str, int]](), "", ""
    for line in lines[1:]:
        if "module" in line:
            module, sizes = line, list(_sizes(line, head["names"]))
        elif "class" in line:
            name = f"{module['module']}.{line['class']}"
            key = line.get("key", _usual_key(name))
            if "same_as" in line:
                same[name] = line["same_as"]
        else:
            said = {**PLAIN, **_said_in(line, module)}
            rows = zip(said.pop("at"), said.pop("measured"), strict=True)
            points = (
                Point(sizes[place], dict(zip(head["quantities"], row, strict=True))) for place, row in rows
            )
            regimes.append(Golden(name, key, points=tuple(points), **said))
    return tuple(regimes), same


def _sizes(module: Json, names: list[str]) -> Iterator[dict[str, int]]:
    """The points of a module by their places: sizes by name."""
    for table in module["tables"]:
        columns = [names[place] for place in table["names"]]
        yield from (dict(zip(columns, row, strict=True)) for row in table["points"])


def _said_in(line: Json, module: Json) -> Json:
    """What the line of a regime says, with what it shares in full."""
    own = dict(line)
    way, run = module["ways"][own.pop("way")], module["runs"][own.pop("run")]
    texts = module["texts"]
    if "context" in own:
        own["context"] = texts[own["context"]]
    lists = {part: tuple(texts[place] for place in way.get(part, ())) for part in ("given", "assumptions")}
    return {**own, **run, **lists}


def _usual_key(full_class_name: str) -> str:
    """`transformers_LlamaMLP`."""
    return f"{full_class_name.partition('.')[0]}_{full_class_name.rpartition('.')[2]}"


def text_of(entries: Mapping[str, Entry], origin: Mapping[str, str]) -> str:
    """The text of a file with the proved regimes of entries by key."""
    each = (point for entry in entries.values() for one in proved(entry) for point in one.points)
    names = _places(sorted({name for point in each for name in point.sizes}))
    head = {"format": FORMAT, "quantities": QUANTITIES, "origin": dict(origin), "names": list(names)}
    lines = [_dense(head)]
    rows = sorted((entry.full_class_name.rpartition(".")[::2], key) for key, entry in entries.items())
    for module, group in groupby(rows, key=lambda row: row[0][0]):
        lines += _module(module, {key: entries[key] for _, key in group}, names)
    return "\n".join(lines) + "\n"


def proved(entry: Entry) -> list[Regime]:
    """The regimes of an entry with a proved verdict and points; none of one that shares another's."""
    if entry.same_as is not None:
        return []
    return [one for one in entry.regimes if one.proof and one.proof.verdict in PROVED and one.points]


def _module(module: str, entries: Mapping[str, Entry], names: Mapping[str, int]) -> Iterator[str]:
    """The lines of one module."""
    each = [regime for entry in entries.values() for regime in proved(entry)]
    if not each and not any(entry.same_as for entry in entries.values()):
        return
    tables: dict[tuple[str, ...], dict[tuple[int, ...], None]] = {}
    for columns, row in (_row(point.sizes) for regime in each for point in regime.points):
        tables.setdefault(columns, {})[row] = None
    points = _places((columns, row) for columns, rows in tables.items() for row in rows)
    texts = _places(text for one in each for text in (*one.given, *one.assumptions, one.context))
    ways = _places(_way(regime, texts) for regime in each)
    runs = _places(_run(regime, points) for regime in each)
    shared = {
        "texts": list(texts),
        "tables": [
            {"names": [names[name] for name in columns], "points": list(rows)}
            for columns, rows in tables.items()
        ],
        "runs": [json.loads(run) for run in runs],
        "ways": [json.loads(way) for way in ways],
    }
    yield _dense({"module": module, **shared})
    for key, entry in entries.items():
        own = {} if key == _usual_key(entry.full_class_name) else {"key": key}
        head = {"class": entry.full_class_name.rpartition(".")[2], **own}
        if entry.same_as is not None:
            yield _dense({**head, "same_as": entry.same_as})
        elif proved(entry):
            yield _dense(head)
        for one in proved(entry):
            places = {"way": ways[_way(one, texts)], "run": runs[_run(one, points)]}
            yield _dense({**_said(one, texts), **places, "measured": _measured(one)})


def _places(values: Iterable[_T]) -> dict[_T, int]:
    """Each value once, with its place."""
    return {value: place for place, value in enumerate(dict.fromkeys(values))}


def _said(regime: Regime, texts: Mapping[str, int]) -> Json:
    """What a regime says of itself."""
    assert regime.proof is not None
    said = {"regime": regime.name, "verdict": regime.proof.verdict, "choices": dict(regime.choices)}
    context = {"context": texts[regime.context]} if regime.context != PLAIN["context"] else {}
    return _odd(said) | context


def _way(regime: Regime, texts: Mapping[str, int]) -> str:
    """What regimes that are called alike say, as JSON: equal ones are equal texts."""
    said = {"given": regime.given, "assumptions": regime.assumptions}
    return _dense(_odd({part: [texts[text] for text in each] for part, each in said.items()}))


def _run(regime: Regime, points: Mapping[_Row, int]) -> str:
    """Where it was measured, and in which formats, as JSON."""
    assert regime.proof is not None
    at = [points[_row(point.sizes)] for point in regime.points]
    return _dense(_odd({"dtype": regime.proof.dtype}) | {"at": at})


def _measured(regime: Regime) -> list[list[int]]:
    return [[point.measured[name] for name in QUANTITIES] for point in regime.points]


def _row(sizes: Mapping[str, int]) -> _Row:
    names = tuple(sorted(sizes))
    return names, tuple(sizes[name] for name in names)


def _odd(said: Mapping[str, object]) -> Json:
    """What is not as in PLAIN."""
    return {name: value for name, value in said.items() if value != PLAIN[name]}


def _dense(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def write(folder: Path) -> None:
    """Writes the goldens of the database, a file for each library."""
    database = Registry().database
    origin = {"commit": commit(), "rules": database.rules_version}
    for library in LIBRARIES:
        entries = {key: database[key] for key in database if database.head(key).library == library}
        text = text_of(entries, origin)
        (folder / f"{library}.jsonl").write_text(text, encoding="utf-8")
        print(f"{library}: {len(text):,} characters")


def main() -> None:
    """Writes the files into a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    write(parser.parse_args().folder)


if __name__ == "__main__":
    main()
