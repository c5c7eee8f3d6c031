"""Classes that a stranger wrote, through the command that a stranger types; every answer held against torch.

    OMP_NUM_THREADS=1 python -m benchmarks.own_code [--only Step,Crop] [--jobs 2] [--resume]

Each class of own_code_modules/cases.toml runs through `forwardbook analyze-module` in a folder of its own.
A regime whose verdict is exact, pinned or assumed is then evaluated at the points of the case and at random
sizes for which it says that it holds; flops must be those of torch's counter of an unwatched call on the CPU
(where it falls short, of a formula by hand) and those of the case's own formula, all eight quantities those
of `forwardbook.cost` of the same live module. Prints a table, writes results/own_code.json (`--only` renews
its rows), and exits 1 on any wrong number.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import inspect
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch
from benchmarks.own_code_cases import Case, Sizes, cases
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

import forwardbook
from forwardbook.calculator import Calculator
from forwardbook.errors import ForwardbookError
from forwardbook.registry import Registry
from forwardbook.schema import QUANTITIES, Entry
from forwardbook.workspace import Workspace
from forwardbook.workspace.database_file import database_in

HERE = Path(__file__).resolve().parent
MODULES, RESULTS = HERE / "own_code_modules", HERE / "results" / "own_code.json"
FOLDER = HERE.parent / "build" / "benchmarks" / "own_code"
TRIED = ("exact", "pinned", "assumed")
WIDTHS = {"w_dtype_bytes": 4, "a_dtype_bytes": 4, "kv_dtype_bytes": 4}
DRAWN = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 20, 24, 31, 32, 48, 64, 96]
DRAWS, KEPT, ATTEMPTS, LARGEST = 1500, 3, 8, 20_000_000_000
KINDS = ("right", "not exact", "refused", "answered, torch refuses", "WRONG")


def analysed(case: Case, timeout: int, resume: bool) -> dict[str, object]:
    """Runs the command in a folder of the case's own; what it said, its exit code and its seconds."""
    root, kept = FOLDER / case.name, FOLDER / case.name / "said.json"
    if resume and kept.is_file():
        found: dict[str, object] = json.loads(kept.read_text(encoding="utf-8"))
        return found
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(MODULES, root)
    (root / "module_db.json").write_text('{"schema_version": 2, "entries": {}}\n', encoding="utf-8")
    words = ["analyze-module", case.target, *case.options, "--timeout", str(timeout)]
    begin = time.monotonic()
    ran = subprocess.run(
        [sys.executable, "-m", "forwardbook", *words],
        cwd=root,
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "200", "PYTHONPATH": str(HERE.parent / "src")},
    )
    told: dict[str, object] = {
        "command": " ".join(f"'{word}'" if " " in word else word for word in ("forwardbook", *words[:-2])),
        "exit_code": ran.returncode,
        "seconds": round(time.monotonic() - begin),
        "said": (ran.stdout + ran.stderr).strip().splitlines(),
    }
    kept.write_text(json.dumps(told), encoding="utf-8")
    return told


def stored(case: Case) -> tuple[Entry, Calculator] | None:
    """The entry of the class in its folder, and its calculator."""
    root = FOLDER / case.name
    for key in database_in(root / "module_db.json"):
        registry = Registry(Workspace(root))
        return registry.database[key], registry.load(key)
    return None


def built(case: Case, sizes: Sizes, choices: Mapping[str, object]) -> nn.Module:
    """A live module on the CPU: constructor arguments by size, choice, option of the command, default."""
    home = importlib.import_module(case.target.partition(".py:")[0].replace("/", "."))
    cls = getattr(home, case.name)
    given = dict(text.split("=", 1) for text in case.init.split())
    arguments: dict[str, object] = {}
    for name in inspect.signature(cls).parameters:
        value = _literal(given[name]) if name in given else None
        if name in choices:
            arguments[name] = choices[name]
        elif isinstance(value, list):
            arguments[name] = [sizes[f"{name}_{i}"] for i in range(len(value))]
        elif name in sizes:
            arguments[name] = sizes[name]
        elif name in given:
            arguments[name] = value
    torch.manual_seed(0)
    module: nn.Module = cls(**arguments)
    return module.eval()


