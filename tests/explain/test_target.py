"""What paths mean: the root, the kind of target, and the names of pages."""

from __future__ import annotations

from pathlib import Path

from geometry import write_files
from hypothesis import given
from hypothesis import strategies as st

from forwardbook.pipeline.explain.target import find_target, page_names


def _target(*paths: Path, repository: bool = False, root: Path | None = None) -> tuple[str, Path, list[str]]:
    found = find_target(paths, root=root, repository=repository, feature="")
    return found.kind, found.root, list(found.paths)


def test_root_is_the_nearest_project(package: Path) -> None:
    """A file's root is the folder with the project file above it."""
    shapes = package / "geometry" / "shapes.py"

    assert ("file", package, ["geometry/shapes.py"]) == _target(shapes)
    assert ("folder", package, ["geometry"]) == _target(package / "geometry")
    assert ("repository", package, ["."]) == _target(package)
    assert ("repository", package / "geometry", ["."]) == _target(package / "geometry", repository=True)


def test_root_of_an_installed_package_is_the_package(tmp_path: Path) -> None:
    """Among installed packages the outermost one is the root, not the project around the environment."""
    inner = "env/lib/site-packages/pack/inner/a.py"
    files = {
        "pyproject.toml": "",
        inner: "x = 1\n",
        "env/lib/site-packages/pack/__init__.py": "",
        "env/lib/site-packages/pack/inner/__init__.py": "",
    }
    write_files(tmp_path, files)

    found = find_target((tmp_path / inner,), root=None, repository=False, feature="")
    assert ("inner/a.py",) == found.paths
    assert tmp_path / "env/lib/site-packages/pack" == found.root


def test_loose_file_reads_its_own_folder_alone(tmp_path: Path) -> None:
    """A file in no project and no package does not have everything below its folder read."""
    write_files(tmp_path, {"a.py": "", "deep/b.py": ""})
    found = find_target((tmp_path / "a.py",), root=None, repository=False, feature="")

    assert frozenset({""}) == found.folders


def test_more_than_thirty_files_make_a_repository(tmp_path: Path) -> None:
    """A folder without a project file is a repository from 31 source files on."""
    write_files(tmp_path, {f"part/f{number}.py": "" for number in range(30)})
    assert "folder" == _target(tmp_path / "part")[0]
    write_files(tmp_path, {"part/more/f.cu": ""})
    assert "repository" == _target(tmp_path / "part")[0]


def test_names_of_pages() -> None:
    """A page is named by its file; where names agree the folder comes before, then the ending behind."""
    paths = ("a/trt_CNclip_min.py", "a/utils.py", "b/utils.py", "x.py", "x.cu", "a/__init__.py")

    assert ["trt-cnclip-min", "a-utils", "b-utils", "x-py", "x-cu", "a-init"] == [
        page_names(paths)[path] for path in paths
    ]


def test_names_that_are_there_stay() -> None:
    """A page that is there keeps its name, and another file's page does not take it."""
    assert {"b/utils.py": "b-utils"} == page_names(("b/utils.py",), {"utils": "a/utils.py"})
    assert {"a/utils.py": "utils"} == page_names(("a/utils.py",), {"utils": "a/utils.py"})


_NAME = st.text(alphabet="ab_-.A é", min_size=1, max_size=6)
_PATH = st.lists(_NAME, min_size=1, max_size=3).map("/".join)


@given(st.lists(_PATH, unique=True, max_size=12))
def test_every_page_has_a_name_of_its_own(paths: list[str]) -> None:
    """However files are called, their pages have different names without separators."""
    names = page_names(tuple(paths))

    assert len(paths) == len(set(names.values()))
    assert not any("/" in name or name.startswith(".") or not name for name in names.values())
