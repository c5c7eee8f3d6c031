"""The command as a user types it: which pages it writes where, how it fails, and what it prints."""

from __future__ import annotations

import json
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from geometry import NATIVE, Explain, pages_in, write_files

SET = {"INDEX.md", "README.md", "STRUCTURE.md", "SUMMARY.md", "QUICK_REFERENCE.md"}


def test_one_file_gets_one_page_named_with_hyphens(package: Path, explain: Explain, tmp_path: Path) -> None:
    """A file's page is its name in lowercase with hyphens, in docs/code-explained."""
    (package / "geometry" / "Round_things.py").write_text("def f():\n    return 1\n")
    result = explain(package / "geometry" / "Round_things.py")

    assert 0 == result.returncode, result.stderr
    assert {"round-things.md"} == set(pages_in(tmp_path / "docs" / "code-explained"))


def test_a_workspace_with_context_keeps_pages_there(package: Path, explain: Explain, tmp_path: Path) -> None:
    """Where there is a folder `context`, pages go to context/docs/code-explained."""
    (tmp_path / "context").mkdir()
    explain(package / "geometry" / "shapes.py")

    assert {"shapes.md"} == set(pages_in(tmp_path / "context" / "docs" / "code-explained"))


def test_a_folder_gets_an_overview_and_a_page_per_file(
    package: Path, explain: Explain, tmp_path: Path
) -> None:
    """A folder that is no project of its own gives its overview and one page per file."""
    result = explain(package / "geometry", "--out", "out")

    assert 0 == result.returncode, result.stderr
    assert {"geometry-overview.md", "geometry-init.md", "report.md", "shapes.md"} == set(
        pages_in(tmp_path / "out")
    )


def test_a_project_gets_the_set(package: Path, explain: Explain, tmp_path: Path) -> None:
    """A folder with a project file gives the five documents."""
    result = explain(package, "--out", "out")

    assert 0 == result.returncode, result.stderr
    assert set(pages_in(tmp_path / "out")) == SET


def test_several_files_get_a_components_page(package: Path, explain: Explain, tmp_path: Path) -> None:
    """Several files give a page each and one that shows the calls between them."""
    folder = package / "geometry"
    result = explain(folder / "shapes.py", folder / "report.py", "--feature", "Round Things", "--out", "out")
    page = pages_in(tmp_path / "out")["round-things-components.md"]

    assert 0 == result.returncode, result.stderr
    assert {"shapes.md", "report.md", "round-things-components.md"} == set(pages_in(tmp_path / "out"))
    assert "| `report` | calls | `total` | `geometry/report.py:8` |" in page


def test_focus_adds_the_pages_of_its_files(package: Path, explain: Explain, tmp_path: Path) -> None:
    """`--focus` treats a package file by file and lists who imports it."""
    result = explain(package, "--focus", "geometry.shapes", "--out", "out")
    pages = pages_in(tmp_path / "out")

    assert 0 == result.returncode, result.stderr
    assert SET | {"shapes.md"} == set(pages)
    assert "| `geometry/report.py` | imports | `geometry/shapes.py` |" in pages["SUMMARY.md"]


def test_every_public_symbol_is_listed_with_its_exact_lines(
    package: Path, explain: Explain, tmp_path: Path
) -> None:
    """SUMMARY.md lists each public class, function and method with the lines that an editor shows."""
    explain(package, "--out", "out")
    summary = pages_in(tmp_path / "out")["SUMMARY.md"]

    listed = {
        ("Shape", 10, 15),
        ("Shape.area", 13, 15),
        ("Circle", 18, 27),
        ("Circle.area", 26, 27),
        ("total", 30, 32),
        ("covered", 35, 37),
    }
    assert [] == [
        name for name, start, end in listed
        if f"| `{name}` |" not in summary or f"`geometry/shapes.py:{start}-{end}`" not in summary
    ]  # fmt: skip


