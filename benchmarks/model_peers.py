"""Whole models in; what counters and formulas of others report beside ours, and what one count takes, out.

    python -m benchmarks.model_peers [--rounds 3] [--subjects llama-2-7b ...] [--resume]

The exact count is that of torch's FlopCounterMode over the plain model on meta, experts in batches; ours has
to equal it. Each tool is given the same model in a process of its own, and asked in turns. A tool that fails
is shown with its reason, and so is one that takes over 300 seconds. With --resume, models that a run cut off
had finished are not compared again. Needs the packages of benchmarks/requirements.txt and
requirements-analytic.txt.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, cast

from benchmarks.analytic import FORMULAS
from benchmarks.counters import TOOLS, Report
from benchmarks.kept import Kept, digest
from benchmarks.measuring import Timing, about, ratio, spread
from benchmarks.model_sides import OURS, side
from benchmarks.model_sweep import described, swept
from benchmarks.plain_models import MODELS, PlainModel
from benchmarks.publishing import publish, table
from benchmarks.subjects import BY_NAME, Subject
from benchmarks.workers import LIMIT, Worker, in_turns, serve

COUNTERS: Final = (*(tool.name for tool in TOOLS if tool.device == "cpu"),)
BATCHED: Final = "FlopCounterMode, experts in batches"
NAMES: Final = (*OURS, BATCHED, *COUNTERS, *(one.name for one in FORMULAS))
SHOWN: Final = (OURS[1], *NAMES[len(OURS) :])
PACKAGES: Final = tuple(dict.fromkeys(one.package for one in (*TOOLS, *FORMULAS) if one.package != "torch"))
LEAST: Final = 1000  # times that a count has to take as long as one evaluation of all quantities
SWEEP: Final = 1.0  # seconds in which a sweep of 10,000 points has to be done
ONCE: Final = 20  # seconds from which on a count is not repeated
Outcome = dict[str, object]


def compare(subject: Subject, workers: Sequence[Worker], rounds: int) -> Outcome:
    """All tools on one model, in turns, after one count each that is not timed unless it is long."""
    exact = _exact(subject)
    reports: dict[str, Report | str] = {}
    ready: dict[str, float] = {}
    seconds: dict[str, list[float]] = {}
    able: list[Worker] = []
    for worker in workers:
        name = worker.name
        ready[name], problem = worker.ask("build", subject.name)
        took, reports[name] = (0.0, problem) if problem else worker.ask("count")
        if isinstance(reports[name], Report):
            seconds[name] = [took] if took >= ONCE else []
            able += [worker] if took < ONCE else []
    in_turns(able, rounds, reports, seconds)
    tools = {name: _judged(report, exact) for name, report in reports.items()}
    for name, values in seconds.items():
        tools[name] |= {"seconds": Timing(tuple(values)).record(), "ready_seconds": ready[name]}
    return {"subject": subject.name, "title": subject.title, "exact": exact, "tools": tools}


def conditions(subject: Subject, rounds: int, versions: Mapping[str, str]) -> Outcome:
    """What a comparison depends on."""
    files = (MODELS / f"{subject.model_id}.json", MODELS / f"{subject.model_id}.costs.json")
    packages = {name: number for name, number in versions.items() if name != "forwardbook"}
    return {"title": subject.title, "rounds": rounds, "files": digest(files), "versions": packages}


def progress(one: Outcome) -> Iterator[str]:
    """What each tool said of a model, a line each."""
    for tool, outcome in _tools(one).items():
        took = _text(cast("Mapping[str, float]", outcome["seconds"])) if "seconds" in outcome else ""
        reason = str(outcome.get("failed", ""))[:90]
        yield " | ".join((str(one["subject"]), tool, _error(outcome), took or reason))


def _exact(subject: Subject) -> int:
    plain = PlainModel(subject.model_id).batched()
    return plain.count(plain.inputs(subject.sizes))


def _judged(report: Report | str, exact: int) -> Outcome:
    """A report with its error: of its products where told apart and nearer, else of its total."""
    if isinstance(report, str):
        return {"failed": report}
    numbers = [number for number in (report.products, report.total) if number is not None]
    nearest = min(numbers, key=lambda number: abs(number - exact))
    error = (nearest - exact) / exact
    return {"total": report.total, "judged": nearest, "relative_error": error, "says": report.says}


def _tools(one: Outcome) -> Mapping[str, Outcome]:
    return cast("Mapping[str, Outcome]", one["tools"])


def _label(name: str) -> str:
    return name.removesuffix(", CPU")  # here the device is the model's


def _error(tool: Outcome) -> str:
    if "failed" in tool:
        return "-" if "no decoder" in str(tool["failed"]) else "fails"
    if tool["relative_error"] == 0:
        return "exact"
    error = cast("float", tool["relative_error"])
    return f"{error:+.2%}" if abs(error) >= 0.00005 else f"{error:+.1e}"


def _median(tool: Outcome) -> float:
    return cast("Mapping[str, float]", tool["seconds"])["median"]


def accuracy(done: Sequence[Outcome]) -> str:
    """Each tool's error on each model; the exact numbers in the last column."""
    header = ("model", *map(_label, SHOWN), "exact flops")
    rows = [
        [str(one["title"]), *(_error(_tools(one)[name]) for name in SHOWN), f"{one['exact']:,}"]
        for one in done
    ]
    return table(header, rows)