def inputs(case: Case, sizes: Sizes, choices: Mapping[str, object]) -> dict[str, object]:
    """The arguments of the call, as the options of the command describe them."""
    given = dict(text.split("=", 1) for text in case.inputs)
    asked = {name: value for name, value in choices.items() if name in given and value != "given"}
    return {name: _input(case, text, sizes) for name, text in given.items()} | asked


def _input(case: Case, text: str, sizes: Sizes) -> object:
    if text.startswith("["):
        return [_input(case, part.strip(), sizes) for part in text[1:-1].split(";")]
    shape, _, dtype = text.partition(":")
    parts = [part for part in shape.split(",") if part.strip()]
    if len(parts) == 1 and "," not in shape:
        return _value(shape, sizes)
    dims = [_value(part, sizes) for part in parts]
    if dtype == "bool":
        return torch.ones(dims, dtype=torch.bool)
    if dtype == "int64":
        return torch.full(
            dims, sizes["seq_len"] if any(text.startswith("lengths=") for text in case.inputs) else 0
        )
    made = torch.rand(dims)
    return -made if case.negative else made


def _value(text: str, sizes: Sizes) -> int:
    known = {"__builtins__": {}, "min": min, "max": max, "int": int}
    return int(eval(text, known, dict(sizes)))  # noqa: S307 - a case of ours


def _literal(text: str) -> object:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def truth(case: Case, sizes: Sizes, choices: Mapping[str, object]) -> tuple[int, dict[str, int]]:
    """Flops of an unwatched call by torch's counter or by hand; all quantities of a live call by `cost`."""
    call = inputs(case, sizes, choices)
    with _slow_attention(), torch.no_grad(), FlopCounterMode(display=False) as counter:
        built(case, sizes, choices)(**call)
    report = forwardbook.cost(built(case, sizes, choices), **inputs(case, sizes, choices))
    flops = case.scale * counter.get_total_flops() if case.flops is None else case.flops(sizes)
    return flops, {name: getattr(report, name) for name in QUANTITIES}


@contextlib.contextmanager
def _slow_attention() -> Iterator[None]:
    """torch's counter sees the products of attention that is not fused."""
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with sdpa_kernel(SDPBackend.MATH):
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(True)


def tried(case: Case, entry: Entry, calculator: Calculator) -> tuple[Counter[str], list[str]]:
    """How often each thing happened, and each answer that is wrong."""
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    names = sorted({name for one in case.sizes for name in one})
    drawn = random.Random(case.name)
    answered: set[int] = set()
    for regime in entry.regimes:
        verdict = regime.proof.verdict if regime.proof else "unproved"
        counts[f"regimes {verdict}"] += 1
        if verdict not in TRIED:
            continue
        own = next(one for one in calculator.regimes if one.name == regime.name)
        kept = attempts = 0
        points = case.sizes + [_drawn(names, drawn) for _ in range(DRAWS)]
        for number, sizes in enumerate(points):
            if number >= len(case.sizes) and (kept >= KEPT or attempts >= ATTEMPTS):
                break
            if missing := own.names - sizes.keys() - WIDTHS.keys():
                wrong.append(f"{regime.name}: asks for {', '.join(sorted(missing))}, which the case has not")
                break
            asked = {name: {**sizes, **WIDTHS}[name] for name in own.names}
            try:
                costs = calculator.costs_at(asked, regime.name, dict(regime.choices))
            except ForwardbookError:
                continue
            answered.add(number)
            if costs.flops > LARGEST or costs.peak > LARGEST:
                continue
            attempts += 1
            told = ", ".join(f"{n}={v}" for n, v in sizes.items())
            try:
                flops, live = truth(case, sizes, regime.choices)
            except Exception as error:  # noqa: BLE001 - torch refuses the call, with whatever it raises
                counts["answered, torch refuses"] += 1
                reason = (str(error) or type(error).__name__).splitlines()[0]
                wrong.append(f"{regime.name} [{verdict}] at {told}: torch refuses: {reason[:160]}")
                continue
            kept += 1
            differs = {q: (getattr(costs, q), live[q]) for q in QUANTITIES if getattr(costs, q) != live[q]}
            if costs.flops != flops:
                differs["flops of torch"] = (costs.flops, flops)
            if case.by_hand and costs.flops != (flops := _value(case.by_hand, sizes)):
                differs["flops by hand"] = (costs.flops, flops)
            counts["WRONG" if differs else "right"] += 1
            if differs:
                wrong.append(f"{regime.name} [{verdict}] at {told}: formula, truth {differs}")
    counts["own points refused"] = len(set(range(len(case.sizes))) - answered)
    return counts, wrong


