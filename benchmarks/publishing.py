"""The record of a benchmark in; its JSON, its Markdown table and its place in benchmarks/README.md out."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; the first column is text, the others numbers or words."""
    lines = ["| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def publish(name: str, record: Mapping[str, object], sections: Sequence[str]) -> None:
    """results/NAME.json, results/NAME.md, and the block of that name in the README, all of the same run."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    text = "\n\n".join([_heading(cast("Mapping[str, object]", record["about"])), *sections])
    (RESULTS / f"{name}.md").write_text(text + "\n", encoding="utf-8")
    readme = HERE / "README.md"
    if not readme.is_file():
        return
    block = re.compile(rf"(<!-- results: {name} -->\n).*?(<!-- /results -->)", re.DOTALL)
    filled = block.sub(lambda found: f"{found[1]}{text}\n{found[2]}", readme.read_text(encoding="utf-8"))
    readme.write_text(filled, encoding="utf-8")


def _heading(about: Mapping[str, object]) -> str:
    versions = cast("Mapping[str, str]", about["versions"])
    machine = cast("Mapping[str, object]", about["machine"])
    load = cast("Sequence[float]", machine["load_when_started"])
    return (
        f"{about['date']}; {machine['cores']} cores ({machine['processor']}), load {load[0]} at the start; "
        + ", ".join(f"{name} {number}" for name, number in versions.items())
        + f".\n\n`{about['command']}`"
    )
