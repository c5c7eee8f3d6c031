"""Whole models: what was measured, what their formula gives, the sum over their tree: three accounts."""

from pathlib import Path

import pytest

from forwardbook.book.site.totals_page import totals_page
from forwardbook.pipeline.catalogue.copies import whole
from forwardbook.pipeline.catalogue.coverage import coverage
from forwardbook.pipeline.catalogue.plan import Plan
from forwardbook.pipeline.catalogue.record import Catalogue, LibraryRecord, ModelTotals, read_catalogue
from forwardbook.pipeline.catalogue.totals import keep
from forwardbook.pipeline.catalogue.totals_work import TOTALS, work
from forwardbook.pipeline.child.request import Request
from forwardbook.pipeline.site.coverage import site_totals
from forwardbook.schema import Entry
from forwardbook.workspace import Workspace

UNIT = "transformers.models.gpt2"
SHIPPED = Workspace(Path(__file__).resolve().parent.parent.parent).load()
NUMBERS = {"flops": 12, "pointwise_ops": 3, "reads": 4, "writes": 5}


def _entries() -> dict[str, Entry]:
    keys = [key for key in SHIPPED if SHIPPED.head(key).full_class_name.startswith(f"{UNIT}.")]
    return {key: whole(SHIPPED, key) for key in keys}


def _taken(
    entries: dict[str, Entry], kinds: dict[str, str] | None = None, same_as: str | None = None
) -> ModelTotals:
    told = {"same_as": same_as}
    stored = {key: entry.model_dump(mode="json") | told for key, entry in entries.items()}
    wanted = tuple(entry.full_class_name for entry in entries.values())
    request = Request(target=UNIT, wanted=wanted, budget=300, stored=stored, kinds=kinds or {})
    told = work(request).diagnostics[TOTALS]
    return ModelTotals.model_validate(told["gpt2"])  # type: ignore[index,call-overload]


@pytest.fixture(scope="module")
def taken() -> ModelTotals:
    """The totals of GPT-2 from the shipped entries."""
    return _taken(_entries())


def test_three_accounts_of_a_model_are_the_same(taken: ModelTotals) -> None:
    """Every call that an entry speaks of is as it says, and so is the whole."""
    assert taken.agrees
    assert taken.calls == taken.equal > 4
    assert "transformers.models.gpt2" == taken.unit


def test_what_was_derived_in_a_model_of_another_type_is_not_held_against_this_one() -> None:
    """Its names are fields of another config; the calls are as measured, and no entry speaks of them."""
    entries = _entries()
    other = _taken(entries, dict.fromkeys((one.full_class_name for one in entries.values()), "another"))

    assert 0 == other.calls
    assert {} == other.formula
    assert other.measured == other.tree


def test_lines_of_a_copy_are_those_of_the_class_that_it_leads_to(taken: ModelTotals) -> None:
    """They stand elsewhere in the file of that one; what each costs is the same, in order."""
    entries = {key: _further(entry) for key, entry in _entries().items()}

    assert taken.equal == _taken(entries, same_as="transformers_Other").equal
    assert taken.equal > _taken(entries).equal


def _further(entry: Entry) -> Entry:
    regimes = tuple(
        one.model_copy(
            update={
                name: getattr(one, name).model_copy(
                    update={
                        "lines": tuple(
                            line.model_copy(update={"line": line.line + 9})
                            for line in getattr(one, name).lines
                        )
                    }
                )
                for name in ("flop_analysis", "memory_analysis")
            }
        )
        for one in entry.regimes
    )
    return entry.model_copy(update={"regimes": regimes})


def test_a_wrong_formula_of_a_part_is_in_the_sum(taken: ModelTotals) -> None:
    """One operation too many in an inner class: its calls differ, and the sum over the tree does."""
    entries = _entries()
    entry = entries["transformers_GPT2MLP"]
    regimes = tuple(
        one.model_copy(
            update={
                "flop_analysis": one.flop_analysis.model_copy(
                    update={"pointwise_ops": f"{one.flop_analysis.pointwise_ops} + 1"}
                )
            }
        )
        for one in entry.regimes
    )
    entries["transformers_GPT2MLP"] = entry.model_copy(update={"regimes": regimes})

    found = _taken(entries)
    layers = taken.sizes["n_layer"] if "n_layer" in taken.sizes else found.tree["pointwise_ops"]

    assert not found.agrees
    assert found.measured == found.formula == taken.measured
    assert 0 < found.tree["pointwise_ops"] - taken.tree["pointwise_ops"] <= layers
    assert (entry.full_class_name,) == found.unequal


def test_totals_are_kept_beside_units(tmp_path: Path) -> None:
    """Those of units that were looked at again are replaced, others stay; alone they are no coverage."""
    workspace = Workspace(tmp_path)
    one = ModelTotals(unit="a.b", model="M", measured=NUMBERS)
    keep(Plan("a", "1", "", ()), {"m": one}, workspace)
    keep(Plan("a", "1", "", ()), {"n": one}, workspace)

    assert {"m", "n"} == read_catalogue(workspace).libraries["a"].totals.keys()
    assert [] == coverage(read_catalogue(workspace))


def test_the_page_has_every_account() -> None:
    """A row says in words which account differs; a model that did not run is listed with the reason."""
    good = ModelTotals(unit="u", model="M", calls=2, equal=2, measured=NUMBERS, formula=NUMBERS, tree=NUMBERS)
    wrong = good.model_copy(update={"tree": {**NUMBERS, "flops": 13}})
    refused = ModelTotals(unit="u", model="R", problem="TypeError: it is blue")
    rows = {"good": good, "wrong": wrong, "refused": refused}

    page = totals_page(site_totals(Catalogue(libraries={"lib": LibraryRecord(totals=rows)}))).markdown()

    assert "Of 3 model types 2 ran; in 1 all accounts agree" in page
    assert "| good | `M` | 2 of 2 | 12 | 3 | 4 | 5 | equal | equal |" in page
    assert "FLOPs 13" in page
    assert "it is blue" in page


@pytest.mark.parametrize(
    ("change", "agrees"),
    [
        ({}, True),
        ({"formula": {}}, True),
        ({"calls": 0, "equal": 0}, False),
        ({"equal": 1}, False),
        ({"formula": {**NUMBERS, "reads": 1}}, False),
        ({"tree": {**NUMBERS, "reads": 1}}, False),
        ({"measured": {}, "formula": {}, "tree": {}}, False),
    ],
)
def test_accounts_agree_only_where_formulas_speak(change: dict[str, object], agrees: bool) -> None:
    """A run of which no entry speaks proves nothing; a model without a formula of its own may be summed."""
    good = ModelTotals(unit="u", model="M", calls=2, equal=2, measured=NUMBERS, formula=NUMBERS, tree=NUMBERS)

    one = good.model_copy(update=change)
    [row] = site_totals(Catalogue(libraries={"lib": LibraryRecord(totals={"m": one})}))["lib"]

    assert agrees == one.agrees == row.agrees
