"""Formulas of a model's layers, its populated parameters and the module database in; where both agree out.

The two accounts share no derivation: a layer's formula comes from running the whole model at its config, the
entry of its class from the class with every size of its config free. Both are evaluated at random sizes; all
quantities must be equal. How many rows a layer of torch sees (positions, patches, tokens) is not in its
parameters: it is read off the bytes that the layer writes, one unknown beside seven other equations.

A regime has a say only about a layer that was built as it was: with the same parts, and where it says
otherwise of costs, with the same fields of the config.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain
from typing import Final

from forwardbook.errors import FormulaError
from forwardbook.formula import Condition
from forwardbook.formula.rational import Rational, rational_value
from forwardbook.models.populated import Opinion, Populated, PopulatedLayer, State
from forwardbook.models.record import LayerCosts, PhaseCosts
from forwardbook.models.totals import NAMES, parsed
from forwardbook.saying import ALONE, BUILT, CALLED_AS, CUT, KEPT, LEFT_OUT, TOLD, at_place, field_said
from forwardbook.schema import PROVED, WIDTH_NAMES, Entry, Regime

_EXACT_THERE: Final = PROVED - {"bounded"}  # whose formulas name no size that data decides
MATTER: Final = (frozenset({"flops"}), frozenset({"weights", "writes"}))
POINTS: Final = 3
TRIES: Final = 40
ROWS: Final = ("seq_len", "batch_size")

Entries = Callable[[str], Entry | None]
Sizes = Mapping[str, Rational]


def opinions(phase: PhaseCosts, populated: Populated, entries: Entries, seed: int = 7) -> list[Opinion]:
    """One opinion for each distinct layer of a phase."""
    points = list(_points(phase, random.Random(seed)))
    return [
        _opinion(name, layer, populated.at(name), entries, points, populated.config)
        for name, _, layer in phase.model.walk()
    ]


def summary(found: Sequence[Opinion]) -> dict[str, object]:
    """Classes by state, and one line for people: the worst that any layer of a class says."""
    by_class: dict[str, set[str]] = {}
    for one in found:
        by_class.setdefault(one.class_name, set()).add(one.state)
    order = ("differs", "same arithmetic", "agrees", "no regime", "no entry")
    states: dict[str, list[str]] = {state: [] for state in order}
    for name, seen in by_class.items():
        states[next(state for state in order if state in seen)].append(name)
    return {"told": _told(states, len(by_class)), **{k.replace(" ", "_"): v for k, v in states.items()}}


def _told(states: Mapping[str, Sequence[str]], count: int) -> str:
    parts = [f"{len(states['agrees'])} of {count} classes agree with the module database"]
    said = {
        "same arithmetic": "{} in flops, not in all bytes as called here: {}",
        "differs": "{} differ: {}",
        "no regime": "{} have no regime for this call: {}",
        "no entry": "{} are not in it: {}",
    }
    for state, text in said.items():
        if states[state]:
            names = ", ".join(name.rpartition(".")[2] for name in states[state])
            parts.append(text.format(len(states[state]), names))
    return "; ".join(parts)


def _points(phase: PhaseCosts, rng: random.Random) -> Iterator[dict[str, Rational]]:
    """Sizes at which the phase holds: random ones, or where conditions leave none, those of its proof."""
    conditions = [Condition.parse(text) for text in phase.conditions]
    narrow = "{a_dtype_bytes} < 4" in phase.conditions
    wide = "{a_dtype_bytes} > 4" in phase.conditions
    proved: list[dict[str, Rational]] = [{**one.sizes} for one in phase.proof.points]
    found = 0
    for sizes in chain(_drawn(phase, conditions, rng), proved):
        sizes["a_dtype_bytes"] = rng.choice((1, 2)) if narrow else 8 if wide else 4
        sizes["w_dtype_bytes"], sizes["kv_dtype_bytes"] = rng.randint(1, 8), rng.randint(1, 8)
        if all(_holds(one, sizes) for one in conditions):
            yield sizes
            found += 1
            if found == POINTS:
                return


def _drawn(
    phase: PhaseCosts, conditions: Sequence[Condition], rng: random.Random
) -> Iterator[dict[str, Rational]]:
    """Small sizes at random, ever smaller ones, the numbers that conditions demand among them."""
    for attempt in range(TRIES):
        most = max(3, 64 >> (attempt // 8))
        sizes: dict[str, Rational] = {p.name: rng.randint(2, most) for p in phase.parameters}
        for one in conditions:
            names = one.symbols()
            if one.op == "==" and len(names) == 1 and one.left.symbols() and not one.right.symbols():
                sizes[next(iter(names))] = one.right.evaluate({})
        yield sizes


def _holds(condition: Condition, sizes: Sizes) -> bool:
    try:
        left, right = rational_value(condition.left, sizes), rational_value(condition.right, sizes)
    except FormulaError:
        return False
    order = {"==": left == right, "!=": left != right, "<": left < right, "<=": left <= right}
    return order.get(condition.op, left > right if condition.op == ">" else left >= right)


def _opinion(
    name: str,
    layer: LayerCosts,
    filled: PopulatedLayer | None,
    entries: Entries,
    points: Sequence[Sizes],
    config: Mapping[str, object],
) -> Opinion:
    entry = entries(filled.entry) if filled is not None and filled.entry else None
    if entry is None or filled is None or not points:
        return Opinion(layer=name, class_name=layer.class_name, state="no entry")
    known = {n: v.value for n, v in filled.parameters.items() if isinstance(v.value, int)}
    best: tuple[Regime, list[str]] | None = None
    unmet: list[Regime] = []
    otherwise: dict[str, None] = {}
    for regime in _candidates(entry, name):
        if not _has_its_parts(regime, layer):
            continue
        wrong = _differences(regime, layer, known, points)
        if wrong is None:
            unmet.append(regime)
        elif _differs(wrong) and (others := list(_otherwise(regime, config))):
            otherwise |= dict.fromkeys(others)
        elif best is None or len(wrong) < len(best[1]):
            best = regime, wrong
    sizes = {**points[0], **known}
    unknown = list(dict.fromkeys(one for regime in unmet for one in _unknown(regime, sizes)))
    if best is None or (_differs(best[1]) and _may_be_another(best[0], unmet, unknown, sizes)):
        told = f"sizes of this call that are not known: {', '.join(unknown)}" if unknown else ""
        if not told and otherwise:
            told = f"the database has it with {', '.join(otherwise)}"
        return Opinion(layer=name, class_name=layer.class_name, state="no regime", told=told, unknown=unknown)
    regime_name, wrong = best[0].name, best[1]
    state: State = "differs" if _differs(wrong) else "same arithmetic" if wrong else "agrees"
    told = f"not equal: {', '.join(wrong)}" if wrong else ""
    return Opinion(layer=name, class_name=layer.class_name, state=state, regime=regime_name, told=told)


def _has_its_parts(regime: Regime, layer: LayerCosts) -> bool:
    """Whether the layer has the parts that the regime's call had."""
    parts = {part.class_name for part in layer.sub_layers}
    called = {call.class_name for call in regime.flop_analysis.submodule_calls}
    return parts == called or not parts or not called


