"""One class, one formula: models derived class by class, how long what comes out is, and whether it is right.

    OMP_NUM_THREADS=1 python -m benchmarks.one_formula [MODEL ...] [--jobs 2] [--store FOLDER]

Runs each model in every way that its recipes know and derives each class in it alone, at its own boundary.
Every regime is held against runs on meta, each number of each line. What is equal in several models is one.
Holds the formulas of classes of which a person wrote one (hand/) against that. Writes
results/one_formula.json and .md; with --store also the entries, as the commands read them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.hand.case import Case
from benchmarks.hand_formulas import CASES
from benchmarks.measuring import about
from benchmarks.publishing import publish, table

from forwardbook.analyzers.symbolic.run import SYMBOLIC_WIDTHS
from forwardbook.entries.closed import short
from forwardbook.entries.cost_model import CostModel
from forwardbook.entries.figures import Spread, bare, figures
from forwardbook.entries.record import Entry, Regime
from forwardbook.entries.regimes import EntryError
from forwardbook.formula import parse
from forwardbook.pipeline.composed.assembly import Assembly
from forwardbook.pipeline.composed.build import Result, each_model
from forwardbook.workspace.entry_store import EntryStore

BASE = "transformers.models."
MODELS = (
    "llama.modeling_llama.LlamaModel",
    "mixtral.modeling_mixtral.MixtralModel",
    "bert.modeling_bert.BertModel",
    "gpt2.modeling_gpt2.GPT2Model",
    "t5.modeling_t5.T5Model",
    "deit.modeling_deit.DeiTModel",
    "vit.modeling_vit.ViTModel",
    "mamba.modeling_mamba.MambaModel",
)
MANY = 100_000
"""Characters of any formula that is compared."""
WANTED = 1.5
"""How many times as long as a person's formula ours may be."""


@dataclass(frozen=True)
class Compared:
    """A formula of a person, and ours with all calls put in; are they equal at the points of the case?"""

    case: Case
    ours: str
    equal: bool
    problem: str = ""

    @property
    def ratio(self) -> float:
        """How many times as long ours is."""
        return len(self.ours) / self.case.full_length


def compared(case: Case, model: CostModel) -> Compared | None:
    """The one of our formulas that fits a case best; None where we have none."""
    try:
        key = model.find(case.name)
        found = [_compared(case, model, key, one) for one in model.regimes.signatures(key)]
    except EntryError:
        return None
    return min(found, key=lambda one: (not one.equal, len(one.ours)), default=None)


def _compared(case: Case, model: CostModel, key: str, signature: str) -> Compared:
    regime = _general(model.get(key), signature)
    form = model.closed(key, signature, regime.name)
    value = form.formulas.get("flops")
    text = "" if value is None else short(value, form.regime.definitions, MANY) or value.text()
    read = model.regimes.signature(key, signature)
    texts = (*case.formulas.values(), *case.definitions.values())
    told = {*SYMBOLIC_WIDTHS, *case.definitions}.union(*(parse(one).symbols() for one in texts))
    for place in range(len(case.points)):
        sizes = case.sizes(place)
        given = {"a_dtype_bytes": 4, "kv_dtype_bytes": 4, **{n: sizes[n] for n in sizes if n in told}}
        done = model.evaluator.at(read, {name: given[name] for name in read.names if name in given})
        if done is None:
            missing = ", ".join(name for name in read.names if name not in given)
            return Compared(case, text, False, f"not told {missing}" if missing else "no regime holds")
        if done.costs.flops != case.value("flops", sizes):
            return Compared(case, text, False, f"{done.costs.flops:,} at the first of its points")
    return Compared(case, text, True)


def _general(entry: Entry, signature: str) -> Regime:
    """The regime of a signature that pins nothing."""
    several = [one for one in entry.regimes if one.signature == signature]
    return min(several, key=lambda one: sum("==" in text for text in one.conditions))


def summary_of(entries: Mapping[str, Entry], results: Iterable[Result]) -> dict[str, Any]:
    """What is asked of the formulas, over all regimes."""
    one = figures(entries.values())
    problems = {name for result in results for name in result.problems}
    without = problems - {entry.full_class_name for entry in entries.values()}
    return {
        "classes": one.classes + len(without),
        "exact": one.exact,
        "without any formula": len(without),
        "regimes": one.regimes,
        "characters of own flops, median / p95 / longest": _said(one.flops),
        "characters of own peak, median / p95 / longest": _said(one.peak),
        "conditions of a regime, median / p95 / most": _said(one.conditions),
        "longest condition": one.longest_condition,
        "regimes of a class, median / p95 / most": _said(one.regimes_of_class),
    }


def _said(one: Spread) -> str:
    return f"{one.median:,.0f} / {one.p95:,} / {one.largest:,}"


def rows(found: Iterable[Compared]) -> Iterator[list[str]]:
    """The table of formulas beside those of a person."""
    for one in found:
        name = one.case.name.rpartition(".")[2]
        state = "equal" if one.equal else one.problem
        yield [f"`{name}`, {one.case.call}", f"`{bare(one.ours)[:200]}`", f"{one.ratio:.2f}", state]


def main() -> None:
    """Builds, compares, prints and writes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="*", default=[BASE + one for one in MODELS])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--store", type=Path)
    options = parser.parse_args()
    record = {"about": about("benchmarks.one_formula")}
    begun, assembly, results = time.perf_counter(), Assembly(), list[Result]()
    for result in each_model(options.models, options.jobs):
        exact = sum(one.entry.verdict == "exact" for one in result.ways.values())
        print(f"{result.model}: {exact} of {len(result.ways)} ways exact {result.problem}", flush=True)
        assembly.add(result.ways)
        results.append(result)
    entries = assembly.entries()
    if options.store:
        EntryStore(options.store).save(entries)
    model = CostModel(entries)
    found = [one for case in CASES if (one := compared(case, model)) is not None]
    summary = summary_of(entries, results) | {
        "models": len(options.models),
        "seconds": round(time.perf_counter() - begun),
        "formulas of a person that were met": len(found),
        "of these equal": sum(one.equal is True for one in found),
        f"of these at most {WANTED} times as long": sum(one.ratio <= WANTED for one in found),
    }
    header = ["class, call", "flops", "length over a person's", "at a person's points"]
    figure_table = table(["figure", "value"], [[name, str(value)] for name, value in summary.items()])
    sections = [figure_table, table(header, list(rows(found)))]
    print(*sections, sep="\n\n")
    problems = {result.model: result.problems for result in results}
    record |= {"summary": summary, "problems": problems}
    publish("one_formula", record, sections)


if __name__ == "__main__":
    main()
