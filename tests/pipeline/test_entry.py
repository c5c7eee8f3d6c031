"""The record of a small module: what the schema wants, and lines that add up to the totals."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.reader import Facts, Sources, read_class
from forwardbook.formula import Condition, Expr, parse
from forwardbook.pipeline.child import work
from forwardbook.pipeline.child.request import Request
from forwardbook.pipeline.derivation.entry import record, unique_names, verdict
from forwardbook.pipeline.derivation.entry_lines import text
from forwardbook.pipeline.derivation.explore import regimes_of
from forwardbook.pipeline.derivation.found import Found
from forwardbook.profiling.proof import Difference
from forwardbook.schema import Entry, Judge

from .matrices import over_rows

REST = '"cpu", dtype=torch.bfloat16):'


class Gated(nn.Module):
    """A gated projection with a branch, in several lines and with a repeated submodule."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.gate = nn.Linear(width, inner, bias=False)
        self.up = nn.Linear(width, inner, bias=False)
        self.down = nn.Linear(inner, width)

    def forward(self, x: Tensor) -> Tensor:
        gated = F.silu(self.gate(x))
        gated = (
            gated
            * self.up(x)
        )
        if x.shape[0] > 1:
            gated = gated / x.shape[0]
        return self.down(gated)


@pytest.fixture(scope="module")
def facts() -> Facts:
    """What the reader says of the class."""
    file = Path(__file__)
    return read_class("Gated", file, Sources([file.parent]))


@pytest.fixture
def found(recipe_from: Callable[..., Recipe]) -> list[Found]:
    """Its regimes."""
    recipe = over_rows(recipe_from, Gated, "width", "inner", rows=6, width=8, inner=10)
    return regimes_of(recipe, seed=1, points=3, explore=True)


@pytest.fixture
def made(facts: Facts, found: list[Found]) -> Entry:
    """Its record."""
    return record(facts, "tests", found)


def test_record_is_valid(made: Entry) -> None:
    """The record survives a round trip through JSON and the schema, and says exact."""
    again = Entry.model_validate_json(made.model_dump_json())

    assert made == again
    assert ("exact", ()) == (made.validation.verdict, made.unresolved)
    assert ("symbolic",) == made.derived_by
    assert made.full_class_name.endswith("Gated")


@pytest.mark.parametrize("quantity", ["flops", "pointwise_ops"])
def test_lines_of_computation_add_up(made: Entry, quantity: str) -> None:
    """As polynomials, the sum over lines is the total, in every regime."""
    assert made.regimes
    for regime in made.regimes:
        analysis = regime.flop_analysis
        lines = Expr.sum(parse(getattr(line, quantity), exact=True) for line in analysis.lines)
        assert parse(getattr(analysis, quantity), exact=True) == lines


@pytest.mark.parametrize("quantity", ["reads", "writes"])
def test_lines_of_memory_add_up(made: Entry, quantity: str) -> None:
    """So do the bytes that lines read and write."""
    for regime in made.regimes:
        analysis = regime.memory_analysis
        lines = Expr.sum(parse(getattr(line, quantity), exact=True) for line in analysis.lines)
        assert parse(getattr(analysis, quantity), exact=True) == lines


def test_lines_are_statements_of_forward(made: Entry, facts: Facts) -> None:
    """A statement over several lines is one line of the record, with its text."""
    lines = {line.code: line for line in made.regimes[0].flop_analysis.lines}
    first = Gated.forward.__code__.co_firstlineno

    ((start, end),) = ((line.line, line.end_line) for code, line in lines.items() if "self.up(x)" in code)
    inside = range(facts.span.line, facts.span.end_line + 1)
    assert (first + 2, first + 5) == (start, end)
    assert all(line.line in inside and line.end_line in inside for line in lines.values())


def test_branch_is_a_regime(made: Entry) -> None:
    """One row skips a line: at one row and at many the formulas of the right regime hold."""
    ops = {}
    for rows in (1, 6):
        sizes = {"rows": rows, "width": 8, "inner": 10, "a_dtype_bytes": 4, "w_dtype_bytes": 4}
        (regime,) = [r for r in made.regimes if all(Condition.parse(c).holds(sizes) for c in r.conditions)]
        ops[rows] = parse(regime.flop_analysis.pointwise_ops).evaluate(sizes)
        assert set(regime.parameters) <= set(sizes)

    assert 6 * ops[1] + 6 * 10 == ops[6]


def test_parameters_are_those_of_the_formulas(made: Entry) -> None:
    """Every name of a regime is told once, widths with what they mean."""
    names = {name for regime in made.regimes for name in regime.parameters}
    meanings = {p.name: p.meaning for p in made.parameters}

    assert names == set(meanings)
    assert "bytes of one element of the weights" == meanings["w_dtype_bytes"]


def test_submodules_are_told(made: Entry) -> None:
    """Calls of submodules name class, attribute and sizes."""
    calls = {c.attribute: c for c in made.regimes[0].flop_analysis.submodule_calls}

    assert {"gate", "up", "down"} == {name for key in calls for name in key.split(", ")}
    assert {"in_features": "{inner}", "out_features": "{width}"} == dict(calls["down"].bindings)


def test_reasons_are_the_rules_own(made: Entry) -> None:
    """The reasoning tells for each line with a cost why its operations cost what they cost."""
    reasoning = made.regimes[0].flop_analysis.reasoning

    assert "`gated = F.silu(self.gate(x))`" in reasoning and "aten.mm: " in reasoning