def _otherwise(regime: Regime, config: Mapping[str, object]) -> Iterator[str]:
    """What the regime says of fields of its config that this config has otherwise, `name=value`."""
    for text in regime.assumptions:
        begin, said = field_said(text)
        if not said or begin in (TOLD, KEPT) or (begin == BUILT and not said.endswith(LEFT_OUT)):
            continue
        name, _, value = said.partition("=")
        found = _at_path(config, name)
        if found is not None and not _is_said(json.dumps(found), value):
            yield said


def _is_said(here: str, value: str) -> bool:
    """Whether a field's value is the one told, of which long ones are cut."""
    return here.startswith(value.removesuffix(CUT)) if value.endswith(CUT) else here == value


def _at_path(config: Mapping[str, object], name: str) -> object:
    """A field of the config, or of one within it: `text_config.sliding_window`."""
    found: object = config
    for step in name.split("."):
        found = found.get(step) if isinstance(found, Mapping) else None
    return found


def _unknown(regime: Regime, sizes: Sizes) -> Iterator[str]:
    """The parameters that nobody gives a value, but for the rows that are read off the bytes written."""
    missing = [name for name in regime.parameters if name not in sizes]
    rows = next((name for name in ROWS if name in regime.parameters), None)
    return (name for name in missing if name not in (rows, "kv_len"))  # without a cache there is no kv_len


