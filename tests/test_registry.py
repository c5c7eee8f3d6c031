"""The registry: names in, calculators out, and near names on a miss."""

import linecache
import pickle
import random
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from forwardbook import registry
from forwardbook.formula import Condition, FormulaError, parse
from forwardbook.generate import RenderError, regime_parameters, write
from forwardbook.registry import Registry, UnknownClassError, from_entry
from forwardbook.schema import QUANTITIES, Entry
from forwardbook.workspace import Workspace

ROOT = Path(__file__).resolve().parent.parent
Make = Callable[..., Entry]
SHIPPED = Workspace(ROOT)
DATABASE = SHIPPED.load()
RNG = random.Random(20261121)
COMMITTED = [
    key for key in DATABASE if (ROOT / "generated_modules" / DATABASE.head(key).generated_file_name).is_file()
]
"""Classes whose calculators are files; those of all others are rendered when they are asked for."""


@pytest.fixture
def workspace(tmp_path: Path, make_entry: Make, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A workspace of three classes, one of which shares the formulas of another, with nothing beneath."""
    monkeypatch.setattr("forwardbook.workspace.folder.shipped_path", lambda: None)
    found = Workspace(tmp_path)
    entries = {f"toy_{name}": make_entry(name) for name in ("ToyAttention", "ToyMLP")}
    found.save({**entries, "toy_Copy": make_entry("Copy", regimes=(), same_as="toy_ToyMLP")})
    return found


@pytest.mark.parametrize(
    "name", ["toy_ToyAttention", "ToyAttention", "toy.layers.ToyAttention", "ToyAttentionCalculator"]
)
def test_class_is_found_by_any_of_its_names(workspace: Workspace, name: str) -> None:
    """Key, class name, full class name and calculator name mean the same class."""
    assert "toy.layers.ToyAttention" == Registry(workspace).load(name).full_class_name


def test_names_are_the_keys(workspace: Workspace) -> None:
    """names() lists what load() takes."""
    assert ("toy_Copy", "toy_ToyAttention", "toy_ToyMLP") == registry.names(workspace)


def test_near_names_are_suggested(workspace: Workspace) -> None:
    """A name that is not in the database is answered with near ones."""
    with pytest.raises(UnknownClassError, match="did you mean ToyAttention"):
        registry.load("ToyAtention", workspace)


def test_ambiguous_name_lists_the_keys(workspace: Workspace, make_entry: Make) -> None:
    """A class name that two entries have is refused with their keys."""
    other = make_entry("ToyMLP").model_copy(update={"full_class_name": "toy.other.ToyMLP"})
    workspace.save({"toy_other_ToyMLP": other})

    with pytest.raises(UnknownClassError, match="use a key: toy_ToyMLP, toy_other_ToyMLP"):
        registry.load("ToyMLP", workspace)


def test_shared_formulas_are_followed(workspace: Workspace) -> None:
    """A class with the forward() of another is answered by the other's calculator."""
    assert "toy.layers.ToyMLP" == registry.load("Copy", workspace).full_class_name


def test_generated_file_is_preferred_to_rendering(workspace: Workspace, entry: Entry) -> None:
    """A generated file is loaded, and its calculator can be pickled."""
    write(entry, workspace.generated_folder)
    calculator = Registry(workspace).load("ToyAttention")

    module = sys.modules[type(calculator).__module__]
    assert str(workspace.generated_folder / entry.generated_file_name) == module.__file__
    assert type(calculator) is type(pickle.loads(pickle.dumps(calculator)))


@pytest.mark.parametrize(
    "text", [b"def", b"open('ran', 'w')", b"\xff\x00"], ids=["broken", "another", "binary"]
)
def test_file_that_is_not_what_its_entry_renders_to_is_not_run(
    workspace: Workspace, entry: Entry, text: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The entry is rendered in its place, and a warning names the file."""
    monkeypatch.chdir(tmp_path)
    workspace.generated_folder.mkdir()
    (workspace.generated_folder / entry.generated_file_name).write_bytes(text)

    with pytest.warns(registry.CalculatorIgnored, match="is not what the database says"):
        calculator = registry.load("ToyAttention", workspace)
    assert entry.full_class_name == calculator.full_class_name
    assert not (tmp_path / "ran").exists()


def test_edited_number_of_a_calculator_is_not_believed(
    workspace: Workspace, entry: Entry, sizes: dict[str, int]
) -> None:
    """The costs are those of the database, whatever the file in the folder of calculators says."""
    write(entry, workspace.generated_folder)
    path = workspace.generated_folder / entry.generated_file_name
    expected = from_entry(entry).costs_at(sizes, "prefill")
    path.write_text(path.read_text().replace("return batch_size * seq_len", "return 1000 * seq_len"))

    with pytest.warns(registry.CalculatorIgnored):
        found = registry.load("ToyAttention", workspace)
    assert expected == found.costs_at(sizes, "prefill")


def test_changed_database_is_read_again(workspace: Workspace, make_entry: Make) -> None:
    """An entry saved after the registry was made is found."""
    found = Registry(workspace)
    found.names()
    workspace.save({"toy_Late": make_entry("Late")})

    assert "toy.layers.Late" == found.load("Late").full_class_name


@pytest.mark.parametrize("key", RNG.sample(COMMITTED, min(300, len(COMMITTED))))
def test_shipped_calculator_equals_its_formulas(key: str) -> None:
    """Calculators of the shipped database load and give what their formulas give."""
    _, entry = DATABASE.resolved(key)
    for regime in entry.regimes:
        points = [dict(point.sizes) for point in regime.proof.points] if regime.proof else []
        points = [point for point in points if set(regime_parameters(regime)) <= set(point)]
        for sizes in points or [dict.fromkeys(regime_parameters(regime), 64)]:
            if not all(_holds(text, sizes) for text in regime.conditions):
                continue
            calculator = registry.load(key, SHIPPED)
            expected = [
                parse(regime.formula(quantity), exact=True).evaluate(sizes) for quantity in QUANTITIES
            ]
            costs = calculator.costs_at(sizes, regime.name)

            assert [getattr(costs, quantity) for quantity in QUANTITIES] == expected


def _holds(condition: str, sizes: dict[str, int]) -> bool:
    try:
        return Condition.parse(condition).holds(sizes)
    except FormulaError:
        return False


@pytest.mark.parametrize(
    "key", [key for key in RNG.sample(sorted(DATABASE), 36) if DATABASE.resolved(key)[1].regimes]
)
def test_what_is_rendered_on_demand_is_what_would_be_written(tmp_path: Path, key: str) -> None:
    """Byte for byte the file that `generate` writes, which for some classes is committed."""
    _, entry = DATABASE.resolved(key)
    calculator = from_entry(entry)
    rendered = "".join(linecache.getlines(f"<rendered from the entry of {entry.full_class_name}>"))
    write(entry, tmp_path)
    committed = ROOT / "generated_modules" / entry.generated_file_name

    assert (tmp_path / entry.generated_file_name).read_text(encoding="utf-8") == rendered
    assert not committed.is_file() or committed.read_text(encoding="utf-8") == rendered
    assert entry.generated_class_name == type(calculator).__name__


def test_committed_calculators_are_what_would_be_written(tmp_path: Path) -> None:
    """Every one of them: none is left as it was when its entry changed."""
    stale = []
    for key in COMMITTED:
        _, entry = DATABASE.resolved(key)
        write(entry, tmp_path)
        name = entry.generated_file_name
        written, committed = tmp_path / name, ROOT / "generated_modules" / name
        if written.read_text(encoding="utf-8") != committed.read_text(encoding="utf-8"):
            stale.append(name)

    assert [] == stale


def test_entry_without_formulas_says_why(workspace: Workspace, make_entry: Make) -> None:
    """Asked for the calculator of a class without formulas, the registry gives the entry's own reason."""
    without = make_entry("Without", regimes=())
    reason = without.validation.model_copy(update={"reason": "its loop has no known length"})
    workspace.save({"toy_Without": without.model_copy(update={"validation": reason})})

    with pytest.raises(RenderError, match=r"\(its loop has no known length\); .* forwardbook analyze-module"):
        registry.load("Without", workspace)