def test_proof_shows_points(made: Entry) -> None:
    """The proof holds points at which prediction and measurement are equal, in the regime's own sizes."""
    for regime in made.regimes:
        assert regime.proof is not None
        assert regime.proof.points and "exact" == regime.proof.verdict
        assert all(point.predicted == point.measured for point in regime.proof.points)


def refuted(one: Found) -> Found:
    """The regime as if its first point had measured other flops than predicted."""
    point = one.derived.proof.points[0]
    off = replace(point, differences=(Difference("flops", "total", 1, point.measured["flops"]),))
    proof = replace(one.derived.proof, points=[off])
    return replace(one, derived=replace(one.derived, proof=proof))


def test_refuted_regime_is_not_stored(facts: Facts, found: list[Found]) -> None:
    """A regime that measurement refutes is no regime: it is unresolved, with what differed."""
    wrong = refuted(found[0])
    made = record(facts, "tests", [wrong])

    assert ("wrong", (), "unproved") == (verdict(wrong), made.regimes, made.validation.verdict)
    assert "refuted: flops of total predicted 1" in made.unresolved[0].reason


def test_refutation_shows_sizes_line_predicted_and_measured(
    found: list[Found], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where all is refuted the diagnostics show each point, its sizes and the numbers that differ."""
    wrong = refuted(found[0])
    monkeypatch.setattr(work, "recipes_for", lambda target, options: [wrong.derived.recipe])
    monkeypatch.setattr(work, "regimes_of", lambda recipe, seed, points, explore: [wrong])
    response = work.work(Request(target="test_entry.Gated", file=__file__, derive="symbolic"))
    point = wrong.derived.proof.points[0]
    [difference] = point.differences
    shown = json.loads(response.model_dump_json())["diagnostics"]["regimes"]
    first = next(p for regime in shown for p in regime["points"] if p["differences"])

    assert ("wrong", True) == (response.problem_kind, response.entry is not None)
    assert "flops of total: predicted 1" in (response.problem or "")
    assert (point.sizes, point.measured) == (first["sizes"], first["measured"])
    assert [{"quantity": "flops", "where": "total", "predicted": 1, "measured": difference.measured}] == (
        first["differences"]
    )


class Casting(nn.Module):
    """A projection under automatic casting."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.inner = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.inner(x)


class Holding(nn.Module):
    """Holds what casts."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.casting = Casting(width)

    def forward(self, x: Tensor) -> Tensor:
        return self.casting(x)


@pytest.mark.parametrize("kind", [Casting, Holding])
def test_automatic_casting_is_an_assumption(recipe_from: Callable[..., Recipe], kind: type[Casting]) -> None:
    """Casting does not reach meta tensors: every regime says where it is asked for, in submodules too."""
    recipe = over_rows(recipe_from, kind, "width", rows=6, width=8)
    file = Path(__file__)
    facts = read_class(kind.__name__, file, Sources([file.parent]))
    made = record(facts, "tests", regimes_of(recipe, seed=1, points=3, explore=False))
    line = 1 + file.read_text(encoding="utf-8").splitlines().index(" " * 8 + "with torch.autocast(" + REST)
    said = {text.partition(" does not")[0] for regime in made.regimes for text in regime.assumptions}

    assert {f"torch.autocast({REST[:-2]}) at test_entry.py:{line}"} == said


@pytest.mark.parametrize("quantity", ["flops", "weights", "peak"])
def test_contradicting_judge_forbids_exact(facts: Facts, found: list[Found], quantity: str) -> None:
    """A judge who finds another number makes the record unproved, whatever the quantity, and says why."""
    judge = Judge(name="counter", quantity=quantity, agreed=0, asked=1, ours=9, theirs=7)
    made = record(facts, "tests", found[:1], judged=lambda one: [judge])

    said = f"counter says otherwise of {quantity}: 7 against our 9"
    [proof] = [one.proof for one in made.regimes if one.proof is not None]
    told = made.validation
    assert ("unproved", f"{made.regimes[0].name}: {said}") == (told.verdict, told.reason)
    assert ("unproved", said) == (proof.verdict, proof.reason)


class Chosen(nn.Module):
    """Projects the rows whose best of four scores is not the first."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.score, self.project = nn.Linear(width, 4), nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        kept = x[self.score(x).argmax(-1) != 0]
        out: Tensor = self.project(kept)
        return out


def test_what_hangs_on_data_is_bounded(recipe_from: Callable[..., Recipe]) -> None:
    """Formulas that name how many rows data chose are bounded; the reason says which line and what range."""
    recipe = over_rows(recipe_from, Chosen, "width", rows=6, width=8)

    file = Path(__file__)
    facts = read_class("Chosen", file, Sources([file.parent]))

    made = record(facts, "tests", regimes_of(recipe, seed=1, points=3, explore=False))

    assert (made.validation.verdict, made.unresolved) == ("bounded", ())
    assert {one.proof.verdict for one in made.regimes if one.proof is not None} == {"bounded"}
    line = "`kept = x[self.score(x).argmax(-1) != 0]`"
    said = f"{{kept_count}}: how many are true, which data decides: {line}, at most {{rows}}"
    assert made.validation.reason == said


def test_names_are_unique() -> None:
    """A label that is used again gets a number."""
    assert ["a", "b", "a 2"] == unique_names(["a", "b", "a"])
    assert "2 * {x}" == text(Expr.symbol("x") * 2)