def _differs(wrong: Sequence[str]) -> bool:
    return any(several <= set(wrong) for several in MATTER)


def _may_be_another(best: Regime, unmet: Sequence[Regime], unknown: Sequence[str], sizes: Sizes) -> bool:
    """Whether a call that differs may belong to another regime, of which nobody knows whether it holds.

    Regimes that share a place are of one layer each, and only those of which all sizes are known and all
    conditions hold were asked.
    """
    if _alone(best):
        return bool(unknown)
    return any(one.context == best.context and _has_widths(one, sizes) for one in unmet)


def _has_widths(regime: Regime, sizes: Sizes) -> bool:
    """Whether what a regime says of widths of numbers, if anything, holds."""
    stated = map(Condition.parse, regime.conditions)
    return all(_holds(one, sizes) for one in stated if one.symbols() <= set(WIDTH_NAMES))


def _candidates(entry: Entry, path: str) -> list[Regime]:
    """The proved regimes of calls at such a place; for a class that is called by itself, all of them."""
    proved = [r for r in entry.regimes if r.proof is not None and r.proof.verdict in _EXACT_THERE]
    return [one for one in proved if _alone(one) or _is_below(one, path)]


def _is_below(regime: Regime, path: str) -> bool:
    """Whether a path ends in one of the regime's places: it may have been derived in a smaller model."""
    parts = path.split(".")
    return any(at_place(place, ".".join(parts[-place.count(".") - 1 :])) for place in regime.places)


def _differences(
    regime: Regime, layer: LayerCosts, known: Mapping[str, int], points: Sequence[Sizes]
) -> list[str] | None:
    """Quantities that differ at some point; None where the regime does not hold or lacks a parameter."""
    wrong: dict[str, None] = {}
    for point in points:
        told = {name: rational_value(parsed(getattr(layer.costs, name)), point) for name in NAMES}
        found = _at(regime, told, known, point)
        if found is None:
            return None
        wrong |= dict.fromkeys(found)
    return list(wrong)


def _at(
    regime: Regime, told: Mapping[str, Fraction], known: Mapping[str, int], point: Sizes
) -> list[str] | None:
    best: list[str] | None = None
    for sizes in _readings(regime, told, {**point, **known}):
        if not all(_holds(Condition.parse(text), sizes) for text in regime.conditions):
            continue
        wrong = [name for name in NAMES if rational_value(parsed(regime.formula(name)), sizes) != told[name]]
        if not wrong:
            return []
        best = wrong if best is None or len(wrong) < len(best) else best
    return best


def _readings(regime: Regime, told: Mapping[str, Fraction], given: Sizes) -> Iterator[Sizes]:
    """The sizes as the model has them; for a class called by itself, also with the rows that it must see."""
    needed = set(regime.parameters)
    if needed <= given.keys():
        yield given
    rows = next((name for name in ROWS if name in needed), None)
    if not _alone(regime) or rows is None or not needed <= {*given.keys(), rows}:
        return
    for one in ({**given, rows: 1}, {**given, rows: 1, "batch_size": 1}):
        written = rational_value(parsed(regime.formula("writes")), one)
        count = told["writes"] / written if written else Fraction(0)
        if count and count.denominator == 1:
            yield {**one, rows: int(count)}


def _alone(regime: Regime) -> bool:
    """Whether the entry knows the class called by itself, at no place of a model."""
    place = regime.context.removeprefix(CALLED_AS)
    return place in ("", ALONE) or place[:1].isupper()  # the name of the class, not a path
