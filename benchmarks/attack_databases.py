"""Hands hostile databases to every command that reads one: none may run what stands in data.

    python -m benchmarks.attack_databases

Those that read run one after another in a folder with the database, with nothing beneath; each of those that
store gets such a folder of its own, so that none meets what another mended. Exit code 1 where a file PWNED
appears, a traceback or a control character is printed, a command ends with another code than
docs/exit-codes.md names, takes longer than its limit, or removes a file.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import multiprocessing
import os
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.hostile_databases import KEY, SPOILT, Entry, spoil
from benchmarks.measuring import ROOT, about
from benchmarks.publishing import publish, table

SIZES = ("batch_size=2", "seq_len=3", "in_features=4", "out_features=5", "a_dtype_bytes=4", "w_dtype_bytes=4")
READING = (
    ("list",),
    ("show", KEY),
    ("show", KEY, "--json"),
    ("evaluate", KEY, *SIZES, "--json", "--lines"),
    ("evaluate", "A0", *SIZES),
    ("static-share", "--json"),
    ("diff", "module_db.json", "now"),
    ("diff", "module_db.json", "now", "--stored"),
    ("coverage", "--json"),
    ("validate", "--seed", "1"),
    ("reprove", KEY, "--seed", "1"),
    ("check",),
    ("explain", "classes.py"),
    ("site", "prepare"),
    ("site", "build"),
)
STORING = (
    ("catalogue", "build", "--library", "classes", "--budget", "20"),
    ("catalogue", "totals", "--library", "classes"),
    ("regenerate", "--all"),
    ("analyze-module", "classes.A0", "--init", "in_features=4", "--init", "out_features=5"),
    ("analyze-model", "llama-2-7b", "--batch_size", "1", "--seq_len", "8"),
)
"""Those that write into the database what they derived; the class is in a file beside it."""
SOURCE = "from torch import nn\n\n\nclass A0(nn.Linear):\n    pass\n"
CODES = {0: "answered", 1: "refused", 2: "refused", 3: "answered"}
SECONDS = 240
Result = dict[str, Any]
"""Of a command: how it was called, its code, its seconds, what it printed."""
LONGEST = 4000  # characters on standard error


def good_entry() -> Entry:
    """The entry of torch's Linear, under another name."""
    from forwardbook.workspace import Workspace

    raw = Workspace(ROOT).load()["torch_Linear"].model_dump(mode="json")
    names = {"full_class_name": "classes.A0", "library": "classes", "code_hash": "0" * 64}
    generated = {"generated_file_name": "classes_a0.py", "generated_class_name": "A0Calculator"}
    place = {"file": "classes.py", "line_start": 4, "line_end": 5}
    return {**raw, **names, **generated, "code_location": place}


def alone() -> None:
    """In this process no database is beneath, and a command has a limit."""
    from forwardbook.workspace import folder as workspaces

    workspaces.shipped_path = lambda: None
    signal.signal(signal.SIGALRM, late)


class Late(BaseException):
    """A command that takes longer than its limit."""


def late(number: int, frame: object) -> None:
    """Ends what runs."""
    raise Late


def ran(folder: Path, commands: Iterable[tuple[str, ...]]) -> Iterator[Result]:
    """What each command gives in a folder."""
    from forwardbook.cli import main

    os.chdir(folder)
    for command in commands:
        out, err, start = io.StringIO(), io.StringIO(), time.monotonic()
        signal.alarm(SECONDS)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code: int | str = main(list(command))
            except SystemExit as stop:
                code = int(stop.code or 0)
            except Late:
                code = f"not done after {SECONDS} s"
        signal.alarm(0)
        texts = {"out": out.getvalue(), "err": err.getvalue()}
        yield {"command": " ".join(command[:2]), "code": code, "seconds": time.monotonic() - start, **texts}


def problems(folder: Path, files: set[str], results: list[Result]) -> list[str]:
    """What must not be, of one database."""
    found = ["ran from data" for _ in folder.parent.rglob("PWNED")]
    found += [f"lost {name}" for name in files - {path.name for path in folder.iterdir()}]
    for one in results:
        text = f"{one['out']}{one['err']}"
        odd = {c for c in text if (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 or c == "\u202e"}
        found += [f"{one['command']}: control character {c!r}" for c in sorted(odd)]
        if "Traceback" in text:
            found.append(f"{one['command']}: traceback")
        if one["code"] not in CODES:
            found.append(f"{one['command']}: exit code {one['code']}: {str(one['err'])[:200]}")
        if len(str(one["err"])) > LONGEST:
            found.append(f"{one['command']}: {len(str(one['err']))} characters of message")
    return found


def spoilt(name: str, entry: Entry, folder: Path) -> set[str]:
    """A new workspace with that database in it: the names of its files."""
    folder.mkdir()
    (folder / "classes.py").write_text(SOURCE)
    assert [one["code"] for one in ran(folder, [("init",)])] == [0]
    (folder / "module_db.json").unlink()
    spoil(name, folder, entry)
    return {path.name for path in folder.iterdir() if not path.name.startswith(".")}


def attacked(name: str, entry: Entry) -> tuple[list[str], Counter[str], Counter[str]]:
    """What went wrong with a database, how its commands ended, and how many seconds each took."""
    found, ends, took = list[str](), Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory(prefix="forwardbook-attack-") as base:
        for number, commands in enumerate((READING, *((one,) for one in STORING))):
            folder = Path(base) / f"ws{number}"
            files = spoilt(name, entry, folder)
            results = list(ran(folder, commands))
            ends.update(CODES.get(one["code"], "odd") for one in results)
            for one in results:
                took[str(one["command"])] += one["seconds"]
            found += problems(folder, files, results)
        os.chdir(ROOT)
    return found, ends, took


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", help="only databases whose name begins so; repeatable")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    given = parser.parse_args()
    record: dict[str, object] = {"about": about("benchmarks.attack_databases")}
    entry, start, wrong = good_entry(), time.monotonic(), dict[str, list[str]]()
    ends, took = Counter[str](), Counter[str]()
    names = [name for name in SPOILT if name.startswith(tuple(given.only or [""]))]
    context = multiprocessing.get_context("spawn")  # one database each: site builds share no process
    with ProcessPoolExecutor(given.jobs, context, alone, max_tasks_per_child=1) as pool:
        for name, one in zip(names, pool.map(attacked, names, [entry] * len(names)), strict=True):
            ends.update(one[1])
            took.update(one[2])
            wrong |= {name: one[0]} if one[0] else {}
            print(f"{name}: {'; '.join(one[0]) or 'held'} ({dict(one[1])})", flush=True)
    record |= {"databases": len(names), "commands": sum(ends.values()), **ends, "wrong": wrong}
    record |= {"seconds": round(time.monotonic() - start)}
    record |= {"seconds by command": {name: round(seconds, 1) for name, seconds in took.most_common()}}
    shown = ("databases", "commands", "answered", "refused", "seconds")
    rows = [(name, str(record.get(name, 0))) for name in shown]
    rows += [("that ran something, lost a file, or printed what it must not", str(len(wrong)))]
    if not given.only:
        publish("attack_databases", record, [table(("hostile databases", "number"), rows)])
    else:
        print(json.dumps(record, indent=1))
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
