"""A big database is split into families, file by file: the same entries, read when they are asked for."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from forwardbook.errors import ForwardbookError
from forwardbook.schema import Entry
from forwardbook.workspace import Workspace
from forwardbook.workspace.database_file import database_at, database_in
from forwardbook.workspace.families import FamilyTexts, family_of

Make = Callable[..., Entry]
ZOO = (
    "zoo.models.ant.modeling_ant.Ant",
    "zoo.models.ant.modeling_ant.AntLeg",
    "zoo.models.bee.modeling_bee.Bee",
)


@pytest.fixture
def big(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make_entry: Make) -> Workspace:
    """A workspace that counts as big, with a class of torch, an own one, and three of a package."""
    monkeypatch.setattr("forwardbook.workspace.saving.SPLIT_BYTES", 100)
    monkeypatch.setattr("forwardbook.workspace.folder.shipped_path", lambda: None)
    workspace = Workspace(tmp_path)
    workspace.save(entries(make_entry), rules_version="r")
    return workspace


def entries(make_entry: Make) -> dict[str, Entry]:
    names = {"torch_Linear": ("torch", "torch.nn.Linear", ""), "own_Net": ("own", "own.net.Net", "abc")}
    names |= {f"zoo_{name.rpartition('.')[2]}": ("zoo", name, "") for name in ZOO}
    return {
        key: make_entry(name.rpartition(".")[2]).model_copy(
            update={"library": library, "full_class_name": name, "code_hash": code}
        )
        for key, (library, name, code) in names.items()
    }


def files(workspace: Workspace) -> dict[str, bytes]:
    """Every file of the database."""
    found = [workspace.database_path, *(workspace.root / "module_db").glob("*")]
    return {path.name: path.read_bytes() for path in found}


@pytest.mark.parametrize(
    ("name", "library", "is_own", "family"),
    [
        (
            "transformers.models.llama.modeling_llama.LlamaMLP",
            "transformers",
            False,
            "transformers.models.llama",
        ),
        ("transformers.activations.GELUTanh", "transformers", False, "transformers.activations"),
        ("timm.models.vision_transformer.Block", "timm", False, "timm.models.vision_transformer"),
        ("torch.nn.modules.linear.Linear", "torch", False, ""),
        ("mine.layers.Net", "mine", True, ""),
        ("../../etc.Passwd", "evil", False, ""),
        ("", "", False, ""),
    ],
)
def test_a_family_is_a_folder_of_modules(name: str, library: str, is_own: bool, family: str) -> None:
    """Classes of a package share the file of their folder; torch's, own ones and odd names have none."""
    assert family == family_of(name, library, is_own)


def test_each_family_has_a_file(big: Workspace, make_entry: Make) -> None:
    """The main file keeps what has no family; every entry is read back equal, also by its class."""
    database = big.load()

    assert {"module_db.json", "zoo.models.ant.json", "zoo.models.bee.json"} == files(big).keys()
    assert entries(make_entry) == dict(database)
    assert "zoo_AntLeg" == database.key_of(ZOO[1])
    assert ["own_Net", "torch_Linear"] == sorted(json.loads(files(big)["module_db.json"])["entries"])


def test_looking_up_reads_one_family(big: Workspace) -> None:
    """Names are known from the index; the file of a family is opened when an entry of it is asked for."""
    database = big.load()
    texts = database.own.texts  # type: ignore[attr-defined]
    assert isinstance(texts, FamilyTexts)

    assert ZOO[2] == database.head("zoo_Bee").full_class_name
    assert not texts._recent
    assert ZOO[2] == database["zoo_Bee"].full_class_name
    assert ["zoo.models.bee"] == list(texts._recent)


def test_only_files_that_change_are_written(big: Workspace, make_entry: Make) -> None:
    """Another entry of one family leaves the other files as they are; what is taken out is out."""
    before = files(big)
    big.save({"zoo_Bee": entries(make_entry)["zoo_Bee"].model_copy(update={"source_hash": "other"})})
    after = files(big)
    big.save({}, remove=("zoo_Bee",))

    assert {"zoo.models.bee.json"} == {name for name in before if before[name] != after[name]} - {
        "module_db.json"
    }
    assert {"module_db.json", "zoo.models.ant.json"} == files(big).keys()
    assert "zoo_Bee" not in big.load()


