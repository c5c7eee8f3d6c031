"""Shipped formulas of whole models, at full size, against runs that count: ours, torch's own, real caches.

    python -m benchmarks.model_totals [--models llama-2-7b ...] [--points 3] [--resume]

At random sizes that no proof has used: every quantity of the whole model as the formulas have it, the same
counted by the recorder while the model runs on meta, the flops of torch's FlopCounterMode over the model as
transformers builds it (no code of ours runs there), the bytes in its real cache and in its parameters. All
integers, all equal, or the run ends with 1 after the table. Each run of a model is a process of its own.
With --resume, models that a run cut off had finished are not counted again while their files are the same.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, cast

from benchmarks.kept import Kept, digest
from benchmarks.measuring import ROOT, about, commit
from benchmarks.model_points import KNOWN, KNOWN_AT, drawn
from benchmarks.plain_models import MODELS, PlainModel, architecture, ids
from benchmarks.publishing import publish, table

if TYPE_CHECKING:
    from forwardbook.models.record import ModelCosts

SEED: Final = 20261121
Point = tuple[str, Mapping[str, int]]
Counts = dict[str, int]


def recorded(model_id: str, points: Sequence[Point]) -> list[Counts]:
    """Every quantity of the whole model and the bytes in its cache, counted while it runs on meta."""
    import torch

    from forwardbook.analyzers.instances.pretrained.whole import phases_of
    from forwardbook.analyzers.symbolic.patterns import find_call
    from forwardbook.analyzers.symbolic.summary import summarise
    from forwardbook.formula import Expr
    from forwardbook.pipeline.model.source import config_from, model_named
    from forwardbook.profiling.proof import measure, widths_of

    known = architecture(model_id)
    config = config_from(cast("dict[str, object]", known["config"]), model_id)
    phases = {one.name: one for one in phases_of(model_named(str(known["model_class"])), config)}
    found: list[Counts] = []
    for name, sizes in points:
        phase = phases[name]
        trace = measure(phase.recipe, sizes, torch.bfloat16, widths_of(torch.bfloat16))
        call = find_call(trace, "", 0)
        assert call is not None
        quantities = summarise(trace, call, {}).quantities()
        counts = {what: Expr.of(size).const_value() for what, size in quantities.items()}
        held = phase.filling.tensors if name == "decode" else []
        counts["cache"] = sum(torch.Size(shape).numel() * kind.itemsize for shape, kind in held)
        found.append(counts)
    return found


def plain(model_id: str, points: Sequence[Point]) -> list[Counts]:
    """Flops by torch's counter, bytes in the cache, the parameters and the buffers."""
    model = PlainModel(model_id).batched()
    held = {"parameter_bytes": model.held().parameters, "weight_bytes": model.held().both}
    found: list[Counts] = []
    for name, sizes in points:
        inputs, cache = model.continued(sizes) if name == "decode" else (model.inputs(sizes), 0)
        found.append({"flops": model.count(inputs), "cache": cache, **held})
    return found


def formulas(costs: ModelCosts, points: Sequence[Point]) -> list[Counts]:
    """What the kept formulas give."""
    from forwardbook.models.totals import Widths, evaluate, holding

    found: list[Counts] = []
    for name, sizes in points:
        totals = evaluate(holding(costs.phases, name, sizes, Widths()), sizes, Widths())
        found.append({**totals.total.whole(), "cache": int(totals.cache)})
    return found


PARTS: Final[Mapping[str, Callable[[str, Sequence[Point]], list[Counts]]]] = {
    "recorded": recorded,
    "plain": plain,
}


class CountFailed(Exception):
    """A run that was to count ended without counts."""