def fastest(one: Outcome) -> str | None:
    """The counter that is right on this model and takes the least time."""
    tools = _tools(one)
    right = [name for name in (BATCHED, *COUNTERS) if tools[name].get("relative_error") == 0]
    return min(right, key=lambda name: _median(tools[name]), default=None)


def least_times(done: Sequence[Outcome], ours: str) -> float:
    """How many times longer than an evaluation of ours the fastest right counter takes, where it is least."""
    pairs = [(_tools(one), best) for one in done if (best := fastest(one))]
    return min((_median(tools[best]) / _median(tools[ours]) for tools, best in pairs), default=0.0)


def longest_sweep(record: Outcome) -> float:
    """Seconds of the slowest sweep, its first time."""
    models = cast("Sequence[Outcome]", cast("Outcome", record["sweep"])["models"])
    return max((cast("float", one["first_seconds"]) for one in models), default=0.0)


def claims(record: Outcome) -> str:
    """The two claims about speed, each as a number with its limit."""
    done = cast("Sequence[Outcome]", record["comparisons"])
    least = ", ".join(f"{ratio(least_times(done, name))} ({name.partition(', ')[2]})" for name in OURS)
    return (
        f"Where the advantage is least, the fastest counter that is right takes so many times as long as one "
        f"evaluation: {least}; at least {LEAST:,} is asked for all quantities. The slowest sweep of 10,000 "
        f"points, its first time, takes {longest_sweep(record):.2f} s; below {SWEEP:.0f} s is asked."
    )


def speed(done: Sequence[Outcome]) -> str:
    """Each evaluation of ours beside the fastest counter that is right there."""
    header = ["model", "fastest counter that is right", "one count"]
    header += [text for name in OURS for text in (name, "times faster")]
    rows = []
    for one in done:
        tools = _tools(one)
        best = fastest(one)
        if best is None:
            continue
        seconds = cast("Mapping[str, float]", tools[best]["seconds"])
        row = [str(one["subject"]), _label(best), _text(seconds)]
        for name in OURS:
            mine = cast("Mapping[str, float]", tools[name]["seconds"])
            row += [_text(mine), ratio(_median(tools[best]) / mine["median"])]
        rows.append(row)
    return table(header, rows)


def _text(seconds: Mapping[str, float]) -> str:
    return spread(seconds["median"], seconds["least"], seconds["greatest"])


def failures(done: Sequence[Outcome]) -> str:
    """Why tools failed, each reason once with the models."""
    found: dict[tuple[str, str], list[str]] = {}
    for one in done:
        for name, tool in _tools(one).items():
            if _error(tool) == "fails":
                reason = str(tool["failed"]).replace("|", "/")[:120]
                found.setdefault((name, reason), []).append(str(one["subject"]))
    lines = [f"- {name}: {reason} ({', '.join(models)})" for (name, reason), models in found.items()]
    return "Fails:\n\n" + "\n".join(lines) if lines else ""


NOTE = (
    "Errors are of the tool's matrix products alone where it tells them apart and they are nearer, else of "
    "its total; multiply-accumulates are doubled; `-` is a model for which the tool has no formulas. Models "
    "on meta have their full size and no weights; those on cpu hold random weights in four bytes. A tool's "
    "time is one count of a model that stands ready, ours one evaluation of formulas that were read before: "
    "of the flops alone, of all eight quantities of the model, of all of them for every layer. Median "
    "(least-greatest) of {} rounds in turns; counts that take over {} s were made once, over {} s given up. "
    "Reading a model's formulas and the first evaluation take {}."
)


def sections_of(record: Outcome) -> list[str]:
    """The tables and what they mean."""
    done = cast("Sequence[Outcome]", record["comparisons"])
    ready = Timing(
        tuple(cast("float", tool["ready_seconds"]) for one in done if (tool := _tools(one)[OURS[1]]))
    )
    note = NOTE.format(record["rounds"], ONCE, LIMIT, ready.text())
    texts = [
        claims(record),
        accuracy(done),
        speed(done),
        note,
        failures(done),
        described(cast("Outcome", record["sweep"])),
    ]
    return [text for text in texts if text]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--subjects", nargs="+", default=list(BY_NAME), choices=BY_NAME, metavar="NAME")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(lambda: side(options.serve[0]), int(options.serve[1]))
        return
    known = about("benchmarks.model_peers", PACKAGES)
    kept = Kept("model_peers", options.resume)
    workers = [Worker("benchmarks.model_peers", name) for name in NAMES]
    done = []
    for name in options.subjects:
        state = conditions(BY_NAME[name], options.rounds, cast("Mapping[str, str]", known["versions"]))
        outcome = kept.get(name, state)
        if outcome is None:
            outcome = compare(BY_NAME[name], workers, options.rounds)
            kept.put(name, state, outcome)
        done.append(outcome)
        print(*progress(done[-1]), sep="\n", flush=True)
    for worker in workers:
        worker.close()
    known["load_when_ended"] = os.getloadavg()[0]
    record: Outcome = {"about": known, "rounds": options.rounds, "comparisons": done, "sweep": swept()}
    if len(done) == len(BY_NAME):
        publish("model_peers", record, sections_of(record))
    else:
        print(*sections_of(record), sep="\n\n")
    wrong = [str(one["subject"]) for one in done if any(_error(_tools(one)[o]) != "exact" for o in OURS)]
    if least_times(done, OURS[1]) < LEAST or longest_sweep(record) >= SWEEP:
        wrong.append("a limit of time is missed")
    if wrong:
        raise SystemExit(f"our formulas differ from the exact count, or are slow: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
