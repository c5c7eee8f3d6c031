"""The hash of one's own code that a class is made of: what changes it, and what does not."""

from pathlib import Path

import pytest

from forwardbook.analyzers.reader import code_hash

LAYERS = """\
from torch import nn
from .sizes import RATIO, act
from . import sizes as numbers
import pack.other


class MLP(nn.Module):
    def __init__(self, width):
        self.up = nn.Linear(width, RATIO * width)

    def forward(self, x):
        return act(self.up(x))


class Base(nn.Module):
    pass


class Block(Base):
    \"\"\"One block.\"\"\"

    def __init__(self, width):
        # the inner layer
        self.mlp = MLP(width)
        self.groups = numbers.GROUPS

    def forward(self, x):
        return self.mlp(x)


class Apart(nn.Module):
    pass
"""
SIZES = "RATIO = 4\nGROUPS = 2\nUNUSED = 7\n\n\ndef act(x):\n    return x\n"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package of two modules, one of which nothing uses but an import."""
    files = {"__init__.py": "", "layers.py": LAYERS, "sizes.py": SIZES, "other.py": "NAME = 1\n"}
    (tmp_path / "pack").mkdir()
    for name, text in files.items():
        (tmp_path / "pack" / name).write_text(text)
    return tmp_path


def block(package: Path) -> str:
    """The hash of the class Block."""
    return code_hash("Block", package / "pack" / "layers.py", package)


CHANGES = [
    ("layers.py", "self.mlp = MLP(width)", "self.mlp = MLP(2 * width)"),  # its constructor
    ("layers.py", "nn.Linear(width, RATIO * width)", "nn.Linear(width, width)"),  # that of a submodule
    ("layers.py", "class Base(nn.Module):\n    pass", "class Base(nn.Module):\n    width = 3"),  # a base
    ("layers.py", "from .sizes import RATIO, act", "from .sizes import UNUSED as RATIO, act"),
    ("sizes.py", "RATIO = 4", "RATIO = 5"),  # a constant of another module
    ("sizes.py", "return x", "return x + 1"),  # a function of another module
    ("sizes.py", "GROUPS = 2", "GROUPS = 3"),  # read through the module
    ("sizes.py", "GROUPS = 2", "GROUPS = 2\nGROUPS += 1"),  # changed on the side
    ("other.py", "NAME = 1", "print('imported')"),  # run by an import
    ("__init__.py", "", "import torch\ntorch.set_default_dtype(torch.float64)\n"),
    ("sizes.py", "RATIO = 4", "RATIO = 4 4"),  # no longer Python
]
SAME = [
    ("layers.py", "# the inner layer", "# another comment"),
    ("layers.py", '"""One block."""', '"""Another text."""'),
    ("layers.py", "class Apart(nn.Module):\n    pass", "class Apart(nn.Module):\n    width = 1"),
    ("layers.py", "\n\n\nclass MLP", "\n\n\n\n\nclass MLP"),
    ("sizes.py", "UNUSED = 7", "UNUSED = 8"),
    ("other.py", "NAME = 1", "NAME = 2"),
]


@pytest.mark.parametrize(("file", "old", "new"), CHANGES)
def test_what_a_class_is_made_of_changes_its_hash(package: Path, file: str, old: str, new: str) -> None:
    """Constructors, submodules, bases, constants, helpers and side effects of imports all count."""
    before = block(package)
    path = package / "pack" / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1) if old else new)

    assert before != block(package)


@pytest.mark.parametrize(("file", "old", "new"), SAME)
def test_what_it_does_not_reach_leaves_its_hash(package: Path, file: str, old: str, new: str) -> None:
    """Comments, docstrings, layout, other classes and unused names do not count."""
    before = block(package)
    path = package / "pack" / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))

    assert before == block(package)


def test_the_place_of_the_folder_does_not_count(
    package: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The same files elsewhere give the same hash, so that a committed database holds in every checkout."""
    there = tmp_path_factory.mktemp("elsewhere") / "copy"
    before = block(package)
    package.rename(there)

    assert before == block(there)