def test_the_order_of_saving_is_not_in_the_files(big: Workspace, tmp_path: Path, make_entry: Make) -> None:
    """Entries put in one after the other, or all at once, are the same bytes."""
    (tmp_path / "other").mkdir()
    other = Workspace(tmp_path / "other")
    for key, entry in reversed(entries(make_entry).items()):
        other.save({key: entry}, rules_version="r")

    assert files(big) == files(other)


def test_a_database_of_one_file_is_split_when_it_grows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make_entry: Make
) -> None:
    """As long as it is small it stays one file; then it becomes what it would have been from the start."""
    monkeypatch.setattr("forwardbook.workspace.folder.shipped_path", lambda: None)
    workspace, every = Workspace(tmp_path), entries(make_entry)
    workspace.save({"zoo_Bee": every["zoo_Bee"]})
    assert {"module_db.json"} == files(workspace).keys()

    monkeypatch.setattr("forwardbook.workspace.saving.SPLIT_BYTES", 100)
    workspace.save({"zoo_Ant": every["zoo_Ant"]})

    assert {"module_db.json", "zoo.models.ant.json", "zoo.models.bee.json"} == files(workspace).keys()
    assert every["zoo_Bee"] == workspace.load()["zoo_Bee"]


def test_files_that_somebody_else_changed_are_looked_into(big: Workspace) -> None:
    """A family that was merged or added by hand is there though the index does not say so."""
    folder = big.root / "module_db"
    text = (folder / "zoo.models.bee.json").read_text(encoding="utf-8")
    (folder / "zoo.models.fly.json").write_text(
        text.replace("Bee", "Fly").replace("bee", "fly"), encoding="utf-8"
    )
    (folder / "zoo.models.bee.json").write_text(text.replace("zoo_Bee", "zoo_Bumblebee"), encoding="utf-8")

    database = big.load()

    assert {"zoo_Fly", "zoo_Bumblebee"} <= set(database)
    assert "zoo_Bee" not in database
    assert "zoo.models.fly.modeling_fly.Fly" == database["zoo_Fly"].full_class_name


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda path: path.unlink(), "No such file"),
        (lambda path: path.write_text(path.read_text()[:-40]), "stops being JSON"),
        (lambda path: path.write_text("<<<<<<< ours\n" + path.read_text()), "marks of a merge"),
    ],
)
def test_a_damaged_family_is_told(big: Workspace, change: Callable[[Path], object], said: str) -> None:
    """The message names its file; nothing is written over it."""
    path = big.root / "module_db" / "zoo.models.bee.json"
    change(path)

    with pytest.raises(ForwardbookError, match=said) as problem:
        big.load()["zoo_Bee"]
    assert "zoo.models.bee.json" in str(problem.value)


def test_an_index_leads_nowhere_else(big: Workspace) -> None:
    """A family whose name is a path is refused."""
    text = big.database_path.read_text(encoding="utf-8")
    big.database_path.write_text(text.replace('"zoo.models.bee": {', '"../../secret": {'), encoding="utf-8")
    (big.root / "module_db" / "zoo.models.bee.json").unlink()

    with pytest.raises(ForwardbookError, match="no name of a family"):
        big.load()["zoo_Bee"]


def test_a_revision_has_its_own_families(big: Workspace, make_entry: Make) -> None:
    """What a commit has is read from it, whatever the files are now."""
    for command in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "first")):
        git = ["git", "-C", str(big.root), "-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run([*git, *command], check=True)
    big.save({}, remove=("zoo_Bee", "own_Net"))
    head = subprocess.run(
        ["git", "-C", str(big.root), "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.strip()

    found = database_at(big.root, head, "module_db.json")

    assert found is not None
    assert entries(make_entry) == dict(found)
    assert len(found) == len(database_in(big.database_path)) + 2
