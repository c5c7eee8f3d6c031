"""The catalogue's mechanism without running any module: plans, resuming, merging, sharing, figures."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from forwardbook.pipeline.catalogue.build import USUAL, Building, UnknownKind, build
from forwardbook.pipeline.catalogue.coverage import coverage, reasons
from forwardbook.pipeline.catalogue.journal import Journal
from forwardbook.pipeline.catalogue.merge import merge
from forwardbook.pipeline.catalogue.plan import NoSuchPackage, Plan, planned
from forwardbook.pipeline.catalogue.record import (
    CATALOGUE_NAME,
    UNIT,
    Catalogue,
    ClassResult,
    LibraryRecord,
    UnitRecord,
    UnitResult,
    WayResult,
    read_catalogue,
    write_catalogue,
)
from forwardbook.pipeline.catalogue.share import copy_of, freed, shape, shared
from forwardbook.pipeline.child.job import Limits
from forwardbook.pipeline.child.request import Request, Response
from forwardbook.schema import Entry
from forwardbook.workspace import Workspace, WorkspaceError

Make = Callable[..., Entry]
MODULE = "from torch import nn\n\n\nclass {0}(nn.Module):\n    def forward(self, x):\n        return x\n"
NAMES = ("Ant", "Bee", "Cat", "Dog", "Elk", "Fox")


@pytest.fixture
def zoo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of six modules, one class each, in the current folder."""
    package = tmp_path / "zoo_of_parts"
    package.mkdir()
    for name in NAMES:
        (package / f"{name.lower()}.py").write_text(MODULE.format(name), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Child:
    """In place of child processes: proves everything, and may die after some."""

    def __init__(self, make_entry: Make, dies_after: int = 10**6) -> None:
        self._make, self._left = make_entry, dies_after
        self.asked: list[str] = []

    def __call__(self, request: Request, limits: Limits, worker: str) -> Response:
        if self._left == 0:
            raise KeyboardInterrupt
        self._left -= 1
        self.asked.append(request.target)
        classes = tuple(ClassResult(name=name, state="exact", digest="same") for name in request.wanted)
        entries = {name: self._entry(name) for name in request.wanted}
        record = UnitRecord(stamp="", classes=classes, ways=(WayResult(name="by itself", reached=1),))
        result = UnitResult(unit=request.target, library="zoo_of_parts", record=record, entries=entries)
        return Response(diagnostics={UNIT: result.model_dump(mode="json")})

    def _entry(self, name: str) -> dict[str, object]:
        made = self._make(name.rpartition(".")[2])
        named = made.model_copy(update={"full_class_name": name, "library": "zoo_of_parts"})
        return named.model_dump(mode="json")


def _built(folder: Path, child: Child, plan: Plan | None = None, force: bool = False) -> None:
    """A build from beginning to end."""
    workspace = Workspace(folder)
    plan = plan or planned("zoo_of_parts")
    done = list(build(plan, workspace, Building(run=child, force=force)))
    merge(plan, [one.result for one in done], workspace, whole=True)
    Journal(workspace, plan.library).clear(unit.name for unit in plan.units)


def _files(folder: Path) -> tuple[bytes, bytes]:
    return (folder / "module_db.json").read_bytes(), (folder / CATALOGUE_NAME).read_bytes()


def test_nothing_is_done_twice(zoo: Path, make_entry: Make) -> None:
    """A second build asks for nothing and changes nothing."""
    _built(zoo, Child(make_entry))
    before, again = _files(zoo), Child(make_entry)

    _built(zoo, again)

    assert [] == again.asked
    assert before == _files(zoo)


def test_only_what_changed_is_done_again(zoo: Path, make_entry: Make) -> None:
    """A package whose files stand in one folder is done again as a whole; a comment elsewhere is its too."""
    _built(zoo, Child(make_entry))
    (zoo / "zoo_of_parts" / "more").mkdir()
    (zoo / "zoo_of_parts" / "more" / "owl.py").write_text(MODULE.format("Owl"), encoding="utf-8")
    again = Child(make_entry)

    _built(zoo, again)

    assert ["zoo_of_parts.more.owl"] == again.asked


def test_an_interrupted_build_ends_as_if_it_had_not_been(zoo: Path, make_entry: Make) -> None:
    """Ended at any moment and resumed, the database and the catalogue are the same, byte for byte."""
    _built(zoo, Child(make_entry))
    whole = _files(zoo)
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
                _built(zoo, child, plan)
                ended = True
            except KeyboardInterrupt:
                half = Journal(Workspace(zoo), "zoo_of_parts").folder / "half.json"
                half.parent.mkdir(parents=True, exist_ok=True)
                half.write_text('{"unit": ', encoding="utf-8")  # it was being written when the power went
            asked += child.asked

        assert whole == _files(zoo)
        assert sorted(asked) == sorted(set(asked))


def test_a_second_build_is_refused(zoo: Path, make_entry: Make) -> None:
    """Two at once would both write what came of units: the second says so at once, and touches nothing."""
    child = Child(make_entry)
    first = Journal(Workspace(zoo), "zoo_of_parts")
    with first.alone(), pytest.raises(WorkspaceError, match="another process is at it"):
        _built(zoo, child)

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
            return Response(problem=problem, problem_kind="crash")
        return child(request, limits, worker)

    plan, workspace = planned("zoo_of_parts"), Workspace(zoo)
    done = list(build(plan, workspace, Building(run=sometimes)))
    merge(plan, [one.result for one in done], workspace, whole=True)
    [figures] = coverage(read_catalogue(workspace))

    assert (6, 5, 5) == (figures.found, figures.reached, figures.exact)
    assert ("crash", "at cat.py:5 in f") == (figures.reasons[0].kind, figures.reasons[0].place)


class Hurried(Child):
    """Proves all but the last class of a unit, for which time does not suffice."""

    def __call__(self, request: Request, limits: Limits, worker: str) -> Response:
        response = super().__call__(request, limits, worker)
        result = UnitResult.model_validate(response.diagnostics[UNIT])
        *proved, last = result.record.classes
        late = ClassResult(name=last.name, state="unproved", kind="timeout")
        record = result.record.model_copy(update={"classes": (*proved, late)})
        entries = {name: entry for name, entry in result.entries.items() if name != last.name}
        return Response(
            diagnostics={
                UNIT: result.model_copy(update={"record": record, "entries": entries}).model_dump(mode="json")
            }
        )


def test_classes_for_which_time_did_not_suffice_are_tried_again_alone(zoo: Path, make_entry: Make) -> None:
    """Those that are proved keep their results and are not asked for; a plain build leaves all as it is."""
    bee = zoo / "zoo_of_parts" / "bee.py"
    bee.write_text(MODULE.format("Bee") + MODULE.format("Wasp").partition("\n")[2], encoding="utf-8")
    plan, workspace = planned("zoo_of_parts", "*bee*"), Workspace(zoo)
    _built(zoo, Hurried(make_entry), plan)
    idle, again = Child(make_entry), Child(make_entry)
    _built(zoo, idle, plan)

    done = list(build(plan, workspace, Building(run=again, retry=frozenset({"timeout"}))))
    merge(plan, [one.result for one in done], workspace, whole=False)

    assert [] == idle.asked
    assert [["zoo_of_parts.bee.Wasp"]] == [sorted(one.result.entries) for one in done]
    classes = read_catalogue(workspace).libraries["zoo_of_parts"].units["zoo_of_parts.bee"].classes
    assert {"Bee": ("exact", "same"), "Wasp": ("exact", "same")} == {
        one.name.rpartition(".")[2]: (one.state, one.digest) for one in classes
    }


def test_a_kind_of_failure_that_there_is_not_is_refused(zoo: Path, make_entry: Make) -> None:
    """A misspelt kind would leave everything as it is, and nobody would know; what is there is told."""
    _built(zoo, Hurried(make_entry), plan := planned("zoo_of_parts", "*bee*"))

    with pytest.raises(UnknownKind, match=r"none fails as 'timeot'\n.*has: 'timeout' \(1\)"):
        list(build(plan, Workspace(zoo), Building(retry=frozenset({"timeot"}))))


def test_a_pattern_chooses_units_and_keeps_the_rest(zoo: Path, make_entry: Make) -> None:
    """What is known of other units stays in the catalogue."""
    _built(zoo, Child(make_entry))
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


def test_copies_share_the_first_entry(zoo: Path, make_entry: Make) -> None:
    """Classes of one code with the same formulas are one entry; the others lead to it."""
    _built(zoo, Child(make_entry))
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


def test_a_copy_keeps_its_formulas_when_its_holder_changes(zoo: Path, make_entry: Make) -> None:
    """An entry that led to one which now says something else gets what that said."""
    _built(zoo, Child(make_entry))
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


def test_lines_of_a_copy_are_those_of_its_own_code(make_entry: Make) -> None:
    """A copy that is freed has the lines of its class, which lies further below in its file."""
    holder = make_entry("Ant", full_class_name="a.Ant")
    there = holder.code_location
    here = {"line_start": there.line_start + 9, "line_end": there.line_end + 9}
    copy = copy_of(holder.model_copy(update={"code_location": there.model_copy(update=here)}), "a_Ant")

    alone = freed(copy, holder, "a_Ant")

    assert shape(alone) == shape(holder)
    for mine, theirs in zip(alone.regimes, holder.regimes, strict=True):
        assert [one.line + 9 for one in theirs.flop_analysis.lines] == [
            one.line for one in mine.flop_analysis.lines
        ]
        assert [one.line + 9 for one in theirs.memory_analysis.lines] == [
            one.line for one in mine.memory_analysis.lines
        ]


def test_a_copy_whose_lines_nobody_knows_loses_its_formulas(make_entry: Make) -> None:
    """Its code takes more lines than the holder's: where those that cost something are, no number says."""
    holder = make_entry("Ant", full_class_name="a.Ant")
    there = holder.code_location
    here = {"line_start": there.line_start + 9, "line_end": there.line_end + 11}
    copy = copy_of(holder.model_copy(update={"code_location": there.model_copy(update=here)}), "a_Ant")

    alone = freed(copy, holder, "a_Ant")

    assert () == alone.regimes and "those of a_Ant" in alone.validation.reason


def test_refuted_formulas_are_taken_back(zoo: Path, make_entry: Make) -> None:
    """A class that a later build refutes keeps its entry without formulas; those that led to it get them."""
    _built(zoo, Child(make_entry))
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
    _built(zoo, Child(make_entry))
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


def test_a_later_try_that_was_ended_does_not_unsay_that_a_class_was_called(
    zoo: Path, make_entry: Make
) -> None:
    """Tried again in a process that dies, a class stays one for which time did not suffice."""
    _built(zoo, Hurried(make_entry), plan := planned("zoo_of_parts", "*bee*"))
    workspace = Workspace(zoo)

    def dying(request: Request, limits: Limits, worker: str) -> Response:
        return Response(problem="building: killed", problem_kind="crash")

    done = list(build(plan, workspace, Building(run=dying, retry=frozenset({"timeout"}))))

    assert [("unproved", "timeout")] == [(c.state, c.kind) for one in done for c in one.result.record.classes]
