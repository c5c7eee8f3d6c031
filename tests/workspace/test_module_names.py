"""Files get the dotted names by which Python imports them."""

from __future__ import annotations

from pathlib import Path

import pytest

from forwardbook.workspace.module_names import ModuleNames
from forwardbook.workspace.source_tree import source_tree

LAYOUTS = {
    "flat": {"pkg/__init__.py": "pkg", "pkg/a.py": "pkg.a", "pkg/sub/__init__.py": "pkg.sub"},
    "src": {"pyproject.toml": "", "src/pkg/__init__.py": "pkg", "src/pkg/a.py": "pkg.a"},
    "scripts": {"pyproject.toml": "", "tools/a.py": "tools.a", "src/b.py": "b"},
    "several projects": {"one/setup.py": "setup", "one/pkg/__init__.py": "pkg", "one/run.py": "run"},
    "folder without init": {"pkg/__init__.py": "pkg", "pkg/data/a.py": "pkg.data.a"},
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layout(tmp_path: Path, name: str) -> None:
    """Names begin at the outermost package, or at the folder with the project file (or its `src`)."""
    expected = {path: module for path, module in LAYOUTS[name].items() if module}
    for path in LAYOUTS[name]:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    names = ModuleNames(source_tree(tmp_path))
    assert expected == {path: names.of(path) for path in expected}


def test_root_within_a_package(tmp_path: Path) -> None:
    """A root that is itself a package deep within another keeps the names that its imports count on."""
    for path in ("top/__init__.py", "top/mid/__init__.py", "top/mid/low/__init__.py", "top/mid/low/a.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    names = ModuleNames(source_tree(tmp_path / "top/mid"))
    assert ("top.mid.low.a", "top.mid") == (names.of("low/a.py"), names.of("__init__.py"))


def test_only_some_folders(tmp_path: Path) -> None:
    """The names do not depend on whether the folders above were looked into."""
    for path in ("pyproject.toml", "src/pkg/__init__.py", "src/pkg/sub/__init__.py", "src/pkg/sub/a.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    tree = source_tree(tmp_path, ["src/pkg/sub"])
    assert "pkg.sub.a" == ModuleNames(tree).of("src/pkg/sub/a.py")


def test_this_repository() -> None:
    """A folder that a package holds as a link is named through the link: this very project."""
    root = Path(__file__).parents[2]
    names = ModuleNames(source_tree(root))
    assert "forwardbook.analyzers.index.facts" == names.of("analyzers/index/facts.py")
    assert "forwardbook.workspace.source_tree" == names.of("src/forwardbook/workspace/source_tree.py")
