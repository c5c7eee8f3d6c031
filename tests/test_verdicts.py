"""The verdict of a regime and of an entry, from stored facts alone."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forwardbook.formula import Condition
from forwardbook.schema import (
    PROVED,
    CodeLocation,
    Entry,
    FlopAnalysis,
    FlopLine,
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
from forwardbook.verdicts import WORSE, judged, of_entry, of_regime, values_left

PARAMETERS = (
    Parameter(name="seq_len", source="forward"),
    Parameter(name="rows", source="--input"),
    Parameter(name="hidden", source="Thing.__init__"),
    Parameter(name="a_dtype_bytes", source="number format"),
    Parameter(name="hits", source="data, forward line 3"),
)
AGREES = Judge(name="counter", quantity="flops", agreed=1, asked=1)
SILENT = Judge(name="counter", quantity="flops", agreed=0, asked=0)
DISPUTES = Judge(
    name="allocator",
    quantity="peak",
    agreed=0,
    asked=1,
    ours=8192,
    theirs=7168,
    file="m.py",
    line=12,
    line_is="difference",
)
BRANCH = "the value of a bool scalar, taken as False: `if x.mean() > 0:`"
CHECK = "the value of a check of data, which holds (_is_all_true)"
MASK = "a mask computed from weights is true everywhere (nonzero)"


def regime(
    *conditions: str,
    name: str = "default",
    judges: tuple[Judge, ...] = (AGREES,),
    assumptions: tuple[str, ...] = (),
    parameters: tuple[str, ...] = ("seq_len", "hidden"),
    measured: Verdict = "exact",
    sizes: tuple[dict[str, int], ...] = ({"seq_len": 3}, {"seq_len": 50}, {"seq_len": 700}),
    off_by: int = 0,
    operations: tuple[str, ...] = (),
) -> Regime:
    """A regime whose points say the same as measurement, but for what is `off_by`."""
    points = tuple(ProofPoint(sizes=s, predicted={"flops": 9}, measured={"flops": 9 + off_by}) for s in sizes)
    lines = (
        FlopLine(line=1, end_line=1, code="", flops="9", pointwise_ops="0", operations=operations),
    )
    memory = dict.fromkeys(("reads", "writes", "weights", "boundary", "intermediates", "peak"), "0")
    return Regime(
        name=name,
        conditions=conditions,
        assumptions=assumptions,
        parameters=parameters,
        flop_analysis=FlopAnalysis(flops="9", pointwise_ops="0", lines=lines if operations else ()),
        memory_analysis=MemoryAnalysis(**memory),
        proof=Proof(verdict=measured, device="meta", dtype="float32", points=points, judges=judges),
    )


def entry(*regimes: Regime, unresolved: tuple[Unresolved, ...] = (), verdict: Verdict = "exact") -> Entry:
    return Entry(
        full_class_name="m.Thing",
        library="m",
        code_location=CodeLocation(file="m.py", line_start=1, line_end=2),
        source_hash="",
        parameters=PARAMETERS,
        regimes=regimes,
        unresolved=unresolved,
        validation=Validation(verdict=verdict),
    )


def verdict_of(one: Regime) -> Verdict:
    return of_regime(one, PARAMETERS).verdict


@pytest.mark.parametrize(
    ("expected", "conditions"),
    [
        ("exact", ()),
        ("exact", ("{seq_len} == 1",)),
        ("exact", ("{seq_len} == 0",)),
        ("exact", ("{seq_len} > 1", "{seq_len} % 8 == 0")),
        ("exact", ("{seq_len} <= 512",)),
        ("exact", ("{seq_len} == {hidden}",)),
        ("exact", ("{a_dtype_bytes} == 4",)),
        ("exact", ("{hidden} == 64",)),
        ("exact", ("ceil({seq_len} / 64) == 1",)),
        ("exact", ("12 // {seq_len} >= 2",)),
        ("exact", ("1 % ({seq_len} - 1) != 0",)),
        ("exact", ("floor({seq_len} / 4) - 2 * floor({seq_len} / 8) == 0",)),
        ("pinned", ("{seq_len} == 17",)),
        ("pinned", ("{rows} == 7",)),
        ("pinned", ("2 * {seq_len} - 1 == 13",)),
        ("pinned", ("17 >= {seq_len}", "{seq_len} > 16")),
        ("pinned", ("427 <= {seq_len}", "{seq_len} <= 429")),
        ("pinned", ("{seq_len} * {seq_len} == 289",)),
        ("pinned", ("{seq_len} > 64", "ceil({seq_len} / 64) == 2", "{seq_len} < 100")),
        ("pinned", ("{seq_len} == 16000",)),
        ("pinned", ("{seq_len} // {seq_len} <= 1", "{seq_len} >= 64", "{seq_len} <= 80")),
        ("pinned", ("{hidden} >= 283", "{hidden} <= 285")),
        ("exact", ("1 < 64 // {hidden}", "{hidden} <= 12")),
    ],
)
def test_a_size_of_the_call_at_a_number_is_pinned(expected: Verdict, conditions: tuple[str, ...]) -> None:
    """`== 1` is where code splits; a build at a number, a width, a range of an octave and more are no pin."""
    assert expected == verdict_of(regime(*conditions))


@given(st.integers(2, 10**6), st.integers(1, 5), st.integers(-9, 9), st.booleans())
def test_a_number_is_found_however_it_is_written(at: int, factor: int, more: int, turned: bool) -> None:
    """factor * size + more == factor * at + more holds at `at` alone, whichever side says it."""
    left, right = f"{factor} * {{n}} + {more}", f"{factor * at + more}"
    text = f"{right} == {left}" if turned else f"{left} == {right}"
    assert (at, at) == values_left("n", [Condition.parse(text)])


@given(st.integers(1, 2000), st.integers(0, 2000))
def test_a_range_is_narrow_where_nothing_in_it_is_twice_the_least(low: int, more: int) -> None:
    """Against the numbers themselves."""
    high = low + more
    found = values_left("n", [Condition.at_least("n", low), Condition.at_most("n", high)])
    assert ((low, high) if high > 1 and high < 2 * low else None) == found


@pytest.mark.parametrize(
    ("expected", "said"), [("assumed", BRANCH), ("assumed", MASK), ("exact", CHECK), ("exact", "no dropout")]
)
def test_a_branch_on_data_is_assumed(expected: Verdict, said: str) -> None:
    """A check that raises where it fails decides nothing."""
    assert expected == verdict_of(regime(assumptions=(said,)))


def test_what_a_caller_asks_of_data_is_the_callers() -> None:
    """A model decides a branch by its mask; a layer below it, which asks nothing of data, assumes nothing."""
    asks, none = ("aten._local_scalar_dense", "aten.mm"), ("aten.mm", "aten.gelu")
    found = [verdict_of(regime(assumptions=(BRANCH,), operations=names)) for names in (asks, none)]
    assert ["assumed", "exact"] == found


def test_a_size_of_data_is_bounded() -> None:
    """Its name is in the reason."""
    found = of_regime(regime(parameters=("seq_len", "hits")), PARAMETERS)
    assert ("bounded", "data decides {hits}") == (found.verdict, found.reason)


def test_points_within_a_sliver_are_pinned() -> None:
    """Eight points between 283 and 285 prove nothing of 192."""
    sizes = tuple({"hidden": number} for number in (283, 285, 283, 284))
    found = of_regime(regime(sizes=sizes), PARAMETERS)
    assert ("pinned", "at all points {hidden} is between 283 and 285") == (found.verdict, found.reason)
    assert "pinned" == verdict_of(regime(sizes=tuple({"hidden": 285, "seq_len": n} for n in (3, 50, 700))))


def test_a_judge_that_disagrees_takes_exact_away() -> None:
    """The reason names the judge, the quantity, the line and both numbers."""
    found = of_regime(regime(judges=(AGREES, DISPUTES)), PARAMETERS)
    assert "unproved" == found.verdict
    assert "allocator says otherwise of peak from m.py:12 on: 7,168 against our 8,192" == found.reason


def test_another_reading_of_the_source_takes_exact_away() -> None:
    """What is read without running it gives other formulas: nobody knows which are right."""
    one = regime()
    assert one.proof is not None
    other = one.model_copy(update={"proof": one.proof.model_copy(update={"static_agrees": False})})
    assert "unproved" == of_regime(other, PARAMETERS).verdict


def test_a_silent_judge_takes_nothing_away() -> None:
    """Asked 0 times."""
    assert "exact" == verdict_of(regime(judges=(SILENT,)))


@pytest.mark.parametrize("measured", ["exact", "bounded", "assumed", "pinned", "unproved", "wrong"])
def test_no_opinion_mends_what_was_measured(measured: Verdict) -> None:
    """Whatever was stored of what was measured as wrong or unproved stays; a number that differs is wrong."""
    assert verdict_of(regime(measured=measured)) == ("exact" if measured in PROVED else measured)
    assert "wrong" == verdict_of(regime(measured=measured, off_by=1))


FACTS = {
    "judges": ((AGREES,), (AGREES, DISPUTES)),
    "assumptions": ((), (BRANCH,)),
    "parameters": (("seq_len",), ("seq_len", "hits")),
    "off_by": (0, 1),
}


def test_exact_only_where_all_agree() -> None:
    """Of all combinations of facts exactly one is exact, and one fact more never gives a better verdict."""
    found: dict[tuple[bool, ...], Verdict] = {}
    for conditions, *chosen in product((False, True), *((False, True) for _ in FACTS)):
        facts = {name: FACTS[name][index] for name, index in zip(FACTS, chosen, strict=True)}
        one = regime(*(("{seq_len} == 17",) if conditions else ()), **facts)  # type: ignore[arg-type]
        found[(conditions, *chosen)] = verdict_of(one)
    assert [(False,) * 5] == [key for key, verdict in found.items() if verdict == "exact"]
    for key, verdict in found.items():
        for more in (key[:i] + (True,) + key[i + 1 :] for i in range(len(key))):
            assert WORSE.index(found[more]) >= WORSE.index(verdict)


@given(st.lists(st.sampled_from(["exact", "bounded", "assumed", "pinned", "unproved"]), min_size=1))
def test_an_entry_is_as_good_as_its_worst_regime(verdicts: list[Verdict]) -> None:
    """Whatever it said before; and saying it again changes nothing."""
    made = {
        "exact": regime(),
        "bounded": regime(parameters=("hits",)),
        "assumed": regime(assumptions=(BRANCH,)),
        "pinned": regime("{seq_len} == 17"),
        "unproved": regime(judges=(DISPUTES,)),
    }
    told = judged(entry(*(made[verdict] for verdict in verdicts)))
    assert max(verdicts, key=WORSE.index) == told.validation.verdict
    assert verdicts == [one.proof.verdict for one in told.regimes if one.proof is not None]
    assert bool(told.validation.reason) == (told.validation.verdict != "exact")
    assert judged(told) is told


def test_what_is_unresolved_makes_a_class_unproved() -> None:
    """So does no regime at all, and a regime that nobody measured."""
    row = Unresolved(file="m.py", line=3, operation="aten.mystery", reason="no rule states its cost")
    found = of_entry(entry(regime(), unresolved=(row,)))
    assert ("unproved", "aten.mystery: no rule states its cost") == (found.verdict, found.reason)
    assert "unproved" == of_entry(entry()).verdict
    assert "unproved" == of_entry(entry(regime().model_copy(update={"proof": None}))).verdict


def test_a_copy_is_left_to_the_entry_that_it_leads_to() -> None:
    """It has no facts of its own."""
    copied = entry().model_copy(update={"same_as": "m_Other"})
    assert judged(copied) is copied
