"""Prints what a terminal obeys through every way of printing, and runs classes that raise and print it.

    python -m benchmarks.attack_terminal

Exit code 1 where a control character, a mark of direction or a link of somebody else is printed, where one
message is longer than its limit, or where a command ends in a traceback.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import random
import re
import subprocess
import sys
import tempfile
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from benchmarks.hostile_databases import ESCAPE
from benchmarks.measuring import about
from benchmarks.publishing import publish, table

STRINGS = 4_000
PIECES = (
    *"\x1b\x07\x08\r\x00\x7f\x85\x9b\x9d\u202a\u202e\u2066\u2069\u200f\ufeff\u2028\ud800\udfff",
    "\x1b[31m",
    "\x1b]8;;http://127.0.0.1\x1b\\",
    "\x9b2J",
    "\U000e0041",
    "[link=http://127.0.0.1]x[/link]",
    "[bold]",
    "[/]",
    ":smile:",
    "é",
    "name",
    "{batch_size}",
    " ",
    "\n",
    "\t",
)
STYLES = re.compile(r"\x1b\[[0-9;]*m")  # what rich itself writes
SOURCE = """\
import sys
import torch
from torch import nn

TEXT = {text!r}


class Hostile(nn.Module):
    {docs}

    def forward(self, x):
        {line}
        return x
"""
LINES = {
    "raises": "raise ValueError(TEXT)",
    "raises a lot": "raise ValueError(TEXT * 100_000)",
    "raises with notes": "e = ValueError(TEXT); e.add_note(TEXT * 1000); raise e",
    "raises a type": "raise type(TEXT, (Exception,), {})(TEXT)",
    "raises in str": "raise type('E', (Exception,), {'__str__': lambda self: 1 / 0})()",
    "raises half a pair": "raise ValueError(chr(0xd800))",
    "exits": "sys.exit(TEXT)",
    "prints and raises": "print(TEXT * 50); sys.stderr.write(TEXT); raise ValueError('no')",
}


def obeyed(text: str) -> list[str]:
    """What a terminal would obey in a text, line ends and tabulators aside."""
    return sorted(
        {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") and c not in "\n\t"}
    )


def strings(seed: int) -> Iterator[str]:
    """Texts of hostile pieces."""
    rng = random.Random(seed)
    for _ in range(STRINGS):
        yield "".join(rng.choices(PIECES, k=rng.randint(1, 12)))


def printed(text: str) -> list[str]:
    """What gets through the ways of printing, each tried with the text."""
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    from forwardbook.cli.console import EscapingConsole
    from forwardbook.printable import printable

    found = obeyed(printable(text))
    if "\ud800\udfff" not in text:  # which JSON reads as one character
        told = json.loads(f'"{printable(json.dumps(text, ensure_ascii=False)[1:-1])}"')
        found += [] if told == text else ["JSON is another"]
    page = io.StringIO()
    console = EscapingConsole(
        file=page, force_terminal=True, highlight=False, markup=False, emoji=False, width=80
    )
    grid = Table(title=text)
    grid.add_column(text)
    grid.add_row(text, style="bold")
    for one in (text, Text(text, style="red"), grid, Panel(text, title=Text(text))):
        console.print(one)
    return found + obeyed(STYLES.sub("", page.getvalue()))


def ran(name: str, line: str, folder: Path) -> list[str]:
    """What is wrong with the output of the analysis of a hostile class."""
    docs = f'"""{ESCAPE.replace(chr(8), "").replace(chr(13), "")}"""'
    (folder / "hostile.py").write_text(SOURCE.format(text=ESCAPE, docs=docs, line=line), encoding="utf-8")
    command = ["analyze-module", "hostile.py:Hostile", "--input", "x=batch_size,4"]
    done = subprocess.run(
        [sys.executable, "-P", "-m", "forwardbook", *command], cwd=folder, capture_output=True, check=False
    )
    text = (done.stdout + done.stderr).decode("utf-8", "surrogateescape")
    found = [f"control character {c!r}" for c in obeyed(text)]
    found += ["traceback"] * ("Traceback" in text)
    found += [f"{len(text)} characters"] * (len(text) > 2100)
    return found + [f"exit code {done.returncode}"] * (done.returncode not in (0, 1))


def arguments() -> Iterator[tuple[str, list[str]]]:
    """What is wrong with the answer to hostile arguments."""
    from forwardbook.cli import main

    for given in (ESCAPE, "\x1b[2J", "a\rb", "a\u202eb", "a\ud800", "\x9b31m", "a\x00"):
        for command in (("show", given), ("evaluate", "Linear", f"{given}=1"), (given,), ("explain", given)):
            err = io.StringIO()
            with contextlib.redirect_stderr(err), contextlib.redirect_stdout(err):
                try:
                    code = main(list(command))
                except SystemExit as stop:
                    code = int(stop.code or 0)
            yield (
                f"{command[0]!r} {given!r}",
                obeyed(err.getvalue()) + [f"exit code {code}"] * (code not in (1, 2)),
            )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    record: dict[str, object] = {"about": about("benchmarks.attack_terminal")}
    wrong = {repr(text): found for text in strings(given.seed) if (found := printed(text))}
    typed = list(arguments())
    wrong |= {name: found for name, found in typed if found}
    with tempfile.TemporaryDirectory(prefix="forwardbook-attack-") as base:
        (Path(base) / "module_db.json").write_text('{"schema_version": 2, "entries": {}}')
        for name, line in LINES.items():
            if found := ran(name, line, Path(base)):
                wrong[name] = found
            print(f"{name}: {'; '.join(found) or 'held'}", flush=True)
    record |= {"strings": STRINGS, "arguments": len(typed), "classes": len(LINES), "wrong": wrong}
    rows = [(name, str(record[name])) for name in ("strings", "arguments", "classes")]
    rows.append(("of which something reached the terminal, or a message was too long", str(len(wrong))))
    publish("attack_terminal", record, [table(("hostile", "number"), rows)])
    print(json.dumps(wrong, indent=1)[:3000])
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
