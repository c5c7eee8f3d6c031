"""What a child process does for one class: build it, derive, prove, and give back its record."""

from __future__ import annotations

from pathlib import Path

from forwardbook.analyzers.instances.recipe import InstanceOptions
from forwardbook.analyzers.instances.recipes import recipes_for
from forwardbook.analyzers.reader import Facts, Sources, read_class
from forwardbook.analyzers.symbolic.run import SizeNote
from forwardbook.pipeline.entry import entry, regime, unique_names, unresolved, verdict
from forwardbook.pipeline.explore import Found, regimes_of
from forwardbook.pipeline.request import Request, Response
from forwardbook.pipeline.versions import current_versions


def work(request: Request) -> Response:
    """The entry of the requested class, or the problem that kept it from being proved."""
    facts = _facts(request)
    found = _symbolic(request)
    main = [f for f in found if verdict(f) == "exact"]
    refuted = [f for f in found if verdict(f) == "wrong"]
    if refuted and not main:
        return _refuted(request, refuted)
    kept = _distinct([f for f in found if verdict(f) != "wrong"])
    regimes = [regime(f, name) for f, name in zip(kept, unique_names([f.label for f in kept]), strict=True)]
    notes: dict[str, SizeNote] = {}
    for one in kept:
        notes |= one.derived.notes
    library = request.target.partition(".")[0]
    rows = (*unresolved(kept), *_refuted_rows(refuted))
    made = entry(facts, library, regimes, notes, rows, current_versions(library), ["symbolic"])
    return Response(entry=made.model_dump(mode="json"))


def _facts(request: Request) -> Facts:
    file = Path(request.file) if request.file else None
    name = request.target.rpartition(".")[2] if file else request.target
    return read_class(name, file, Sources([Path(r) for r in request.roots]))


def _symbolic(request: Request) -> list[Found]:
    options = InstanceOptions(
        config_file=Path(request.config_file) if request.config_file else None,
        init=request.init,
        inputs=request.inputs,
        root=Path(request.roots[0]) if request.roots else None,
    )
    found: list[Found] = []
    problem: Exception | None = None
    for recipe in recipes_for(request.target, options):
        try:
            found += regimes_of(recipe, request.seed, request.points, request.explore)
        except Exception as error:  # noqa: BLE001 - another recipe may run; if none does, the first reason is told
            problem = problem or error
    if not found and problem is not None:
        raise problem
    return found


def _distinct(found: list[Found]) -> list[Found]:
    """Regimes with the same formulas and conditions once."""
    kept: dict[object, Found] = {}
    for one in found:
        summary = one.derived.pattern.summary
        key = (
            tuple(summary.quantities().items()),
            tuple((line.key, line.cost) for line in summary.lines),
            frozenset(c.text() for c in one.conditions),
        )
        kept.setdefault(key, one)
    return list(kept.values())


def _refuted(request: Request, refuted: list[Found]) -> Response:
    from forwardbook.pipeline.failure import refutation

    return refutation(request, refuted)


def _refuted_rows(refuted: list[Found]) -> list[object]:
    from forwardbook.schema import Unresolved

    rows = []
    for one in refuted:
        first = (*one.derived.proof.differences, *(d for a in one.also for d in a.proof.differences))[0]
        reason = f"the formula was refuted: {first.quantity} of {first.where}: predicted {first.predicted}, measured {first.measured}"
        rows.append(Unresolved(file="", line=0, operation=one.label, reason=reason))
    return rows  # type: ignore[return-value]
