"""Counters side by side with a closed form, in one run: what they report, how far off, how long it takes.

    python -m benchmarks.peers [--rounds 5] [--llamas tiny mid] [--seqs 128 512]

Every tool has a process of its own with its model ready in it (some leave functions of torch patched, and
then another counts differently); the processes are asked in turns. Needs the packages of
benchmarks/requirements.txt; a tool that is absent or fails is shown with its reason.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from typing import Final, cast

from benchmarks.counters import TOOLS, Report, Tool, quietly
from benchmarks.llama import ENTRY, LLAMAS, left_out
from benchmarks.measuring import Timing, about, many, ratio, spread, timed
from benchmarks.publishing import publish, table
from benchmarks.workers import Worker, in_turns, serve

BATCH: Final = 1
CALLS: Final = 1000  # of our evaluation per round: one takes microseconds
OURS: Final = "forwardbook"
PACKAGES: Final = tuple(dict.fromkeys(tool.package for tool in TOOLS if tool.package != "torch"))


def side(name: str) -> Side:
    """What answers in the process of that name."""
    return OurSide() if name == OURS else ToolSide(next(tool for tool in TOOLS if tool.name == name))


class ToolSide:
    """A counter with its model."""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool

    def build(self, llama: str, seq: int) -> tuple[float, Report | str]:
        self.model = LLAMAS[llama].build(self.tool.device)
        self.ids = LLAMAS[llama].ids(BATCH, seq, self.tool.device)
        return 0.0, ""

    def count(self) -> tuple[float, Report | str]:
        reports: list[Report] = []
        seconds = timed(lambda: reports.append(quietly(self.tool, self.model, self.ids)))
        return seconds, reports[0]


class OurSide:
    """The calculator of LlamaModel."""

    def derive(self) -> tuple[float, Report | str]:
        """The run and the proof of one dtype, as long as it takes the first time in a process."""
        import torch

        from forwardbook.analyzers.instances.recipes import recipes_for
        from forwardbook.pipeline.derivation.regimes import derive

        recipe = recipes_for(ENTRY)[0]
        seconds = timed(lambda: derive(recipe, torch.float32, [recipe.calls_as], 20240229))
        return seconds, ""

    def entry(self) -> tuple[float, Report | str]:
        """The calculator: stored, or derived and proved in every scenario."""
        from benchmarks.ours import ours

        self.ours = ours(ENTRY)
        return self.ours.seconds, self.ours.origin

    def formula(self) -> tuple[float, Report | str]:
        return 0.0, self.ours.entry.regimes[0].flop_analysis.flops

    def build(self, llama: str, seq: int) -> tuple[float, Report | str]:
        self.sizes = self.ours.needed(LLAMAS[llama].sizes(BATCH, seq))
        return 0.0, ""

    def count(self) -> tuple[float, Report | str]:
        seconds = timed(many(lambda: self.ours.calculator.flops(regime=None, **self.sizes), CALLS)) / CALLS
        flops = self.ours.calculator.flops(regime=None, **self.sizes)
        return seconds, Report(flops, flops)


Side = ToolSide | OurSide


def compare(workers: list[Worker], llama: str, seq: int, rounds: int) -> dict[str, object]:
    """All tools at one size, in turns, after one count each that is not timed."""
    reports: dict[str, Report | str] = {}
    for worker in workers:
        _, answer = worker.ask("build", llama, seq)
        reports[worker.name] = answer if isinstance(answer, str) and answer else worker.ask("count")[1]
    able = [worker for worker in workers if isinstance(reports[worker.name], Report)]
    seconds: dict[str, list[float]] = {worker.name: [] for worker in able}
    in_turns(able, rounds, reports, seconds)
    exact, parts = LLAMAS[llama].flops(BATCH, seq), LLAMAS[llama].parts(BATCH, seq)
    tools = {name: _judged(report, exact) for name, report in reports.items()}
    for name, values in seconds.items():
        one = tools[name]
        one["seconds"] = Timing(tuple(values)).record()
        one["times_ours"] = Timing(tuple(v / o for v, o in zip(values, seconds[OURS], strict=True))).record()
    return {
        "llama": llama,
        "batch_size": BATCH,
        "seq_len": seq,
        "exact": exact,
        "parts": parts,
        "tools": tools,
    }


def _judged(report: Report | str, exact: int) -> dict[str, object]:
    """A report with its error: of its products where told apart and nearer, else of its total."""
    if isinstance(report, str):
        return {"failed": report}
    numbers = [number for number in (report.products, report.total) if number is not None]
    nearest = min(numbers, key=lambda number: abs(number - exact))
    return {
        "total": report.total,
        "products": report.products,
        "judged": nearest,
        "relative_error": (nearest - exact) / exact,
        "says": report.says,
    }


HEADER = (
    "tool",
    "flops, total",
    "products alone",
    "error of the nearer",
    "missed",
    "one count",
    "times ours",
)


def rows(done: Mapping[str, object]) -> list[list[str]]:
    """A comparison as lines of its table."""
    lines = []
    for name, one in cast("Mapping[str, Mapping[str, object]]", done["tools"]).items():
        if "failed" in one:
            lines.append([name, f"fails: {str(one['failed'])[:90]}", *[""] * 5])
            continue
        seconds, slower = (cast("Mapping[str, float]", one[key]) for key in ("seconds", "times_ours"))
        lines.append(
            [
                name,
                f"{one['total']:,}",
                "" if one["products"] is None else f"{one['products']:,}",
                "exact" if one["relative_error"] == 0 else f"{one['relative_error']:+.2%}",
                "; ".join(filter(None, (str(one.get("missed", "")), str(one["says"])))),
                spread(seconds["median"], seconds["least"], seconds["greatest"]),
                "1" if name == OURS else ratio(slower["median"]),
            ]
        )
    return lines


def say_missed(done: Sequence[dict[str, object]]) -> None:
    """Adds what each tool leaves out, judged over all sequence lengths of a model together."""
    for llama, name in {(str(one["llama"]), name) for one in done for name in _tools(one)}:
        sizes = [one for one in done if one["llama"] == llama and "judged" in _tools(one)[name]]
        found = [_tools(one)[name] for one in sizes]
        reports = [cast("int", tool["judged"]) for tool in found]
        texts = left_out(reports, [cast("dict[str, int]", one["parts"]) for one in sizes]) if sizes else []
        if len(reports) > 1 and len(set(reports)) == 1:
            texts = ["the sequence length: the same for every one"] * len(reports)
        for tool, text in zip(found, texts, strict=True):
            tool["missed"] = text


def _tools(one: Mapping[str, object]) -> dict[str, dict[str, object]]:
    return cast("dict[str, dict[str, object]]", one["tools"])


def sections_of(record: Mapping[str, object]) -> list[str]:
    """The tables of a record and what they mean."""
    sections = []
    for one in cast("Sequence[Mapping[str, object]]", record["comparisons"]):
        model = LLAMAS[str(one["llama"])]
        title = (
            f"**{model.name} Llama** ({model.num_hidden_layers} layers, hidden {model.hidden_size}, "
            f"{model.num_attention_heads} heads, {model.num_key_value_heads} kv heads, intermediate "
            f"{model.intermediate_size}), B={BATCH}, S={one['seq_len']}: exactly {one['exact']:,} flops"
        )
        sections += [title, table(HEADER, rows(one))]
    ours = cast("Mapping[str, float]", record["ours"])
    sections.append(
        f"Our formula: `{ours['formula']}`. Deriving and proving it took {ours['derive_seconds']:.1f} s (one "
        f"dtype, prefill); the whole calculator (both dtypes, decode too), {ours['origin']}: "
        f"{ours['calculator_seconds']:.1f} s; after that every size costs what the table says. Times are "
        f"medians (least-greatest) of {record['rounds']} rounds in turns, on ready models, ours of {CALLS} "
        "evaluations at once; ratios are medians of those within a round. Where a tool tells products apart "
        "from other work, the nearer of the two numbers is judged."
    )
    return sections


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--llamas", nargs="+", default=["tiny", "mid"], choices=LLAMAS)
    parser.add_argument("--seqs", nargs="+", type=int, default=[128, 512])
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(lambda: side(options.serve[0]), int(options.serve[1]))
        return
    known = about("benchmarks.peers", PACKAGES)
    workers = [Worker("benchmarks.peers", name) for name in (OURS, *(tool.name for tool in TOOLS))]
    derived, _ = workers[0].ask("derive")
    got, origin = workers[0].ask("entry")
    if not got:
        raise SystemExit(f"deriving {ENTRY}: {origin}")
    _, formula = workers[0].ask("formula")
    done = []
    for llama in options.llamas:
        for seq in options.seqs:
            done.append(compare(workers, llama, seq, options.rounds))
            print(f"{llama} S={seq}", *rows(done[-1]), sep="\n  ", flush=True)
    for worker in workers:
        worker.close()
    known["load_when_ended"] = os.getloadavg()[0]
    say_missed(done)
    record = {
        "about": known,
        "rounds": options.rounds,
        "ours": {"derive_seconds": derived, "calculator_seconds": got, "origin": origin, "formula": formula},
        "comparisons": done,
    }
    publish("peers", record, sections_of(record))


if __name__ == "__main__":
    main()
