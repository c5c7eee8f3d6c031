"""Classes that a build did not prove, tried again: alone, and never to say less than was known."""

from __future__ import annotations

from pathlib import Path

import pytest

from forwardbook.pipeline.catalogue.build import Building, UnknownKind, build
from forwardbook.pipeline.catalogue.merge import merge
from forwardbook.pipeline.catalogue.plan import planned
from forwardbook.pipeline.catalogue.record import UNIT, ClassResult, UnitResult, read_catalogue
from forwardbook.pipeline.child.job import Limits
from forwardbook.pipeline.child.request import Request, Response
from forwardbook.workspace import Workspace

from .zoo import MODULE, Child, Make, built, files


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
    built(zoo, Hurried(make_entry), plan)
    idle, again = Child(make_entry), Child(make_entry)
    built(zoo, idle, plan)

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
    built(zoo, Hurried(make_entry), plan := planned("zoo_of_parts", "*bee*"))

    with pytest.raises(UnknownKind, match=r"none fails as 'timeot'\n.*has: 'timeout' \(1\)"):
        list(build(plan, Workspace(zoo), Building(retry=frozenset({"timeot"}))))


def test_a_later_try_that_was_ended_does_not_unsay_that_a_class_was_called(
    zoo: Path, make_entry: Make
) -> None:
    """Tried again in a process that dies, a class stays one for which time did not suffice."""
    built(zoo, Hurried(make_entry), plan := planned("zoo_of_parts", "*bee*"))
    workspace = Workspace(zoo)

    def dying(request: Request, limits: Limits, worker: str) -> Response:
        return Response(problem="building: killed", problem_kind="crash")

    done = list(build(plan, workspace, Building(run=dying, retry=frozenset({"timeout"}))))

    assert [("unproved", "timeout")] == [(c.state, c.kind) for one in done for c in one.result.record.classes]


def test_a_forced_try_that_was_ended_does_not_unsay_a_proof(zoo: Path, make_entry: Make) -> None:
    """What is proved of the same source stays so where time did not suffice to prove it once more."""
    bee = zoo / "zoo_of_parts" / "bee.py"
    bee.write_text(MODULE.format("Bee") + MODULE.format("Wasp").partition("\n")[2], encoding="utf-8")
    plan = planned("zoo_of_parts", "*bee*")
    built(zoo, Child(make_entry), plan)
    before = files(zoo)

    built(zoo, Hurried(make_entry), plan, force=True)

    assert before == files(zoo)


def test_a_forced_try_that_was_ended_says_nothing_of_a_source_that_changed(
    zoo: Path, make_entry: Make
) -> None:
    """A proof of what the class was before is none of what it is now."""
    bee = zoo / "zoo_of_parts" / "bee.py"
    built(zoo, Child(make_entry), planned("zoo_of_parts", "*bee*"))
    bee.write_text(bee.read_text(encoding="utf-8") + "\n\nLEGS = 6\n", encoding="utf-8")

    how = Building(run=Hurried(make_entry), force=True)
    done = list(build(planned("zoo_of_parts", "*bee*"), Workspace(zoo), how))

    assert [("unproved", "timeout")] == [(c.state, c.kind) for one in done for c in one.result.record.classes]
