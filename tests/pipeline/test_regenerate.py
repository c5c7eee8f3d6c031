"""Regeneration: what is stale and why, what became of it, and whom a model is asked about."""

import json
from collections.abc import Callable, Mapping

import pytest

from forwardbook.analyzers.ops import RULES_VERSION
from forwardbook.analyzers.reader import ModuleClass
from forwardbook.errors import ForwardbookError
from forwardbook.guard.regenerated import summary
from forwardbook.pipeline.analysis.one import dated
from forwardbook.pipeline.catalogue.build import Done
from forwardbook.pipeline.catalogue.plan import Plan, Unit
from forwardbook.pipeline.catalogue.record import (
    Catalogue,
    ClassResult,
    LibraryRecord,
    UnitRecord,
    UnitResult,
    write_catalogue,
)
from forwardbook.pipeline.catalogue.share import copy_of
from forwardbook.pipeline.regenerate.asked_again import subject_of
from forwardbook.pipeline.regenerate.derive import Outcome, Task
from forwardbook.pipeline.regenerate.run import Wanted, regenerate, reports, stale
from forwardbook.pipeline.store import store_all
from forwardbook.schema import Entry, Proposal
from forwardbook.workspace import Workspace

from .toys import Toys, derived, refused, touch


def test_nothing_is_stale_at_first(toys: Toys) -> None:
    """Fresh entries are left alone: nothing is derived, no report is made."""
    found = regenerate(toys(3), Wanted(), work=refused)

    assert ((), 3) == (found.rows, found.fresh)


@pytest.mark.parametrize(
    ("update", "reason"),
    [
        ({"versions": {"torch": "2.0.0"}}, "torch 2.0.0 -> "),
        ({"versions": {"rules": "0"}}, "rules 0 -> "),
        ({"source_hash": "1" * 64}, "its forward() or what that calls changed"),
        ({"code_hash": "1" * 64}, "code that it is built from changed"),
        ({"code_hash": ""}, "it was stored before the code that it is built from was hashed"),
        ({"full_class_name": "toy.layers.Gone"}, "defines no class Gone"),
    ],
)
def test_each_reason_is_told(toys: Toys, update: dict[str, object], reason: str) -> None:
    """Versions of libraries and rules, the source, what it is built from, and classes that are gone."""
    place = toys(2)
    entry = place.load()["toy_Toy00"].model_copy(update=update)
    place.save({"toy_Toy00": entry})
    [found] = stale(place, Wanted())

    assert reason in "; ".join(found.reasons)


def test_an_entry_that_a_model_proposed_waits_for_one(toys: Toys) -> None:
    """Another prompt alone makes nothing stale unless somebody is asked; it is told."""
    place = toys(1)
    proposal = Proposal(model="m", prompt_version="old")
    place.save({"toy_Toy00": place.load()["toy_Toy00"].model_copy(update={"proposal": proposal})})
    found = regenerate(place, Wanted(), work=refused)

    assert not stale(place, Wanted())
    assert "1 entries wait for a model" in found.notes[0]


def test_only_what_is_stale_is_derived_and_reported(toys: Toys) -> None:
    """Of three classes the one whose body changed is derived; its formulas turn out to be the same."""
    place = toys(3)
    touch(place, "return x + self.width\n\nclass Toy01", "return self.width + x\n\nclass Toy01")
    done: list[str] = []

    def work(task: Task) -> Outcome:
        done.append(task.key)
        return derived(task)

    found = regenerate(place, Wanted(), work=work)
    paths = reports(found, [], place.root)

    assert ["toy_Toy00"] == done
    assert "1 entries were stale: 1 same; 2 were fresh" == summary(found)
    assert "1 entries were stale" in paths[0].read_text()
    assert "same" == json.loads(paths[1].read_text())["entries"][0]["state"]
    assert not stale(place, Wanted())


def test_lost_gone_and_new_verdicts(toys: Toys) -> None:
    """A class that cannot be derived keeps its entry; one that is gone is removed only if asked."""
    place = toys(3)
    entry = place.load()["toy_Toy00"]
    place.save({"toy_Toy00": entry.model_copy(update={"full_class_name": "toy.layers.Gone"})})
    touch(place)

    def work(task: Task) -> Outcome:
        if task.key == "toy_Toy02":
            return derived(task)
        kind = "gone" if task.key == "toy_Toy00" else "constructor"
        return Outcome(
            key=task.key, full_class_name=task.full_class_name, problem="why not", problem_kind=kind
        )

    found = regenerate(place, Wanted(), work=work)
    assert ["lost", "lost", "same"] == [row.state for row in found.rows]
    assert 3 == len(place.load().own)
    found = regenerate(place, Wanted(drop_gone=True), work=work)
    assert [True, False] == [row.is_removed for row in found.rows]
    assert ["toy_Toy01", "toy_Toy02"] == sorted(place.load().own)


def test_an_edited_calculator_is_left_and_told(toys: Toys) -> None:
    """One calculator edited by hand keeps its entry from being stored; the others are stored all the same."""
    place = toys(3)
    path = place.generated_folder / place.load()["toy_Toy01"].generated_file_name
    path.write_text(path.read_text() + "# mine\n")
    touch(place)
    found = regenerate(place, Wanted(), work=derived)

    assert ["same", "lost", "same"] == [row.state for row in found.rows]
    assert "edited by hand" in found.rows[1].problem
    assert path.read_text().endswith("# mine\n")
    assert ["toy_Toy01"] == [one.key for one in stale(place, Wanted())]


