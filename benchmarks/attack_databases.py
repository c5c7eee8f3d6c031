"""Hands hostile databases to the commands that read one: none may run what stands in data.

    python -m benchmarks.attack_databases

Each database gets a folder of its own, with nothing beneath, in which every command that reads one runs; in
the first of each kind also those that derive, measure or build. Exit code 1 where a file PWNED appears, a
traceback or a control character is printed, a command ends with another code than docs/exit-codes.md names,
takes longer than its limit, or removes a file.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import multiprocessing
import os
import signal
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from benchmarks.hostile_databases import KEY, SPOILT, Entry, spoil
from benchmarks.measuring import ROOT, about
from benchmarks.publishing import publish, table

SIZES = ("batch_size=2", "seq_len=3", "in_features=4", "out_features=5", "a_dtype_bytes=4", "w_dtype_bytes=4")
COMMANDS = (
    ("list",),
    ("show", KEY),
    ("evaluate", KEY, *SIZES, "--json", "--lines"),
    ("evaluate", "A0", *SIZES),
    ("static-share", "--json"),
)
WORKING = (
    ("validate", "--seed", "1"),
    ("reprove", KEY, "--seed", "1"),
    ("check",),
    ("coverage", "--json"),
    ("site", "prepare"),
    ("site", "build"),
    ("catalogue", "build", "--library", "classes", "--budget", "20"),
    ("catalogue", "totals", "--library", "classes"),
    ("regenerate", "--all"),
)
"""Those that derive, measure, render or store; the class is in a file beside the database."""
SOURCE = "from torch import nn\n\n\nclass A0(nn.Linear):\n    pass\n"
CODES = {0: "answered", 1: "refused", 2: "refused", 3: "answered"}
SECONDS = 240
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


def ran(folder: Path, commands: Iterable[tuple[str, ...]]) -> Iterator[dict[str, object]]:
    """What each command gives in a folder."""
    from forwardbook.cli import main

    os.chdir(folder)
    for command in commands:
        out, err = io.StringIO(), io.StringIO()
        signal.alarm(SECONDS)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code: int | str = main(list(command))
            except SystemExit as stop:
                code = int(stop.code or 0)
            except Late:
                code = f"not done after {SECONDS} s"
        signal.alarm(0)
        yield {"command": " ".join(command[:2]), "code": code, "out": out.getvalue(), "err": err.getvalue()}


def problems(folder: Path, files: set[str], results: list[dict[str, object]]) -> list[str]:
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


def firsts(names: Iterable[str]) -> list[str]:
    """The first database of each kind."""
    return list({name.partition(":")[0]: name for name in reversed(list(names))}.values())


def attacked(name: str, entry: Entry, commands: Sequence[tuple[str, ...]]) -> tuple[list[str], Counter[str]]:
    """What went wrong with a database, and how its commands ended."""
    with tempfile.TemporaryDirectory(prefix="forwardbook-attack-") as base:
        folder = Path(base) / "ws"
        folder.mkdir()
        (folder / "classes.py").write_text(SOURCE)
        assert [one["code"] for one in ran(folder, [("init",)])] == [0]
        (folder / "module_db.json").unlink()
        spoil(name, folder, entry)
        files = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
        results = list(ran(folder, commands))
        ends = Counter(CODES.get(one["code"], "odd") for one in results)
        found = problems(folder, files, results)
        os.chdir(ROOT)
    return found, ends


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", help="only databases whose name begins so; repeatable")
    parser.add_argument("--kinds", action="store_true", help="only the first database of each kind")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    given = parser.parse_args()
    record: dict[str, object] = {"about": about("benchmarks.attack_databases")}
    entry, ends, wrong = good_entry(), Counter[str](), dict[str, list[str]]()
    names = [name for name in SPOILT if name.startswith(tuple(given.only or [""]))]
    working = firsts(SPOILT)
    names = [name for name in names if name in working] if given.kinds else names
    commands = [(*COMMANDS, *(WORKING if name in working else ())) for name in names]
    context = multiprocessing.get_context("spawn")  # one database each: site builds share no process
    with ProcessPoolExecutor(given.jobs, context, alone, max_tasks_per_child=1) as pool:
        results = pool.map(attacked, names, [entry] * len(names), commands)
        for name, (found, ended) in zip(names, results, strict=True):
            ends.update(ended)
            if found:
                wrong[name] = found
            print(f"{name}: {'; '.join(found) or 'held'} ({dict(ended)})", flush=True)
    record |= {"databases": len(names), "commands": sum(ends.values()), **ends, "wrong": wrong}
    rows = [(name, str(record.get(name, 0))) for name in ("databases", "commands", "answered", "refused")]
    rows += [("that ran something, lost a file, or printed what it must not", str(len(wrong)))]
    if not given.only and not given.kinds:
        publish("attack_databases", record, [table(("hostile databases", "number"), rows)])
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
