"""Copies share the first entry; what differs does not, and formulas that are refuted are taken back."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from forwardbook.pipeline.catalogue.build import Building, build
from forwardbook.pipeline.catalogue.coverage import coverage
from forwardbook.pipeline.catalogue.merge import merge, with_scenarios
from forwardbook.pipeline.catalogue.plan import planned
from forwardbook.pipeline.catalogue.record import ClassResult, UnitRecord, UnitResult, read_catalogue
from forwardbook.pipeline.catalogue.share import copy_of, freed, shape, shared
from forwardbook.schema import Entry
from forwardbook.workspace import Workspace

from .zoo import NAMES, Child, Make, built


def test_copies_share_the_first_entry(zoo: Path, make_entry: Make) -> None:
    """Classes of one code with the same formulas are one entry; the others lead to it."""
    built(zoo, Child(make_entry))
    database = Workspace(zoo).load()

    assert all("zoo_of_parts_Ant" == database.resolved(f"zoo_of_parts_{name}")[0] for name in NAMES)
    assert 5 == coverage(read_catalogue(Workspace(zoo)))[0].sharing


def test_what_differs_is_not_shared(make_entry: Make) -> None:
    """The same code with other formulas, and the same formulas of other code, are no copies."""
    entries = {"a": make_entry("A"), "b": make_entry("B"), "c": make_entry("C")}
    other = entries["b"].regimes[0].model_copy(update={"conditions": ("{seq_len} > 7",)})
    entries["b"] = entries["b"].model_copy(update={"regimes": (other,)})

    found = shared(entries, {"a": "x", "b": "x", "c": "y"})

    assert [None, None, None] == [one.same_as for one in found.values()]


def test_the_copy_that_has_a_calculator_is_the_holder(zoo: Path, make_entry: Make) -> None:
    """A file that somebody keeps belongs to an entry, whichever key comes first; copies lead there."""
    built(zoo, Child(make_entry))
    workspace = Workspace(zoo)
    assert "zoo_of_parts_Ant" == workspace.load().resolved("zoo_of_parts_Fox")[0]
    workspace.generated_folder.mkdir(exist_ok=True)
    (workspace.generated_folder / "zoo_of_parts_elk.py").write_text("", encoding="utf-8")
    built(zoo, Child(make_entry), planned("zoo_of_parts", "*elk*"), force=True)
    database = workspace.load()

    assert {"zoo_of_parts_Elk"} == {database.resolved(f"zoo_of_parts_{name}")[0] for name in NAMES}
    leads = {name: database.head(f"zoo_of_parts_{name}").same_as for name in NAMES}
    assert {"zoo_of_parts_Elk": 5, None: 1} == Counter(leads.values())


def test_two_copies_with_calculators_each_hold_their_own(make_entry: Make) -> None:
    """Neither file is left without an entry; a third leads to the first of them."""
    entries = {name: make_entry(name) for name in "abc"}
    found = shared(entries, dict.fromkeys("abc", "x"), {"b", "c"})

    assert {"a": "b", "b": None, "c": None} == {name: one.same_as for name, one in found.items()}


def test_a_copy_keeps_its_formulas_when_its_holder_changes(zoo: Path, make_entry: Make) -> None:
    """What led to an entry which now says something else has what that said, in one of them for all."""
    built(zoo, Child(make_entry))
    before = Workspace(zoo).load().resolved("zoo_of_parts_Fox")[1].regimes

    class Other(Child):
        def _entry(self, name: str) -> dict[str, object]:
            raw = super()._entry(name)
            raw["regimes"][0]["conditions"] = ["{seq_len} > 7"]  # type: ignore[index]
            return raw

    plan, workspace = planned("zoo_of_parts", "*ant*"), Workspace(zoo)
    done = list(build(plan, workspace, Building(run=Other(make_entry), force=True)))
    merge(plan, [one.result for one in done], workspace, whole=False)
    database = workspace.load()

    assert before == database.resolved("zoo_of_parts_Fox")[1].regimes
    assert before != database["zoo_of_parts_Ant"].regimes
    assert 1 == len({database.resolved(f"zoo_of_parts_{name}")[0] for name in NAMES if name != "Ant"})


def test_a_forced_build_keeps_scenarios_that_it_does_not_derive(zoo: Path, make_entry: Make) -> None:
    """What was derived of decode, with another command, stays beside what the catalogue derives anew."""
    built(zoo, Child(make_entry))

    class Prefill(Child):
        def _entry(self, name: str) -> dict[str, object]:
            raw = super()._entry(name)
            return {**raw, "regimes": raw["regimes"][:1], "parameters": []}  # type: ignore[index]

    plan, workspace = planned("zoo_of_parts", "*ant*"), Workspace(zoo)
    before = workspace.load()["zoo_of_parts_Ant"]
    done = list(build(plan, workspace, Building(run=Prefill(make_entry), force=True)))
    merge(plan, [one.result for one in done], workspace, whole=False)
    after = workspace.load()["zoo_of_parts_Ant"]

    assert ["prefill", "decode"] == [one.name for one in after.regimes]
    assert [one for one in before.parameters if one.name == "batch_size"] == list(after.parameters)


def test_what_a_part_cost_alone_goes_where_a_model_calls_it_now(make_entry: Make) -> None:
    """The catalogue derived it of the part by itself, when no model was known that calls it."""
    before = make_entry()
    alone = before.regimes[1].model_copy(update={"name": "Ant alone, float32"})
    stale = before.model_copy(update={"regimes": (before.regimes[0], alone)})
    fresh = before.model_copy(update={"regimes": before.regimes[:1]})

    assert fresh.regimes == with_scenarios(fresh, stale).regimes


def test_scenarios_of_another_version_are_not_kept(make_entry: Make) -> None:
    """Formulas of other rules, or of a source that has changed, go when the class is derived anew."""
    before = make_entry()
    fresh = before.model_copy(update={"regimes": before.regimes[:1]})

    assert before.regimes == with_scenarios(fresh, before).regimes
    for changed in ({"versions": {"python": "3.12"}}, {"source_hash": "1" * 64}):
        assert fresh.regimes == with_scenarios(fresh.model_copy(update=changed), before).regimes


def _freed_copy(holder: Entry, longer: int) -> Entry:
    """What a copy becomes that lies nine lines further below and takes so many lines more."""
    there = holder.code_location
    here = {"line_start": there.line_start + 9, "line_end": there.line_end + 9 + longer}
    copy = copy_of(holder.model_copy(update={"code_location": there.model_copy(update=here)}), "a_Ant")
    return freed(copy, holder, "a_Ant")


def test_lines_of_a_copy_are_those_of_its_own_code(make_entry: Make) -> None:
    """A copy that is freed has the lines of its class, which lies further below in its file."""
    holder = make_entry("Ant", full_class_name="a.Ant")

    alone = _freed_copy(holder, 0)

    assert shape(alone) == shape(holder)
    for mine, theirs in zip(alone.regimes, holder.regimes, strict=True):
        assert [one.line + 9 for one in theirs.flop_analysis.lines] == [
            one.line for one in mine.flop_analysis.lines
        ]
        assert [one.line + 9 for one in theirs.memory_analysis.lines] == [
            one.line for one in mine.memory_analysis.lines
        ]


def test_lines_of_a_longer_copy_are_those_of_its_statements() -> None:
    """Copies that are shipped, written in more lines than their holders or fewer: each keeps its formulas."""
    database = Workspace(Path(__file__).resolve().parent.parent.parent).load()
    copies = [(database[key], *database.resolved(key)) for key in database.own if database.head(key).same_as]
    longer = [
        (copy, key, holder) for copy, key, holder in copies if _lines_of(copy) != _lines_of(holder)
    ]
    assert longer
    for copy, key, holder in longer[:12]:
        alone, here = freed(copy, holder, key), copy.code_location
        lines = [line for one in alone.regimes for line in one.flop_analysis.lines]

        assert len(holder.regimes) == len(alone.regimes)
        assert all(here.line_start < one.line <= one.end_line <= here.line_end for one in lines)


def _lines_of(entry: Entry) -> int:
    return entry.code_location.line_end - entry.code_location.line_start


def test_a_copy_whose_lines_nobody_knows_loses_its_formulas(make_entry: Make) -> None:
    """Its code takes more lines than the holder's: where those that cost something are, no number says."""
    holder = make_entry("Ant", full_class_name="a.Ant")

    alone = _freed_copy(holder, 2)

    assert () == alone.regimes and "those of a_Ant" in alone.validation.reason


