"""A source tree in; the CPU time and memory of explaining it beside parsing it and beside other tools, out.

    PYTHONPATH=<this checkout> python -m benchmarks.explain TREE [--rounds 3] [--focus PACKAGE]

The tree that the published figures are of: `pip download --no-deps nvidia-modelopt==0.33.0`, unpacked.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.measuring import ROOT, about, ratio
from benchmarks.processes import Used, measured
from benchmarks.publishing import publish, table

PARSE = (
    "import ast, pathlib, sys, warnings; warnings.simplefilter('ignore')\n"
    "for path in sorted(pathlib.Path(sys.argv[1]).rglob('*.py')): ast.parse(path.read_bytes())"
)
GRIFFE = (
    "import pathlib, sys, griffe\n"
    "top = pathlib.Path(sys.argv[1])\n"
    "for package in sorted(path.parent.name for path in top.glob('*/__init__.py')):\n"
    "    griffe.load(package, search_paths=[str(top)], resolve_aliases=True, allow_inspection=False)"
)
SLOW = ("pyreverse",)
"""Measured in the first round alone: it takes minutes."""
LIMITS = {"fresh": 10.0, "again": 1.0}
MEGABYTES = 500


class Bench:
    """Runs every subject on one copy of a tree, each with a cache and a folder of pages of its own."""

    def __init__(self, tree: Path, focus: str, folder: Path) -> None:
        self.tree = folder / "tree"
        shutil.copytree(tree, self.tree)
        self.focus = focus
        self.folder = folder

    def subjects(self) -> dict[str, Callable[[], Used]]:
        """What is measured, by name, in the order of one round."""
        found: dict[str, Callable[[], Used]] = {
            "ast": lambda: measured([sys.executable, "-c", PARSE, str(self.tree)]),
            "fresh": lambda: self._fresh("set"),
            "again": lambda: self._explain("set"),
        }
        if self.focus:
            found["fresh with focus"] = lambda: self._fresh("deep", "--focus", self.focus)
        found["griffe"] = lambda: measured([sys.executable, "-c", GRIFFE, str(self.tree)])
        found["pyreverse"] = self._pyreverse
        return found

    def _fresh(self, name: str, *options: str) -> Used:
        shutil.rmtree(self.folder / name, ignore_errors=True)
        return self._explain(name, *options)

    def _explain(self, name: str, *options: str) -> Used:
        own = self.folder / name
        command = [sys.executable, "-P", "-m", "forwardbook", "explain", "--repository", str(self.tree)]
        variables = {"PYTHONPATH": str(ROOT / "src"), "XDG_CACHE_HOME": str(own / "cache")}
        return measured([*command, "--out", str(own / "pages"), *options], variables)

    def _pyreverse(self) -> Used:
        out = self.folder / "pyreverse"
        out.mkdir(exist_ok=True)
        packages = [str(path.parent) for path in sorted(self.tree.glob("*/__init__.py"))]
        program = str(Path(sys.executable).parent / "pyreverse")
        return measured([program, "-o", "mmd", "-d", str(out), *packages])

    def after_one_change(self) -> dict[str, object]:
        """Which pages of a folder are written again when one of its files gets a further function."""
        files = sorted(self.tree.rglob("*.py"), key=lambda path: (-len(path.parts), str(path)))
        chosen = next(path for path in files if path.name != "__init__.py" and path.stat().st_size > 2000)
        folder = chosen.parent
        command = [
            sys.executable,
            "-P",
            "-m",
            "forwardbook",
            "explain",
            str(folder),
            "--root",
            str(self.tree),
        ]
        command += ["--out", str(self.folder / "one" / "pages")]
        variables = {"PYTHONPATH": str(ROOT / "src"), "XDG_CACHE_HOME": str(self.folder / "one" / "cache")}
        first = measured(command, variables)
        with chosen.open("a", encoding="utf-8") as file:
            file.write('\n\ndef added_by_the_benchmark() -> None:\n    """Nothing."""\n')
        second = measured(command, variables)
        return {
            "changed": chosen.relative_to(self.tree).as_posix(),
            "pages": sum(line.startswith("written") for line in first.said.splitlines()),
            "written_again": [
                Path(line.split()[1]).name for line in second.said.splitlines() if line.startswith("written")
            ],
            "left": sum(line.startswith("unchanged") for line in second.said.splitlines()),
            "cpu": second.cpu,
        }


def main() -> int:
    """Measure, judge against the limits, publish; exit code 1 if a limit does not hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--focus", default="")
    parser.add_argument("--dry", action="store_true", help="print, publish nothing")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(given.tree, given.focus, Path(folder))
        used: dict[str, list[Used]] = {}
        for turn in range(given.rounds):
            for name, subject in bench.subjects().items():
                if turn and name in SLOW:
                    continue
                used.setdefault(name, []).append(subject())
        change = bench.after_one_change()
        used = {name: [one.without(f"{folder}/") for one in runs] for name, runs in used.items()}
        files = list(bench.tree.rglob("*.py"))
        lines = sum(path.read_bytes().count(b"\n") for path in files)
    record = _record(given.tree.name, len(files), lines, used, change)
    sections = _sections(record, used, change)
    print("\n\n".join(sections))
    if not given.dry:
        publish("explain", record, sections)
    return 0 if record["holds"] else 1


def _cpu(runs: list[Used]) -> float:
    return statistics.median(one.cpu for one in runs)


def _record(
    name: str, files: int, lines: int, used: dict[str, list[Used]], change: dict[str, object]
) -> dict[str, object]:
    times = {subject: _cpu(runs) / _cpu(used["ast"]) for subject, runs in used.items()}
    peak = max(one.megabytes for subject, runs in used.items() if subject in LIMITS for one in runs)
    holds = all(times[subject] <= limit for subject, limit in LIMITS.items()) and peak < MEGABYTES
    return {
        "about": about("benchmarks.explain", ("griffe", "pylint", "libcst", "tree-sitter", "mini-racer")),
        "tree": {"name": name, "python_files": files, "lines": lines},
        "limits": {**LIMITS, "megabytes": MEGABYTES},
        "times_ast": times,
        "holds": holds,
        "runs": {
            subject: [
                {"cpu": one.cpu, "wall": one.wall, "megabytes": one.megabytes, "code": one.code,
                 "last_line": one.last_line[:200]}
                for one in runs
            ]
            for subject, runs in used.items()
        },
        "after_one_change": change,
    }  # fmt: skip


def _sections(record: dict[str, object], used: dict[str, list[Used]], change: dict[str, object]) -> list[str]:
    rows = [
        (
            subject,
            ratio(_cpu(runs)),
            ratio(_cpu(runs) / _cpu(used["ast"])),
            ratio(statistics.median(one.wall for one in runs)),
            ratio(max(one.megabytes for one in runs)),
            "0" if all(one.code == 0 for one in runs) else f"{runs[-1].code}: {runs[-1].last_line[:80]}",
        )
        for subject, runs in used.items()
    ]
    again = change["written_again"]
    return [
        f"Tree: {record['tree']}. Limits {record['limits']}: {'hold' if record['holds'] else 'DO NOT HOLD'}.",
        table(("subject", "CPU s", "times ast", "wall s", "peak MB", "exit"), rows),
        f"After one function more in `{change['changed']}`: written again {again}, {change['left']} left.",
    ]


if __name__ == "__main__":
    sys.exit(main())
