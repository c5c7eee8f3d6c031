"""Classes derived alone, at their own boundary: how long their formulas are, whether they hold and add up.

    python -m benchmarks.one_formula [MODEL CLASS ...]

Runs each model once, derives each class in it alone, measures it at three points on meta, and holds the cost
of a class against that of its own lines and of the calls it makes. Beside it what the database stores of the
class today. Writes results/one_formula.json.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch
from benchmarks.measuring import about

from forwardbook.analyzers.derive.compose import SUMS, composed
from forwardbook.analyzers.derive.derivation import Call, Derivation, Derivations, run_of_model
from forwardbook.analyzers.instances.recipe import InstanceOptions, full_name
from forwardbook.analyzers.instances.recipes import recipes_for
from forwardbook.analyzers.symbolic.run import SYMBOLIC_WIDTHS
from forwardbook.errors import ForwardbookError
from forwardbook.formula import Condition, Expr, FormulaError, parse
from forwardbook.profiling.proof import prove
from forwardbook.registry import Registry, find

RESULT = Path(__file__).parent / "results" / "one_formula.json"
MODELS = (
    "transformers.models.speech_to_text.modeling_speech_to_text.Speech2TextModel",
    "transformers.models.wav2vec2.modeling_wav2vec2.Wav2Vec2Model",
    "transformers.models.mimi.modeling_mimi.MimiModel",
    "transformers.models.swin.modeling_swin.SwinModel",
    "transformers.models.efficientnet.modeling_efficientnet.EfficientNetModel",
    "transformers.models.deit.modeling_deit.DeiTModel",
    "transformers.models.qwen2_5_vl.modeling_qwen2_5_vl.Qwen2_5_VLModel",
    "transformers.models.mamba.modeling_mamba.MambaModel",
    "transformers.models.mixtral.modeling_mixtral.MixtralModel",
    "transformers.models.llama.modeling_llama.LlamaModel",
    "transformers.models.bert.modeling_bert.BertModel",
)
SEED, POINTS = 7, 5
LOOPS = ("Encoder", "Decoder", "Stage", "EncoderModel", "TransformerModel", "Model")
"""Ends of names of classes that go through a list of layers: how often they do is not a formula here yet."""


@dataclass(frozen=True)
class Row:
    """One class: its formula alone, and beside it the one that is stored."""

    name: str
    flops: str
    flops_characters: int
    peak_characters: int
    conditions: list[str]
    asked: int
    exact: bool
    adds_up: bool | None
    problem: str
    seconds: float
    stored_flops_characters: int | None
    stored_conditions: int | None


def rows(model: str, registry: Registry, derivations: Derivations) -> Iterator[Row]:
    """The classes of a model, each as it is called first; torch's and those with lists of layers apart."""
    run, watch = run_of_model(recipes_for(model, InstanceOptions())[0])
    seen = {full_name(type(run.root))}
    for place, (module, _) in enumerate(watch.calls):
        name = full_name(type(module))
        if name in seen or name.startswith("torch.") or name.endswith(LOOPS):
            continue
        seen.add(name)
        begun = time.process_time()
        call = derivations.call(watch.boundary(place), run.expressions.of)
        stored = _stored(name, registry)
        if isinstance(call, str):
            yield Row(name, "", 0, 0, [], 0, False, None, call, 0.0, *stored)
            continue
        exact, problem = _proved(call.child)
        seconds = time.process_time() - begun
        added = adds_up(call.child, derivations.calls(call.child))
        formulas = call.child.formulas
        flops = formulas["flops"].text()
        conditions = [one.text() for one in call.child.conditions]
        sizes = len(flops), len(formulas["peak"].text())
        asked = len(call.child.pattern.conditions)
        yield Row(name, flops, *sizes, conditions, asked, exact, added, problem, round(seconds, 2), *stored)


def _proved(one: Derivation) -> tuple[bool, str]:
    held = [Condition.at_least(name, 2) for name in one.hints]
    pattern = replace(one.pattern, conditions=one.conditions)
    [proof] = prove(one.local.recipe(), [pattern], one.hints, torch.float32, SEED, held=held)
    wrong = [f"{d.quantity} ({d.where}): {d.predicted}, measured {d.measured}" for d in proof.differences[:1]]
    return proof.exact, proof.reason or "; ".join(wrong)


def adds_up(one: Derivation, calls: Sequence[Call | str]) -> bool | None:
    """Whether a class costs what its own lines and calls do, its peak at random sizes; None: not known."""
    made = [call for call in calls if isinstance(call, Call)]
    if len(made) < len(calls):
        return None
    parts = composed(one.parts, [call.quantities() for call in made])
    whole = one.quantities
    if any(parts[name] != whole[name] for name in SUMS):
        return False
    rng = random.Random(SEED)
    return all(_equal(parts["peak"], whole["peak"], one.hints, rng) for _ in range(POINTS))


def _equal(left: Expr, right: Expr, hints: Mapping[str, int], rng: random.Random) -> bool:
    names = {name: rng.randint(2, 96) for name in (*hints, *SYMBOLIC_WIDTHS)}
    try:
        return left.evaluate(names) == right.evaluate(names)
    except FormulaError:
        return True  # these sizes divide with a rest


def _stored(name: str, registry: Registry) -> tuple[int | None, int | None]:
    try:
        regime = registry.database[find(registry.database, name)].regimes[0]
    except (ForwardbookError, IndexError):
        return None, None
    return len(parse(regime.flop_analysis.flops, exact=True).text()), len(regime.conditions)


def main() -> None:
    """Derives, prints a table, writes the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=MODELS)
    models = parser.parse_args().models
    warnings.filterwarnings("ignore")
    registry, derivations = Registry(), Derivations()
    found: list[Row] = []
    for model in models:
        for row in rows(model, registry, derivations):
            found.append(row)
            state = "exact" if row.exact else f"not exact: {row.problem}"
            print(f"{row.name.rpartition('.')[2]:<44} {len(row.conditions):>3} {state}  {row.flops[:120]}")
    lengths = [row.flops_characters for row in found if row.exact]
    summary = {
        "classes": len(found),
        "exact": len(lengths),
        "add up": sum(row.adds_up is True for row in found),
        "do not add up": sum(row.adds_up is False for row in found),
        "flops characters, median": statistics.median(lengths),
        "seconds, median": statistics.median(row.seconds for row in found),
    }
    print(summary)
    record = {"about": about("benchmarks.one_formula"), "summary": summary}
    text = json.dumps(record | {"classes": [asdict(row) for row in found]}, indent=1)
    RESULT.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