def test_the_catalogue_is_reached_its_own_way(toys: Toys, monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries of a catalogue are worked on by unit: one proved again, one not, one gone; the others alone."""
    place = toys(4)
    touch(place)
    names = [f"toy.layers.Toy{number:02}" for number in range(3)]
    room = "forwardbook.pipeline.regenerate.catalogue"
    classes = tuple(ClassResult(name=name, state="exact") for name in names)
    record = UnitRecord(stamp="old", classes=classes)
    write_catalogue(Catalogue(libraries={"toy": LibraryRecord(units={"toy.layers": record})}), place)
    layers = place.root / "toy" / "layers.py"
    known = tuple(ModuleClass("toy.layers", name[-5:], layers, 1, True) for name in names[:2])
    plan = Plan("toy", "", "", (Unit("toy.layers", "toy", known, "new"),))
    open_ = ClassResult(name=names[1], state="unproved", kind="forward", reason="it raised")
    result = UnitResult(
        unit="toy.layers", library="toy", record=UnitRecord(stamp="new", classes=(classes[0], open_))
    )

    def merge(plan: Plan, results: object, place: Workspace, whole: bool) -> None:
        entry = place.load()["toy_Toy00"]
        store_all([dated(entry, subject_of(entry, place.root), None)], place, RULES_VERSION)

    monkeypatch.setattr(f"{room}.planned", lambda library: plan)
    monkeypatch.setattr(f"{room}.build", lambda plan, place, how: [Done(result, False)])
    monkeypatch.setattr(f"{room}.merge", merge)
    done: list[str] = []

    def work(task: Task) -> Outcome:
        done.append(task.key)
        return derived(task)

    found = regenerate(place, Wanted(), work=work)

    assert ["toy_Toy03"] == done
    assert ["same", "lost", "lost", "same"] == [row.state for row in found.rows]
    assert ["", "forward: it raised", "toy has no such class any more", ""] == [r.problem for r in found.rows]


def test_copies_stay_copies(toys: Toys) -> None:
    """Where only a version changed, an entry that led to another's formulas leads there again afterwards."""
    place = toys(2)
    database = place.load()
    old = {key: database[key].model_copy(update={"versions": {"torch": "2.0.0"}}) for key in database.own}
    place.save({**old, "toy_Toy01": copy_of(old["toy_Toy01"], "toy_Toy00")})
    place.generated_folder.joinpath(old["toy_Toy01"].generated_file_name).unlink()
    found = regenerate(place, Wanted(), work=derived_whole(old))

    assert ["same", "same"] == [row.state for row in found.rows]
    assert "toy_Toy00" == place.load()["toy_Toy01"].same_as
    assert [] == [*place.generated_folder.glob("*toy01*")]
    assert not stale(place, Wanted())


def test_a_copy_keeps_its_formulas_when_the_other_changes(toys: Toys) -> None:
    """Whoever leads to an entry which is stored with other formulas gets those that it had."""
    place = toys(2)
    entry, copy = (place.load()[key] for key in ("toy_Toy00", "toy_Toy01"))
    place.save({"toy_Toy01": copy_of(copy, "toy_Toy00")})
    store_all([entry.model_copy(update={"regimes": entry.regimes[:1]})], place, RULES_VERSION)
    kept = place.load()["toy_Toy01"]

    assert kept.same_as is None
    assert entry.regimes == kept.regimes
    assert (place.generated_folder / kept.generated_file_name).is_file()


def derived_whole(entries: Mapping[str, Entry]) -> Callable[[Task], Outcome]:
    """The work that gives each entry as it was, with its formulas, dated anew."""

    def work(task: Task) -> Outcome:
        was = entries[task.key]
        fields = {"regimes": was.regimes, "parameters": was.parameters, "unresolved": was.unresolved}
        return derived(task, same_as=None, **fields)

    return work


class Asked:
    """Stands for whoever is asked: a ledger with one line."""

    class ledger:  # noqa: N801 - an attribute of what it stands for
        """What was spent."""

        report = staticmethod(lambda: ["module_analyst: $0.12"])


def test_a_model_is_asked_about_what_is_open(toys: Toys, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stale entries that the engines leave open are asked about with what was given; failures are told."""
    place = toys(2)
    touch(place)
    asked: list[tuple[str, object, object]] = []

    def analyze(typed: str, options: object, **given: object) -> None:
        asked.append((typed.rpartition(":")[2], given["chosen"], given["force"]))
        if typed.endswith("Toy01"):
            raise ForwardbookError("it did not hold\n  more")

    monkeypatch.setattr("forwardbook.pipeline.regenerate.ask.analyze", analyze)
    chosen = Asked()
    found = regenerate(place, Wanted(chosen=chosen), work=derived)  # type: ignore[arg-type]

    assert [("Toy00", chosen, False), ("Toy01", chosen, False)] == asked
    assert "asked in vain about toy.layers.Toy01: it did not hold" in found.notes
    assert "spent: module_analyst: $0.12" in found.notes


def test_another_prompt_is_asked_again(toys: Toys, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry whose prompt changed is measured as it is, and asked about anew."""
    place = toys(1)
    proposal = Proposal(model="m", prompt_version="old")
    entry = place.load()["toy_Toy00"].model_copy(update={"proposal": proposal, "derived_by": ("agent",)})
    place.save({"toy_Toy00": entry})
    forced: list[object] = []
    monkeypatch.setattr(
        "forwardbook.pipeline.regenerate.ask.analyze", lambda *a, **given: forced.append(given["force"])
    )
    regenerate(place, Wanted(chosen=Asked()), work=derived)  # type: ignore[arg-type]

    assert [True] == forced