def test_requirements_are_answered_one_by_one(package: Path, explain: Explain, tmp_path: Path) -> None:
    """An item is met by a check that passed, or not met with the reason; nothing is met unasked."""
    (tmp_path / "wanted.md").write_text(
        "# Wanted\n\n- [ ] A map of the folders\n- [ ] Every public class with line numbers\n"
        "- Explain `geometry/absent.py`\n1. The history of kernel fusion\n"
    )
    explain(package, "--out", "out", "--requirements", "wanted.md")
    index = pages_in(tmp_path / "out")["INDEX.md"]

    assert "2 of 4 met" in index
    assert "| A map of the folders | met |" in index
    assert "the repository has no geometry/absent.py" in index
    assert "no check answers for: history, fusion" in index


def test_json_holds_the_facts_and_nothing_is_written(package: Path, explain: Explain, tmp_path: Path) -> None:
    """`--json` prints one JSON value with the definitions, their lines and calls."""
    result = explain(package / "geometry" / "report.py", "--json")
    [facts] = json.loads(result.stdout)["files"]

    assert ["report"] == [each["qualname"] for each in facts["definitions"]]
    assert {"start": 6, "end": 8} == facts["definitions"][0]["span"]
    assert ("report", "total") in {(each["caller"], each["callee"]) for each in facts["edges"]}
    assert not (tmp_path / "docs").exists()


def test_nothing_that_is_read_is_executed(package: Path, explain: Explain, tmp_path: Path) -> None:
    """Code at the top of a module, in setup.py or in a decorator does not run."""
    trap = f"open({str(tmp_path / 'ran')!r}, 'w')\n"
    for name in ("geometry/trap.py", "setup.py", "conftest.py"):
        (package / name).write_text(trap)
    result = explain(package, "--out", "out")

    assert 0 == result.returncode, result.stderr
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("absent.py",), "there is no such file or folder"),
        (("--repository", "project/geometry/shapes.py"), "--repository takes one folder"),
        (("project", "--focus", "nowhere.at.all"), "no package, folder or file of that name"),
        (("project", "--requirements", "absent.md"), "reading the requirements"),
        (("project", "--out", "project/pyproject.toml"), "it is a file"),
        (("project/geometry/shapes.py", "--root", "project/tests"), "it is not below"),
    ],
)
def test_mistakes_are_said_without_a_traceback(
    arguments: tuple[str, ...], said: str, package: Path, explain: Explain
) -> None:
    """A mistake of the user is one message and exit code 1."""
    result = explain(*arguments)

    assert (1, True, False) == (result.returncode, said in result.stderr, "Traceback" in result.stderr)


def test_python_is_traced_through_its_binding_to_the_kernel(explain: Explain, tmp_path: Path) -> None:
    """SUMMARY.md lists kernels and launches with their lines, and the way from Python down to them."""
    top = write_files(tmp_path / "project", NATIVE)
    result = explain(top, "--out", "out")
    summary = pages_in(tmp_path / "out")["SUMMARY.md"]
    way = summary.partition("### From Python to the kernel")[2].partition("\n#")[0]

    assert 0 == result.returncode, result.stdout + result.stderr
    assert "| `fill_kernel` | `native/fill.cu:5-8` |" in summary
    assert "| `fill` | launches | `fill_kernel` | `native/fill.cu:11` |" in summary
    assert "`fill_ones` (`native/caller.py:8-10`) may call `fill` (`native/fill.cu:10-12`)" in way
    assert "`fill` launches `fill_kernel` (`native/fill.cu:5-8`) at `native/fill.cu:11`" in way


def test_second_resolver_answers_where_it_is_asked(package: Path, explain: Explain, tmp_path: Path) -> None:
    """`--resolver both` gives pages whose claims hold."""
    pytest.importorskip("ty")
    result = explain(package, "--out", "out", "--resolver", "both")

    assert 0 == result.returncode, result.stdout + result.stderr
    assert SET == set(pages_in(tmp_path / "out"))


def test_short_command_is_declared() -> None:
    """The project declares `explain`, and what it names is a function."""
    project = tomllib.loads((Path(__file__).resolve().parents[2] / "pyproject.toml").read_text())
    module, _, function = project["project"]["scripts"]["explain"].partition(":")

    assert callable(getattr(import_module(module), function))