def test_refuted_formulas_are_taken_back(zoo: Path, make_entry: Make) -> None:
    """A class that a later build refutes keeps its entry without formulas; those that led to it get them."""
    built(zoo, Child(make_entry))
    plan, workspace = planned("zoo_of_parts", "*ant*"), Workspace(zoo)
    name = "zoo_of_parts.ant.Ant"
    refuted = ClassResult(name=name, state="wrong", kind="refuted", reason="refuted: flops of total")
    result = UnitResult(
        unit="zoo_of_parts.ant", library="zoo_of_parts", record=UnitRecord(stamp="", classes=(refuted,))
    )

    merge(plan, [result], workspace, whole=False)
    database = workspace.load()

    assert () == database["zoo_of_parts_Ant"].regimes
    assert ("unproved", "refuted: flops of total") == (
        database["zoo_of_parts_Ant"].validation.verdict,
        database["zoo_of_parts_Ant"].validation.reason,
    )
    assert all(database.resolved(f"zoo_of_parts_{other}")[1].regimes for other in NAMES[1:])


def test_what_a_person_validated_stays(zoo: Path, make_entry: Make) -> None:
    """A build takes back no formulas that a person vouched for."""
    built(zoo, Child(make_entry))
    plan, workspace = planned("zoo_of_parts", "*ant*"), Workspace(zoo)
    entry = workspace.load()["zoo_of_parts_Ant"]
    vouched = entry.validation.model_copy(update={"human_validated": True})
    workspace.save({"zoo_of_parts_Ant": entry.model_copy(update={"validation": vouched})})
    refuted = ClassResult(name="zoo_of_parts.ant.Ant", state="wrong", kind="refuted", reason="refuted")
    result = UnitResult(
        unit="zoo_of_parts.ant", library="zoo_of_parts", record=UnitRecord(stamp="", classes=(refuted,))
    )

    merge(plan, [result], workspace, whole=False)

    assert entry.regimes == workspace.load()["zoo_of_parts_Ant"].regimes