def _drawn(names: list[str], drawn: random.Random) -> dict[str, int]:
    return {name: drawn.choice(DRAWN) for name in names}


def row(case: Case, told: Mapping[str, object]) -> dict[str, object]:
    """What came of a class."""
    said = [re.sub(r"/\S*/own_code/", "", str(line)) for line in told["said"]]  # type: ignore[attr-defined]
    found = stored(case)
    base = {key: told[key] for key in ("command", "exit_code", "seconds")}
    if found is None:
        return {**base, "outcome": "refused", "said": said[:12]}
    entry, calculator = found
    counts, wrong = tried(case, entry, calculator)
    verdict, reason = entry.validation.verdict, entry.validation.reason
    outcome = "right" if counts["right"] else "not exact"
    outcome = "answered, torch refuses" if counts["answered, torch refuses"] else outcome
    outcome = "WRONG" if counts["WRONG"] else outcome
    about = {
        "outcome": outcome,
        "verdict": verdict,
        "reason": reason[:400],
        "counts": {k: n for k, n in sorted(counts.items()) if n},
    }
    return {**base, **about, "wrong": wrong[:12]}


def main() -> int:
    """The cases asked for, one line each."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--only", default="", help="names of classes, with commas, in this order")
    parser.add_argument("--jobs", type=int, default=1, help="commands at once")
    parser.add_argument("--timeout", type=int, default=900, help="seconds for the code of a class")
    parser.add_argument("--resume", action="store_true", help="take commands that ran before as they ended")
    options = parser.parse_args()
    known = {case.name: case for case in cases()}
    chosen = [known[name] for name in options.only.split(",") if name] or list(known.values())
    sys.path.insert(0, str(MODULES))
    warnings.simplefilter("ignore")
    FOLDER.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(options.jobs) as pool:
        running = [pool.submit(analysed, case, options.timeout, options.resume) for case in chosen]
        for case, told in zip(chosen, running, strict=True):
            _keep(case.name, found := row(case, told.result()))
            print(f"{case.name:<18}{found['outcome']:<26}{found.get('verdict', '')}", flush=True)
            for line in found.get("wrong") or found.get("said") or []:  # type: ignore[attr-defined]
                print(f"    {line}", flush=True)
    rows = json.loads(RESULTS.read_text(encoding="utf-8"))
    total = Counter(one["outcome"] for one in rows.values())
    print(", ".join(f"{kind} {total[kind]}" for kind in KINDS if total[kind]), f"of {len(rows)} classes")
    return 1 if total["WRONG"] or total["answered, torch refuses"] else 0


def _keep(name: str, found: Mapping[str, object]) -> None:
    """Renews the row of a class in results/own_code.json."""
    rows = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
    rows[name] = found
    ordered = {case.name: rows[case.name] for case in cases() if case.name in rows}
    RESULTS.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
