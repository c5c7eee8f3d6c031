"""Proved regimes in, the record of a class out: formulas as text, lines with their source, the proof."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from forwardbook.analyzers.reader import Facts
from forwardbook.analyzers.symbolic.run import SizeNote
from forwardbook.analyzers.symbolic.summary import short_file
from forwardbook.formula import Condition, Expr
from forwardbook.pipeline.derivation.assumptions import left_out, uncast
from forwardbook.pipeline.derivation.defaults import constructor_defaults, plain_defaults
from forwardbook.pipeline.derivation.entry_lines import flop_line, memory_line, reasoning, statements, text
from forwardbook.pipeline.derivation.found import Found
from forwardbook.pipeline.derivation.places import context, contexts
from forwardbook.pipeline.derivation.submodules import submodule_calls, uncounted
from forwardbook.pipeline.versions import current_versions
from forwardbook.saying import BUILT, CALLED_WITH, KEPT, TOLD
from forwardbook.schema import (
    WIDTH_MEANINGS,
    CodeLocation,
    Entry,
    FlopAnalysis,
    Judge,
    MemoryAnalysis,
    Parameter,
    Proof,
    ProofPoint,
    Regime,
    Unresolved,
    Validation,
    Verdict,
)
from forwardbook.verdicts import judged as judged_by_facts

_POINTS_KEPT = 4  # per dtype: the three random ones, then one that broke a condition and held all the same
REFUTED = "refuted: "  # how the reason begins of what a measurement contradicts
_BYTES = ("reads", "writes", "weights", "boundary", "intermediates", "peak")


def regime(
    found: Found,
    name: str,
    where: str,
    judges: Sequence[Judge] = (),
    static_agrees: bool | None = None,
    assumptions: Sequence[str] = (),
) -> Regime:
    """One regime of the record; `assumptions` are what the reading of its code adds to those of the run.

    `where` it is called is told of all regimes of a class together.
    """
    pattern = found.derived.pattern
    summary, told = pattern.summary, [f"{TOLD}{text}" for text in pattern.told]
    told += [f"{KEPT}{text}" for text in pattern.kept]
    quantities = {key: text(size) for key, size in summary.quantities().items()}
    lines = list(statements(summary.lines))
    conditions = tuple(c.text() for c in found.conditions)
    return Regime(
        name=name,
        context=where,
        given=pattern.given,
        choices=dict(found.derived.recipe.choices) if _is_of_target(found) else {},
        conditions=conditions,
        assumptions=tuple(dict.fromkeys((*pattern.assumptions, *told, *assumptions))),
        parameters=tuple(sorted(found.symbols())),
        flop_analysis=FlopAnalysis(
            flops=quantities["flops"],
            pointwise_ops=quantities["pointwise_ops"],
            lines=tuple(flop_line(*line) for line in lines),
            reasoning=reasoning(lines),
            submodule_calls=tuple(submodule_calls(found.derived)),
        ),
        memory_analysis=MemoryAnalysis(
            **{key: quantities[key] for key in _BYTES},
            lines=tuple(memory_line(*line) for line in lines),
            reasoning=memory_reasoning(len(summary.peaks)),
        ),
        proof=_proof(found, judges, static_agrees),
    )


def memory_reasoning(states: int) -> str:
    """How the bytes of a regime were counted whose peak is the largest of so many states."""
    peak = (
        "one state of live storage is the largest at all sizes"
        if states == 1
        else (f"the largest of {states} states of live storage; which one depends on the sizes")
    )
    return (
        "Each operation reads the distinct bytes of its inputs once and writes its outputs once; "
        f"views move nothing. Peak: {peak}."
    )


def _is_of_target(found: Found) -> bool:
    """Whether it is of the class that the recipe builds, and not of one that is called within."""
    return found.derived.target == found.derived.recipe.calls_as


def _proof(found: Found, judges: Sequence[Judge], static_agrees: bool | None) -> Proof:
    members = (*found.also, found.derived)
    points = [p for d in members for p in found.inside(d)[:_POINTS_KEPT] if not p.differences]
    return Proof(
        verdict=verdict(found),
        device="meta",
        dtype=", ".join(str(d.dtype).removeprefix("torch.") for d in members),
        points=tuple(ProofPoint(sizes=p.sizes, predicted=p.predicted, measured=p.measured) for p in points),
        lines_checked=sum(p.lines for d in members for p in d.proof.points),
        judges=tuple(judges),
        static_agrees=static_agrees,
    )


def verdict(found: Found) -> Verdict:
    """What the measurements say of a regime: `bounded` where its formulas name a size that data decides."""
    if found.exact:
        return "bounded" if of_data(found) else "exact"
    if any(d.proof.differences for d in (*found.also, found.derived)):
        return "wrong"
    return "unproved"


def of_data(found: Found) -> list[SizeNote]:
    """The sizes in the formulas and the conditions of a regime that only data decides."""
    names = sorted(found.symbols())
    notes = (found.derived.notes[name] for name in names if name in found.derived.notes)
    return [note for note in notes if note.is_of_data]


def _ranges(found: Sequence[Found]) -> str:
    """What formulas of a class hang on that only data decides, and how much that can be."""
    notes = {note.name: note for one in found for note in of_data(one)}
    said = []
    for name, note in sorted(notes.items()):
        asked = (Condition.parse(text) for one in found for text in one.derived.recipe.conditions)
        limits = (c.right.text() for c in asked if c.op == "<=" and c.left == Expr.symbol(name))
        most = " or ".join(f"at most {text}" for text in dict.fromkeys(limits))
        said.append(f"{{{name}}}: {note.meaning}, {most or 'at least 1'}")
    return "; ".join(said)


def parameters(notes: Mapping[str, SizeNote], regimes: Iterable[Regime]) -> tuple[Parameter, ...]:
    """Every name that a regime needs, with its meaning and source."""
    names = sorted({name for one in regimes for name in one.parameters})
    found = []
    for name in names:
        note = notes.get(name)
        if note is not None:
            found.append(Parameter(name=name, meaning=note.meaning, source=note.source))
        else:
            found.append(Parameter(name=name, meaning=WIDTH_MEANINGS.get(name, ""), source="number format"))
    return tuple(found)


def notes_of(found: Iterable[Found]) -> dict[str, SizeNote]:
    """What the recipes said of every size."""
    notes: dict[str, SizeNote] = {}
    for one in found:
        notes |= one.derived.notes
    return notes


def unresolved(found: Iterable[Found]) -> tuple[Unresolved, ...]:
    """Operations without a rule, and formulas that the measurement refuted, by file and line."""
    rows: dict[Unresolved, None] = {}
    for one in found:
        for u in one.derived.pattern.unruled:
            reason = "no rule states the cost of this operation"
            rows[Unresolved(file=short_file(u.file), line=u.line, operation=u.name, reason=reason)] = None
        if verdict(one) == "unproved" and not one.derived.pattern.unruled:
            still = dict.fromkeys(n for d in (one.derived, *one.also) for n in d.unvaried)
            said = f"{', '.join(still)} had one value at every point: no condition says it" if still else ""
            reason = one.derived.proof.reason or said or "too few random sizes could be run"
            rows[Unresolved(file="", line=0, operation=context(one), reason=reason)] = None
    return tuple(rows)


def record(
    facts: Facts,
    library: str,
    found: Sequence[Found],
    derived_by: Sequence[str] = ("symbolic",),
    judged: Callable[[Found], Sequence[Judge]] = lambda one: (),
    agrees: Callable[[Found], bool | None] = lambda one: None,
) -> Entry:
    """The record of a class: its proved regimes, and by name what could not be proved.

    A regime that a judge contradicts is `unproved`, whatever the measurement says.
    """
    kept = _distinct([f for f in found if verdict(f) != "wrong"])
    said = {id(f): list(judged(f)) for f in kept}
    # a further regime that a judge contradicts is not kept: its condition stays with the regime it borders on
    kept = [f for f in kept if not (f.beyond and any(judge.disagrees for judge in said[id(f)]))]
    names = unique_names([f.label for f in kept])
    regimes = [
        regime(f, name, where, said[id(f)], agrees(f), _taken(facts, f))
        for f, name, where in zip(kept, names, contexts(kept), strict=True)
    ]
    rows = (
        *unresolved(kept),
        *(_refuted(f) for f in found if verdict(f) == "wrong"),
    )
    made = Entry(
        full_class_name=facts.full_class_name,
        library=library,
        code_location=CodeLocation(
            file=facts.relative_file, line_start=facts.span.line, line_end=facts.span.end_line
        ),
        source_hash=facts.source_hash,
        versions=current_versions(library),
        defaults=constructor_defaults(facts.full_class_name),
        call_defaults=plain_defaults(facts.full_class_name, "forward"),
        parameters=parameters(notes_of(kept), regimes),
        regimes=tuple(regimes),
        unresolved=rows,
        derived_by=tuple(derived_by),  # type: ignore[arg-type]
    )
    told = judged_by_facts(made)
    if told.validation.verdict != "bounded":
        return told
    return told.model_copy(update={"validation": Validation(verdict="bounded", reason=_ranges(kept))})


def _taken(facts: Facts, found: Found) -> tuple[str, ...]:
    """What the source says that a regime takes for granted."""
    classes = dict.fromkeys((facts.full_class_name, *found.derived.pattern.classes))
    fields = left_out(found.derived.recipe, classes)
    cast = uncast(facts, found.derived.pattern.classes)
    return (*_fixed(found), *uncounted(found), *fields, *cast, *_settled(facts, found))


def _fixed(found: Found) -> Iterator[str]:
    """What the call fixes that no size tells; of a class within another it is the call of that."""
    recipe = found.derived.recipe
    of = f" of {recipe.target.rpartition('.')[2]}" if found.derived.pattern.path else ""
    return (f"{CALLED_WITH}{text}{of}" for text in recipe.fixed)


def _settled(facts: Facts, found: Found) -> Iterator[str]:
    """What its module was built with and called with that is no size, as far as it has a plain default."""
    if not _is_of_target(found):
        return
    built = plain_defaults(facts.full_class_name, "__init__")
    for name, value in found.derived.recipe.choices.items():
        if name in built:
            yield f"{BUILT}{name}={value}"
        elif value is not None:  # what is not given, `given` does not name
            yield f"{CALLED_WITH}{name}={value}"


def _distinct(found: Sequence[Found]) -> list[Found]:
    """Regimes with the same formulas and conditions once."""
    kept: dict[object, Found] = {}
    for one in found:
        summary = one.derived.pattern.summary
        costs = tuple((line.key, line.cost) for line in summary.lines)
        conditions = frozenset(c.text() for c in one.conditions)
        choices = json.dumps(one.derived.recipe.choices)
        kept.setdefault((tuple(summary.quantities().items()), costs, conditions, choices), one)
    return list(kept.values())


def _refuted(found: Found) -> Unresolved:
    first = next(d for one in (found.derived, *found.also) for d in one.proof.differences)
    said = f"{first.quantity} of {first.where} predicted {first.predicted}, measured {first.measured}"
    place = next((line.key for line in found.derived.pattern.summary.lines), ("", 0, 0))
    return Unresolved(
        file=short_file(place[0]),
        line=place[1],
        operation=f"{found.label}, {context(found)}",
        reason=f"{REFUTED}{said}",
    )


def unique_names(labels: Sequence[str]) -> list[str]:
    """The labels, each once: a repeated one gets a number."""
    seen: dict[str, int] = {}
    names = []
    for label in labels:
        seen[label] = seen.get(label, 0) + 1
        names.append(label if seen[label] == 1 else f"{label} {seen[label]}")
    return names