def apart(part: str, model_id: str, points: Sequence[Point]) -> tuple[list[Counts], float]:
    """A part in a process of its own: its counts, and the seconds that the process took."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.model_totals", "--part", part, model_id]
    begin = time.perf_counter()
    done = subprocess.run(
        command, cwd=ROOT, input=json.dumps(points), capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise CountFailed(f"the {part} run failed: {said[-1]}")
    return json.loads(done.stdout.splitlines()[-1]), time.perf_counter() - begin


def conditions(model_id: str, count: int, versions: Mapping[str, str]) -> dict[str, object]:
    """What an outcome of a model depends on; the commit beside, as each outcome has it."""
    files = (MODELS / f"{model_id}.json", MODELS / f"{model_id}.costs.json")
    packages = {name: number for name, number in versions.items() if name != "forwardbook"}
    return {"files": digest(files), "points": count, "seed": SEED, "versions": packages}


def judged(model_id: str, count: int) -> dict[str, object]:
    """One model at all its points, with every number and every difference."""
    from forwardbook.models.record import ModelCosts

    costs = ModelCosts.model_validate_json((MODELS / f"{model_id}.costs.json").read_text(encoding="utf-8"))
    points = drawn(costs, cast("dict[str, object]", architecture(model_id)["config"]), count, SEED)
    said = formulas(costs, points)
    run, run_seconds = apart("recorded", model_id, points)
    torchs, torch_seconds = apart("plain", model_id, points)
    differences: list[str] = []
    rows = []
    for (phase, sizes), ours, ran, theirs in zip(points, said, run, torchs, strict=True):
        where = f"{phase} at {dict(sizes)}"
        differences += [
            f"{where}: {what} predicted {value:,}, recorded {ran[what]:,}"
            for what, value in ours.items()
            if value != ran[what]
        ]
        differences += [
            f"{where}: {what} predicted {ours[what]:,}, {who} {theirs[what]:,}"
            for what, who in (("flops", "FlopCounterMode"), ("cache", "the real cache holds"))
            if ours[what] != theirs[what]
        ]
        known = KNOWN.get(model_id) if phase == "prefill" and dict(sizes) == KNOWN_AT else None
        if known not in (None, ours["flops"]):
            differences.append(f"{where}: flops predicted {ours['flops']:,}, known {known:,}")
        rows.append({"phase": phase, "sizes": sizes, "formulas": ours, "recorded": ran, "torch": theirs})
    held = torchs[0]
    weights = {"parameter_bytes": 2 * costs.parameter_count, "weight_bytes": costs.weight_bytes(16)}
    differences += [
        f"{what} {held[what]:,}, said {number:,}" for what, number in weights.items() if held[what] != number
    ]
    return {
        "model": model_id,
        "points": rows,
        "weights": {"formulas": weights, "real": {what: held[what] for what in weights}},
        "differences": differences,
        "seconds": {"recorded": run_seconds, "plain": torch_seconds},
        "commit": commit(),
    }


def _size(sizes: Mapping[str, int]) -> str:
    short = {"batch_size": "B", "seq_len": "S", "decoder_seq_len": "D", "kv_len": "K", "num_samples": "N"}
    return ", ".join(f"{short[name]}={value:,}" for name, value in sizes.items())


HEADER = (
    "model",
    "phase",
    "sizes",
    "flops by the formulas",
    "recorder, 8 quantities",
    "FlopCounterMode",
    "cache bytes",
)


def rows_of(one: Mapping[str, object]) -> list[list[str]]:
    """The points of a model as lines of the table."""
    lines = []
    for point in cast("Sequence[Mapping[str, object]]", one["points"]):
        ours, ran, theirs = (cast("Counts", point[who]) for who in ("formulas", "recorded", "torch"))
        quantities = {what for what in ours if what != "cache"}
        equal = sum(ours[what] == ran[what] for what in quantities)
        caches = ours["cache"] == ran["cache"] == theirs["cache"]
        lines.append(
            [
                str(one["model"]),
                str(point["phase"]),
                _size(cast("Mapping[str, int]", point["sizes"])),
                f"{ours['flops']:,}",
                "equal" if equal == len(quantities) else f"{equal} of {len(quantities)} equal",
                "equal" if ours["flops"] == theirs["flops"] else f"{theirs['flops']:,}",
                "" if point["phase"] == "prefill" else f"{ours['cache']:,}{'' if caches else ' differ'}",
            ]
        )
    return lines


def summary(done: Sequence[Mapping[str, object]]) -> str:
    """How much was held against what, in a sentence, and every difference in one of its own."""
    points = [p for one in done for p in cast("Sequence[Mapping[str, object]]", one["points"])]
    wrong = [f"- {one['model']}: {text}" for one in done for text in cast("list[str]", one["differences"])]
    decodes = sum(point["phase"] == "decode" for point in points)
    weights = [cast("Mapping[str, Counts]", one["weights"]) for one in done]
    held = sum(one["formulas"] == one["real"] for one in weights)
    text = (
        f"{len(points)} points ({decodes} of decode) of {len(done)} models at full size on meta in bfloat16 "
        f"at sizes that no stored proof used: {len(wrong) or 'no'} differences. Bytes of parameters, and "
        f"of these with buffers, as built in bfloat16: {held} of {len(done)} equal. Each model's entry in "
        f"the JSON names the commit that it was counted at."
    )
    return "\n".join([text, *wrong])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", nargs="+", default=ids(), metavar="ID")
    parser.add_argument("--points", type=int, default=3)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--part", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        part, model_id = options.part
        print(json.dumps(PARTS[part](model_id, json.load(sys.stdin))))
        return
    known = about("benchmarks.model_totals")
    kept = Kept("model_totals", options.resume)
    done = []
    for model_id in options.models:
        state = conditions(model_id, options.points, cast("Mapping[str, str]", known["versions"]))
        outcome = kept.get(model_id, state)
        if outcome is None:
            try:
                outcome = judged(model_id, options.points)
            except CountFailed as failure:
                print(f"{model_id}: {failure}", flush=True)
                continue
            kept.put(model_id, state, outcome)
        done.append(outcome)
        lines = [*map(" | ".join, rows_of(done[-1])), *cast("list[str]", done[-1]["differences"])]
        print(*lines, sep="\n", flush=True)
    if len(done) < len(options.models):
        raise SystemExit("nothing published: not every model could be counted; mend these, then --resume")
    known["load_when_ended"] = os.getloadavg()[0]
    text = summary(done)
    print(text)
    if len(done) == len(ids()):
        publish(
            "model_totals",
            {"about": known, "seed": SEED, "models": done},
            [text, table(HEADER, [row for one in done for row in rows_of(one)])],
        )
    if any(one["differences"] for one in done):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
