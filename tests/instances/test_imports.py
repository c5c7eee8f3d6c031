"""Importing classes of packages that are not whole."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from forwardbook.analyzers.instances.imports import import_class, imported
from forwardbook.analyzers.instances.recipe import NoRecipe
from forwardbook.errors import in_full

MODULE = """
from torch import nn
import {needs}


class {name}(nn.Module):
    def forward(self, x):
        return x
"""


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package of two modules whose `__init__` imports both; one needs something that nobody has."""
    name = f"package_{tmp_path.name.replace('-', '_')}"
    package = tmp_path / name
    package.mkdir()
    (package / "__init__.py").write_text("from .whole import Whole\nfrom .half import Half\n")
    (package / "whole.py").write_text(MODULE.format(needs="math", name="Whole"))
    (package / "half.py").write_text(MODULE.format(needs="nobody_has_this", name="Half"))
    monkeypatch.syspath_prepend(tmp_path)
    return name


def test_a_module_is_had_though_its_package_is_not_whole(broken: str) -> None:
    """What another module of the package lacks keeps no class of this one away."""
    assert "Whole" == import_class(f"{broken}.whole.Whole").__name__


def test_what_is_missing_is_told(broken: str) -> None:
    """The module that needs it is not had, and the message names what it needs."""
    import_class(f"{broken}.whole.Whole")

    with pytest.raises(NoRecipe) as caught:
        import_class(f"{broken}.half.Half")

    assert "nobody_has_this" in in_full(caught.value, 2000)


def test_a_package_that_is_not_there_is_told() -> None:
    """Its name is in the message."""
    with pytest.raises(NoRecipe) as caught:
        import_class("nobody_has_this.module.Class")

    assert "nobody_has_this" in in_full(caught.value, 2000)


def test_a_class_of_a_branch_that_does_not_run_is_not_the_one_that_its_name_is_bound_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`else: Norm = nn.LayerNorm` runs here: its costs are not told as those of the file's Norm."""
    name = f"module_{tmp_path.name.replace('-', '_')}"
    defined = "if False:\n    class Norm(nn.Module):\n        pass\n"
    (tmp_path / f"{name}.py").write_text(f"from torch import nn\n{defined}else:\n    Norm = nn.LayerNorm\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(NoRecipe, match=r"binds it to torch\.nn\.modules\.normalization\.LayerNorm here"):
        import_class(f"{name}.Norm")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the user's, not on the path."""
    monkeypatch.setattr("sys.path", [*sys.path])
    monkeypatch.setattr("forwardbook.analyzers.instances.imports._OWN", {})
    return tmp_path


@pytest.mark.parametrize("name", ["random", "types", "queue", "time", "atexit", "sympy", "this"])
def test_a_file_may_have_the_name_of_another_module(name: str, root: Path) -> None:
    """Its class is had, and whoever imports the name still gets the other module."""
    (root / f"{name}.py").write_text(MODULE.format(needs=name, name="Own") + f"    other = {name}\n")
    before = importlib.import_module(name) if name != "this" else None
    found = import_class(f"{name}.Own", root)

    assert (name, str(root / f"{name}.py")) == (found.__module__, imported(name).__file__)  # type: ignore[union-attr]
    assert found is import_class(f"{name}.Own", root)
    if before is not None:
        assert before is sys.modules[name] is importlib.import_module(name) is found.other  # type: ignore[attr-defined]


def test_a_folder_that_another_module_hides_is_told(root: Path) -> None:
    """The message names the folder and the module that is imported in its place."""
    (root / "random").mkdir()
    (root / "random" / "__init__.py").touch()
    (root / "random" / "layers.py").write_text(MODULE.format(needs="math", name="Own"))

    with pytest.raises(NoRecipe, match="the folder random is hidden by another module .*random.py"):
        import_class("random.layers.Own", root)
