"""How long a class takes: from nothing, again in the same process, and out of the database.

    python -m benchmarks.cost_per_class [--rounds 3] [--only NAME ...]

Every class has a process of its own. The first symbolic run in it is shown apart (imports of torch and
transformers are not in it); the others are medians over rounds in turns: the symbolic run, `derive` (a run
and proof, one dtype), and `work` (both dtypes, every scenario, further regimes: all that is stored). Then
`analyze` as a person calls it: from nothing, which starts a child process, and from the database, within a
process and as a command.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from benchmarks.measuring import ROOT, Timing, about, interleaved, ratio, spread, timed
from benchmarks.publishing import publish, table

MODELS = "transformers.models."
CLASSES = (
    "torch.nn.Linear",
    "torch.nn.Conv2d",
    "torch.nn.LSTM",
    f"{MODELS}llama.modeling_llama.LlamaMLP",
    f"{MODELS}llama.modeling_llama.LlamaRMSNorm",
    f"{MODELS}llama.modeling_llama.LlamaAttention",
    f"{MODELS}llama.modeling_llama.LlamaDecoderLayer",
    f"{MODELS}mixtral.modeling_mixtral.MixtralSparseMoeBlock",
    f"{MODELS}bert.modeling_bert.BertSelfAttention",
    f"{MODELS}t5.modeling_t5.T5Attention",
    f"{MODELS}vit.modeling_vit.ViTLayer",
    f"{MODELS}mamba.modeling_mamba.MambaMixer",
)
SEED = 20240229
HITS = 20  # a hit takes milliseconds
COMMANDS = 3  # a command starts a process
SECONDS = 1200  # the longest a class may take before it is left out

Numbers = Mapping[str, float]


def measure(name: str, rounds: int) -> dict[str, object]:
    """All times of one class, in this process."""
    begin = time.perf_counter()
    import torch

    from forwardbook.analyzers.instances.recipes import recipes_for
    from forwardbook.analyzers.symbolic.run import run_symbolically
    from forwardbook.pipeline.analysis.one import analyze
    from forwardbook.pipeline.child.request import Request
    from forwardbook.pipeline.child.work import work
    from forwardbook.pipeline.derivation.regimes import derive
    from forwardbook.schema import Entry
    from forwardbook.workspace import Workspace

    recipe = recipes_for(name)[0]  # imports the module of the class
    imports = time.perf_counter() - begin
    subjects = {
        "symbolic": lambda: run_symbolically(recipe),
        "derive": lambda: derive(recipe, torch.float32, [recipe.calls_as], SEED),
        "work": lambda: work(Request(target=name, seed=SEED)),
    }
    cold = {stage: timed(subject) for stage, subject in subjects.items()}
    warm = interleaved(subjects, rounds)
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(Path(folder))
        made: list[Entry] = []
        nothing = timed(lambda: made.append(analyze(name, workspace=workspace, force=True).entry))
        hit = Timing(
            tuple(timed(lambda: _hit(analyze(name, workspace=workspace).cached)) for _ in range(HITS))
        )
        command = Timing(tuple(timed(lambda: _command(name, folder)) for _ in range(COMMANDS)))
    return {
        "class": name,
        "verdict": made[0].validation.verdict,
        "regimes": len(made[0].regimes),
        "imports": imports,
        "cold": cold,
        "warm": {stage: timing.record() for stage, timing in warm.items()},
        "analyze_from_nothing": nothing,
        "cache_hit": hit.record(),
        "cache_hit_command": command.record(),
    }


def _hit(cached: bool) -> None:
    if not cached:
        raise SystemExit("a class that was just stored was analysed again: the cache does not hold")


def _command(name: str, folder: str) -> None:
    command = [sys.executable, "-W", "ignore", "-m", "forwardbook", "analyze-module", name]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, env=_environment())


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}


def row(one: Mapping[str, object]) -> list[str]:
    """A class as a line of the table."""
    name = str(one["class"]).rpartition(".")[2]
    if "failed" in one:
        return [name, str(one["failed"]), *[""] * 8]
    warm = cast("Mapping[str, Numbers]", one["warm"])
    cold = cast("Numbers", one["cold"])
    hit, command = cast("Numbers", one["cache_hit"]), cast("Numbers", one["cache_hit_command"])
    nothing = cast("float", one["analyze_from_nothing"])
    return [
        name,
        f"{one['verdict']}, {one['regimes']}",
        f"{cold['symbolic']:.2f} s",
        *(_text(warm[stage]) for stage in ("symbolic", "derive", "work")),
        f"{nothing:.1f} s",
        _text(hit),
        _text(command),
        ratio(nothing / hit["median"]),
    ]


def _text(numbers: Numbers) -> str:
    return spread(numbers["median"], numbers["least"], numbers["greatest"])


HEADER = (
    "class",
    "verdict, regimes",
    "symbolic run, first",
    "symbolic run",
    "derive",
    "work",
    "analyze from nothing",
    "analyze, known",
    "command, known",
    "from nothing / known",
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="*", help="last parts of class names")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print("RESULT " + json.dumps(measure(options.child, options.rounds)))
        return
    known = about("benchmarks.cost_per_class")
    done = []
    for name in CLASSES:
        if options.only and name.rpartition(".")[2] not in options.only:
            continue
        done.append(_in_child(name, options.rounds))
        print(" | ".join(row(done[-1])), flush=True)
    known["load_when_ended"] = os.getloadavg()[0]
    imports = [cast("float", one["imports"]) for one in done if "imports" in one]
    if not imports:
        raise SystemExit("no class was measured; the reasons are above")
    note = (
        "Median (least-greatest). Imports of torch, transformers and ours are not in the columns before "
        f"`analyze`: {spread(Timing(tuple(imports)).median, min(imports), max(imports))} per process here; "
        "`analyze from nothing` and `command` start a process and pay them."
    )
    record = {"about": known, "rounds": options.rounds, "hits": HITS, "commands": COMMANDS, "classes": done}
    publish("cost_per_class", record, [table(HEADER, [row(one) for one in done]), note])


def _in_child(name: str, rounds: int) -> dict[str, object]:
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.cost_per_class", "--child", name]
    command += ["--rounds", str(rounds)]
    try:
        child = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            text=True,
            timeout=SECONDS,
            check=False,
            cwd=ROOT,
            env=_environment(),
        )
    except subprocess.TimeoutExpired:
        return {"class": name, "failed": f"longer than {SECONDS} s"}
    lines = [line for line in child.stdout.splitlines() if line.startswith("RESULT ")]
    if not lines:
        return {"class": name, "failed": f"exit code {child.returncode}"}
    return cast("dict[str, object]", json.loads(lines[-1][7:]))


if __name__ == "__main__":
    main()
