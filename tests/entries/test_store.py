"""Entries on disk come back equal, one family is read for one class, and hostile files are refused."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from forwardbook.entries.record import Entry
from forwardbook.workspace import DatabaseError, Workspace
from forwardbook.workspace.entry_store import FOLDER, INDEX, EntryStore, cost_model, family_of

from .examples import LINEAR, MLP, MODEL_SIZES, TOY


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the entries of the toy model."""
    EntryStore(tmp_path / FOLDER).save(TOY)
    return tmp_path / FOLDER


def test_entries_come_back_equal_in_a_file_for_each_family(folder: Path) -> None:
    assert TOY == dict(EntryStore(folder))
    assert [INDEX, "torch.nn.json", "transformers.toy.json"] == sorted(
        path.name for path in folder.glob("[!.]*")
    )
    assert {key: one.full_class_name for key, one in TOY.items()} == EntryStore(folder).names


def test_a_file_is_json_with_one_sorted_entry_a_line_and_no_defaults(folder: Path) -> None:
    text = (folder / "torch.nn.json").read_text()
    assert ['"torch_Linear"', '"torch_SiLU"'] == [row.partition(":")[0] for row in text.splitlines()[1:-1]]
    own = json.loads(text)["torch_SiLU"]["regimes"][0]["own"]
    assert {"pointwise_ops", "reads", "writes", "boundary", "states"} == own.keys()


def test_what_was_written_is_written_the_same_again(folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix == ".json"}
    EntryStore(folder).save(dict(reversed(TOY.items())))
    assert before == {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix == ".json"}


@pytest.mark.parametrize(
    ("name", "library", "family"),
    [
        ("transformers.models.llama.modeling_llama.LlamaMLP", "transformers", "transformers.llama"),
        ("transformers.activations.GELU", "transformers", "transformers.activations"),
        ("torch.nn.modules.linear.Linear", "torch", "torch.nn"),
        ("net.Net", "net", "net"),
        ("Größe .x y.Net", "Größe ", "gr__e_.x_y"),
        ("a.models.Net", "a", "a"),
    ],
)
def test_a_family_is_the_library_and_the_package_below(name: str, library: str, family: str) -> None:
    assert family == family_of(LINEAR.model_copy(update={"full_class_name": name, "library": library}))


def test_looking_one_class_up_reads_its_family_alone(folder: Path) -> None:
    (folder / "transformers.toy.json").write_bytes(b"x" * (folder / "transformers.toy.json").stat().st_size)
    store = EntryStore(folder)
    assert LINEAR == store["torch_Linear"]
    with pytest.raises(DatabaseError, match="cut off or in another form"):
        store["transformers_ToyMLP"]


def test_an_index_that_is_gone_or_old_is_made_from_the_files(folder: Path) -> None:
    index = (folder / INDEX).read_bytes()
    EntryStore(folder).save({}, remove=["torch_SiLU"])
    for content in (index, b"{", b'{"../x":{"bytes":1,"entries":{"k":"a.B"}}}'):
        (folder / INDEX).write_bytes(content)
        assert sorted(TOY.keys() - {"torch_SiLU"}) == list(EntryStore(folder))


def test_an_entry_that_moves_to_another_family_is_in_that_alone(folder: Path) -> None:
    EntryStore(folder).save({"torch_SiLU": MLP})
    assert MLP == EntryStore(folder)["torch_SiLU"]
    assert b"torch_SiLU" not in (folder / "torch.nn.json").read_bytes()
    EntryStore(folder).save({}, remove=list(TOY))
    assert {} == dict(EntryStore(folder)) and not list(folder.glob("*.json"))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"torch_SiLU":', '"torch_Linear":', "line 3 is the key of another entry"),
        ('"torch_SiLU":', '"../torch_SiLU":', "line 3 is no entry"),
        ('"torch_SiLU":', "<<<<<<< HEAD", "line 3 is no entry"),
        ("\n}\n", "", "cut off"),
        ('"line_start":1', '"line_start":0', "not what the record says"),
        ('"line_start":1', '"line_start":1,"run":"x"', "Extra inputs are not permitted"),
        ('"name":"elements"', '"name":"elements) or exit("', "not a name of the formula language"),
        ("torch/nn/modules/activation.py", "../../etc/passwd", "not a path below a folder"),
        ('{"engine":"1"', '{"engine":' + "[" * 100_000, "not what|no class name"),
    ],
)
def test_a_damaged_or_hostile_file_is_refused(folder: Path, old: str, new: str, said: str) -> None:
    path = folder / "torch.nn.json"
    first, _, second = path.read_text().rpartition('"torch_SiLU":')
    path.write_text(first + ('"torch_SiLU":' + second).replace(old, new))
    with pytest.raises(DatabaseError, match=said):
        EntryStore(folder)["torch_SiLU"]


def test_a_key_in_two_files_is_refused(folder: Path) -> None:
    (folder / "torch.other.json").write_bytes((folder / "torch.nn.json").read_bytes())
    with pytest.raises(DatabaseError, match="torch.nn.json and torch.other.json both hold it"):
        EntryStore(folder)


def test_files_that_are_no_families_are_passed_over(folder: Path) -> None:
    os.mkfifo(folder / "torch.pipe.json")
    (folder / "Some-Notes.json").write_text("{}")
    assert sorted(TOY) == list(EntryStore(folder))


def test_a_key_or_an_entry_that_could_not_be_read_again_is_not_written(folder: Path) -> None:
    for key, odd in (("../x", LINEAR), ("x", LINEAR.model_copy(update={"line_start": 0}))):
        with pytest.raises(DatabaseError):
            EntryStore(folder).save({key: odd})
    assert TOY == dict(EntryStore(folder))


def test_a_workspace_evaluates_its_entries(folder: Path) -> None:
    model = cost_model(Workspace(folder.parent.parent))
    assert model.evaluate("ToyModel", MODEL_SIZES).costs.flops > 0


def test_a_family_of_sixty_entries_is_read_within_a_tenth_of_a_second(folder: Path, a_second: float) -> None:
    many: dict[str, Entry] = {f"transformers_Toy{place}": MLP for place in range(60)}
    EntryStore(folder).save(many)
    begun = time.process_time()
    assert 66 == len(dict(EntryStore(folder)))
    assert time.process_time() - begun < a_second / 10
