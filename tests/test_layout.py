"""The checkout's links: each room at the root is a subpackage of forwardbook."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DATA = ("catalogue.json", "module_db", "module_db.json")
LINKS = ("agents", "analyzers", "generated_modules", *DATA, "profiling", "prompts")
OTHERWISE = {"model_files": "models"}  # forwardbook.models is a room of its own
ROOMS = tuple(name for name in LINKS if name not in DATA)


@pytest.mark.parametrize("name", [*LINKS, *OTHERWISE])
def test_link_resolves_to_its_root_folder(name: str) -> None:
    """Each link in src/forwardbook resolves to its entry at the root."""
    link = ROOT / "src" / "forwardbook" / name
    expected = ROOT / OTHERWISE.get(name, name)

    assert expected == link.resolve(), f"{link} is no link: git clone -c core.symlinks=true"


def test_no_other_links() -> None:
    """The links in src/forwardbook are exactly the rooms, the models, the catalogue and the database."""
    found = sorted(path.name for path in (ROOT / "src" / "forwardbook").iterdir() if path.is_symlink())

    assert sorted([*LINKS, *OTHERWISE]) == found


@pytest.mark.parametrize("room", ROOMS)
def test_room_says_its_job(room: str) -> None:
    """The first line of each room's __init__.py is a docstring of one sentence."""
    first = (ROOT / room / "__init__.py").read_text(encoding="utf-8").splitlines()[0]

    assert first.startswith('"""')
    assert first.rstrip('"').endswith(".")


def test_root_is_not_on_the_path() -> None:
    """The checkout's root is not importable, so profiling/ cannot hide a module of the standard library."""
    assert ROOT not in [Path(entry).resolve() for entry in sys.path]
