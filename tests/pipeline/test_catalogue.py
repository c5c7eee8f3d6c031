"""The catalogue's mechanism without running any module: plans, resuming, merging, figures."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from forwardbook.pipeline.catalogue.build import USUAL, Building, build
from forwardbook.pipeline.catalogue.coverage import coverage, reasons
from forwardbook.pipeline.catalogue.journal import Journal
from forwardbook.pipeline.catalogue.merge import merge
from forwardbook.pipeline.catalogue.plan import NoSuchPackage, planned
from forwardbook.pipeline.catalogue.record import (
    CATALOGUE_NAME,
    Catalogue,
    ClassResult,
    LibraryRecord,
    UnitRecord,
    UnitResult,
    read_catalogue,
    write_catalogue,
)
from forwardbook.pipeline.catalogue.share import withdrawn
from forwardbook.pipeline.child.job import Limits
from forwardbook.pipeline.child.request import Request, Response
from forwardbook.schema import Given
from forwardbook.workspace import Workspace, WorkspaceError

from .zoo import MODULE, Child, Make, built, files


def test_nothing_is_done_twice(zoo: Path, make_entry: Make) -> None:
    """A second build asks for nothing and changes nothing."""
    built(zoo, Child(make_entry))
    before, again = files(zoo), Child(make_entry)

    built(zoo, again)

    assert [] == again.asked
    assert before == files(zoo)


def test_only_what_changed_is_done_again(zoo: Path, make_entry: Make) -> None:
    """A package whose files stand in one folder is done again as a whole; a comment elsewhere is its too."""
    built(zoo, Child(make_entry))
    (zoo / "zoo_of_parts" / "more").mkdir()
    (zoo / "zoo_of_parts" / "more" / "owl.py").write_text(MODULE.format("Owl"), encoding="utf-8")
    again = Child(make_entry)

    built(zoo, again)

    assert ["zoo_of_parts.more.owl"] == again.asked


def test_a_class_whose_entry_lost_its_formulas_is_done_again(zoo: Path, make_entry: Make) -> None:
    """The catalogue calls it exact, and nothing is stored of it: another command withdrew what it led to."""
    built(zoo, Child(make_entry))
    workspace = Workspace(zoo)
    entry = withdrawn(workspace.load()["zoo_of_parts_Fox"], "its holder says something else")
    workspace.save({"zoo_of_parts_Fox": entry})
    again = Child(make_entry)

    built(zoo, again)

    assert ["zoo_of_parts.fox"] == again.asked
    assert workspace.load().resolved("zoo_of_parts_Fox")[1].regimes


def test_units_are_chosen_by_any_of_several_patterns(zoo: Path) -> None:
    """A part of a name, or a pattern for the whole of it, commas between."""
    chosen = [unit.name for unit in planned("zoo_of_parts", "bee, *.elk").units]

    assert ["zoo_of_parts.bee", "zoo_of_parts.elk"] == chosen


def test_an_interrupted_build_ends_as_if_it_had_not_been(zoo: Path, make_entry: Make) -> None:
    """Ended at any moment and resumed, the database and the catalogue are the same, byte for byte."""
    built(zoo, Child(make_entry))
    whole = files(zoo)
    rng = random.Random(7)
    plan = planned("zoo_of_parts")
    for _ in range(3):
        for name in ("module_db.json", CATALOGUE_NAME):
            (zoo / name).unlink()
        asked: list[str] = []
        ended = False
        while not ended:
            child = Child(make_entry, dies_after=rng.randint(0, 3))
            try:
                built(zoo, child, plan)
                ended = True
            except KeyboardInterrupt:
                half = Journal(Workspace(zoo), "zoo_of_parts").folder / "half.json"
                half.parent.mkdir(parents=True, exist_ok=True)
                half.write_text('{"unit": ', encoding="utf-8")  # it was being written when the power went
            asked += child.asked

        assert whole == files(zoo)
        assert sorted(asked) == sorted(set(asked))


def test_a_second_build_is_refused(zoo: Path, make_entry: Make) -> None:
    """Two at once would both write what came of units: the second says so at once, and touches nothing."""
    child = Child(make_entry)
    first = Journal(Workspace(zoo), "zoo_of_parts")
    with first.alone(), pytest.raises(WorkspaceError, match="another process is at it"):
        built(zoo, child)

    assert [] == child.asked


def test_clearing_leaves_what_another_build_keeps(tmp_path: Path) -> None:
    """What an interrupted build keeps of other units stays until it is in the database."""
    journal = Journal(Workspace(tmp_path), "zoo")
    for name in ("zoo.one", "zoo.two"):
        journal.keep(UnitResult(unit=name, library="zoo", record=UnitRecord(stamp="now")))

    journal.clear(["zoo.one"])

    assert ["zoo.two"] == [one.unit for one in journal.all()]


def test_a_half_written_catalogue_is_taken_away(tmp_path: Path) -> None:
    """What a killed process left beside the catalogue is gone once it is written again."""
    left = tmp_path / ".catalogue.json.32um8cl6.tmp"
    left.write_text("{")
    write_catalogue(Catalogue(), Workspace(tmp_path))

    assert not left.exists()


def test_a_child_that_dies_costs_its_unit_alone(zoo: Path, make_entry: Make) -> None:
    """Its classes are not reached, for the reason that the process ended; the others are proved."""
    child = Child(make_entry)

    def sometimes(request: Request, limits: Limits, worker: str) -> Response:
        if request.target.endswith("cat"):
            problem = (
                "analysing cat: its process died of a segmentation fault (SIGSEGV)\n  it was at cat.py:5 in f"
            )
            return Response(problem=problem, told=problem, problem_kind="crash")
        return child(request, limits, worker)

    plan, workspace = planned("zoo_of_parts"), Workspace(zoo)
    done = list(build(plan, workspace, Building(run=sometimes)))
    merge(plan, [one.result for one in done], workspace, whole=True)
    [figures] = coverage(read_catalogue(workspace))

    assert (6, 5, 5) == (figures.found, figures.reached, figures.exact)
    assert ("crash", "at cat.py:5 in f") == (figures.reasons[0].kind, figures.reasons[0].place)


def test_a_pattern_chooses_units_and_keeps_the_rest(zoo: Path, make_entry: Make) -> None:
    """What is known of other units stays in the catalogue."""
    built(zoo, Child(make_entry))
    plan, workspace, child = planned("zoo_of_parts", "*bee*"), Workspace(zoo), Child(make_entry)

    done = list(build(plan, workspace, Building(run=child, force=True)))
    merge(plan, [one.result for one in done], workspace, whole=False)

    assert ["zoo_of_parts.bee"] == child.asked
    assert 6 == len(read_catalogue(workspace).libraries["zoo_of_parts"].units)


def test_what_no_build_has_tried_counts_as_found(zoo: Path, make_entry: Make) -> None:
    """Figures of a part are told of the whole library: classes of other units are found, and not tried."""
    plan, workspace = planned("zoo_of_parts", "*bee*"), Workspace(zoo)
    done = list(build(plan, workspace, Building(run=Child(make_entry))))
    merge(plan, [one.result for one in done], workspace, whole=False)
    whole = sum(len(unit.classes) for unit in planned("zoo_of_parts").units)
    tried = sum(len(unit.classes) for unit in plan.units)

    [told] = coverage(read_catalogue(workspace))

    assert (whole, whole - tried) == (told.found, told.untried)


@pytest.mark.parametrize(
    ("name", "only", "said"),
    [
        ("no_such_package", "", "is not installed"),
        ("empty_of_modules", "", "defines no class"),
        ("zoo_of_parts", "*unicorn*", "there is none"),
    ],
)
def test_a_package_with_nothing_to_do_is_refused(zoo: Path, name: str, only: str, said: str) -> None:
    """The message says what was looked for."""
    (zoo / "empty_of_modules.py").write_text("class A:\n    pass\n", encoding="utf-8")

    with pytest.raises(NoSuchPackage, match=said):
        planned(name, only)


def test_large_units_get_more_time() -> None:
    """Three models in one file get the time of three; a small one no less than a usual one."""
    how = Building(budget=60.0)

    assert [60.0, 60.0, 180.0] == [how.budget_of(classes) for classes in (1, USUAL, 3 * USUAL)]
    assert how.limits(180.0).seconds > how.limits(60.0).seconds > 60.0


def test_reasons_that_touch_most_classes_come_first() -> None:
    """Numbers and quoted words do not keep like reasons apart."""
    said = ["needs 3 dimensions, got 'x'", "needs 12 dimensions, got 'yy'", "no rule"]
    classes = [ClassResult(name=f"c{i}", state="unreached", reason=text) for i, text in enumerate(said)]

    assert [2, 1] == [one.classes for one in reasons(classes)]


def test_a_model_type_ran_where_a_model_of_it_was_called() -> None:
    """By itself or within another, whatever the way was called; one of which no model ran did not."""
    ran, held, failed = (
        ClassResult(name=name, state=state)
        for name, state in (("a.Whole", "exact"), ("a.Tower", "unproved"), ("b.Alone", "unreached"))
    )
    units = {
        "a": UnitRecord(
            stamp="", classes=(ran, held), model_types={"whole": ("a.Whole",), "tower": ("a.Tower",)}
        ),
        "b": UnitRecord(stamp="", classes=(failed,), model_types={"alone": ("b.Alone",)}),
    }

    [told] = coverage(Catalogue(libraries={"a": LibraryRecord(units=units)}))

    assert (3, 2) == (told.model_types, told.model_types_reached)


def test_what_a_person_described_is_not_derived_otherwise(zoo: Path, make_entry: Make) -> None:
    """An entry with what was given for it stays through builds, forced ones too, and counts as it is."""
    built(zoo, Child(make_entry))
    workspace, name = Workspace(zoo), "zoo_of_parts.ant.Ant"
    database = workspace.load()
    key = database.keys_by_class()[name]
    holder = database.resolved(key)[1]
    given = holder.model_copy(update={"full_class_name": name, "given": Given(inputs={"x": "n,4"})})
    workspace.save({key: given}, rules_version=database.rules_version)
    before = workspace.load()[key]
    built(zoo, Child(make_entry), force=True)

    assert before == workspace.load()[key]
    [said] = [one for one in _classes(zoo) if one.name == name]
    assert ("exact", "what a person gave") == (said.state, said.way)


def _classes(zoo: Path) -> list[ClassResult]:
    units = read_catalogue(Workspace(zoo)).libraries["zoo_of_parts"].units
    return [one for unit in units.values() for one in unit.classes]
