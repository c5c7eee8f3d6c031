"""`forwardbook site`: a workspace becomes a site with strict links, and only what changed is built again."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from forwardbook.cli import main
from forwardbook.schema import Entry, Validation
from forwardbook.workspace import Workspace
from forwardbook.workspace.model_files import ModelFiles

ROOT = Path(__file__).resolve().parents[2]
KEYS = ("torch_Linear", "transformers_LlamaMLP", "torch_LSTM")
LOADED = re.compile(
    r"<(?:script|img|iframe|source|link rel=.(?:stylesheet|preconnect|icon).)[^>]*?(?:src|href)=\"([^\"]*)\""
)
NAVIGATION = """
nav: [index.md, why.md, quantities.md, book/catalogue.md, book/coverage.md, book/totals.md, book/models.md,
      book/explained.md, book/commands.md, book/python.md]
"""
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A workspace with three classes, a model, a few documents and the settings of this repository."""
    root = tmp_path_factory.mktemp("workspace")
    (root / "docs").mkdir()
    (root / "models").mkdir()
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[0]
    (root / "mkdocs.yml").write_text(f"{settings}\n{NAVIGATION}", encoding="utf-8")
    for name in ("index", "why", "quantities"):
        shutil.copy(ROOT / "docs" / "quantities.md", root / "docs" / f"{name}.md")
    for path in (ROOT / "models").glob("gpt2[._]*"):
        shutil.copy(path, root / "models")
    (root / "docs" / "code-explained").mkdir()
    (root / "docs" / "code-explained" / "README.md").write_text("# Read first\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("forwardbook.workspace.folder.shipped_path", lambda: None)
        patch.setattr(ModelFiles, "_folders", lambda files: [files.root / "models"])
        patch.setenv("NO_MKDOCS_2_WARNING", "1")
        shipped = Workspace(ROOT).load()
        Workspace(root).save({key: shipped[key] for key in KEYS})
        patch.chdir(root)
        main_quietly("site", "build")
        yield root


def main_quietly(*arguments: str) -> int:
    """The exit code of a command."""
    try:
        return main(arguments)
    except SystemExit as stop:
        return int(stop.code or 0)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command: exit code, standard output, standard error."""

    def call(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main_quietly(*arguments)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def times(folder: Path) -> dict[str, int]:
    """When each page of a folder was written."""
    return {path.relative_to(folder).as_posix(): path.stat().st_mtime_ns for path in folder.rglob("*.html")}


def test_every_document_is_in_the_navigation() -> None:
    """The navigation of this repository's site names every page in docs, and no page that is not there."""
    named = set(re.findall(r"[\w.-]+\.md$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE))
    names = ("catalogue", "coverage", "totals", "models", "explained", "commands", "python")
    made = {f"{name}.md" for name in names}

    assert {path.name for path in (ROOT / "docs").glob("*.md")} - made == named - made


def test_every_page_is_built(built: Path) -> None:
    """Each class and each model has a page; the catalogue, the holes and the references have theirs."""
    pages = {path.relative_to(built / "site").as_posix() for path in (built / "site").rglob("*.html")}

    assert {f"book/modules/{key}.html" for key in KEYS} < pages
    assert {f"book/{name}.html" for name in ("catalogue", "coverage", "models", "commands", "python")} < pages
    assert {"book/models/gpt2.html", "index.html", "quantities.html", "404.html"} < pages


def test_pages_fetch_nothing_from_elsewhere(built: Path) -> None:
    """Nothing that a page loads has an address outside the site, and each page has a policy."""
    for page in (built / "site").rglob("*.html"):
        html = page.read_text(encoding="utf-8")
        loaded = LOADED.findall(html)
        assert [] == [address for address in loaded if "//" in address], page
        assert 1 == html.count('http-equiv="Content-Security-Policy"'), page


def test_search_finds_classes_by_title(built: Path) -> None:
    """The index has a short document for each class and model, and the words of pages by people."""
    docs = json.loads((built / "site" / "search" / "search_index.json").read_text(encoding="utf-8"))["docs"]
    by_place = {each["location"]: each for each in docs}

    assert "LlamaMLP" == by_place["book/modules/transformers_LlamaMLP.html"]["title"]
    assert "book/models/gpt2.html" in by_place and any("quantities.html" in place for place in by_place)
    assert max(len(by_place[f"book/modules/{key}.html"]["text"]) for key in KEYS) < 200


def test_nothing_is_built_twice(built: Path, run: Run) -> None:
    """A second build writes no file of docs/book and leaves every page of the site as it is."""
    before = times(built / "site" / "book")
    code, out, err = run("site", "build")

    assert (0, "") == (code, err), err
    assert ": 0 of " in out
    assert before == times(built / "site" / "book")
    assert (built / "site" / "code-explained" / "index.html").is_file()


def test_a_change_builds_its_page(built: Path, run: Run) -> None:
    """A changed entry builds its own page and those that list it, and no other page of a class."""
    database = Workspace(built).load()
    entry = database["torch_Linear"]
    before = times(built / "site" / "book" / "modules")
    changed = entry.model_copy(update={"validation": Validation(verdict="exact", human_validated=True)})
    Workspace(built).save({"torch_Linear": changed})
    code, _, err = run("site", "build")
    after = times(built / "site" / "book" / "modules")

    assert 0 == code, err
    assert {"torch_Linear.html"} == {name for name in after if after[name] != before[name]} - {
        "index-torch.html"
    }
    assert "Checked by a person: yes" in (built / "site/book/modules/torch_Linear.html").read_text()
    assert len(json.loads((built / "site/search/search_index.json").read_text())["docs"]) > 20


def test_pages_prepared_before_are_built(built: Path, run: Run) -> None:
    """What `site prepare` wrote is built by the next build, though that writes no page itself."""
    database = Workspace(built).load()
    changed = database["torch_Linear"].model_copy(update={"validation": Validation(verdict="bounded")})
    Workspace(built).save({"torch_Linear": changed})
    assert 0 == run("site", "prepare")[0]
    code, out, err = run("site", "build")

    assert (0, True) == (code, ": 0 of " in out), err
    assert "<strong>bounded</strong>" in (built / "site/book/modules/torch_Linear.html").read_text()


def test_a_class_that_is_gone_has_no_page(built: Path, run: Run) -> None:
    """An entry that was removed loses its page in docs/book and in the site."""
    Workspace(built).save({}, remove=["torch_LSTM"])
    code, out, err = run("site", "build")

    assert 0 == code, err
    assert "1 removed" in out
    assert not (built / "site/book/modules/torch_LSTM.html").exists()
    assert not (built / "docs/book/modules/torch_LSTM.md").exists()


def test_explained_pages_are_listed(built: Path) -> None:
    """A page of explained code is reached from the list of them."""
    listed = (built / "site" / "book" / "explained.html").read_text(encoding="utf-8")

    assert "../code-explained/index.html" in listed


def test_a_page_that_does_not_hold_is_marked_and_named(built: Path, run: Run) -> None:
    """Where a page of explained code is contradicted all is built, the page says so; the exit code is 3."""
    page = built / "docs" / "code-explained" / "README.md"
    text = page.read_text(encoding="utf-8")
    page.write_text(f"{text}\n`Gone` (`net.py:3-9`)\n\n[gone](gone.md)\n", encoding="utf-8")
    code, _, err = run("site", "build")
    shown = (built / "site/code-explained/index.html").read_text(encoding="utf-8")
    listed = (built / "site/book/explained.html").read_text(encoding="utf-8")
    again, _, told = run("site", "build")
    prepared, _, _ = run("site", "prepare")
    page.write_text(text, encoding="utf-8")
    mended, _, silent = run("site", "build")

    assert (3, 3, 3) == (code, again, prepared), err
    assert "code-explained/README.md: 2 claims do not hold; the page is marked" in err
    assert "contains a link 'gone.md', but the target" in err and err == told
    assert "2 claims of this page do not hold any more" in shown
    assert "2 claims do not hold" in listed
    assert (0, "") == (mended, silent)
    assert "do not hold any more" not in (built / "site/code-explained/index.html").read_text()


def test_prepare_builds_nothing(built: Path, run: Run) -> None:
    """`site prepare` says what it wrote and leaves the built site alone."""
    before = times(built / "site")
    code, out, _ = run("site", "prepare")

    assert 0 == code and " files written" in out
    assert before == times(built / "site")


def test_link_that_leads_nowhere_fails_the_build(built: Path, run: Run) -> None:
    """A broken link is an error that names page and target, exit code 1; `--no-strict` lets it be."""
    page = built / "docs" / "why.md"
    text = page.read_text(encoding="utf-8")
    page.write_text(f"{text}\n[gone](nowhere.md)\n", encoding="utf-8")
    code, _, err = run("site", "build")
    lenient, _, _ = run("site", "build", "--no-strict")
    page.write_text(text, encoding="utf-8")

    assert 1 == code and "nowhere.md" in err and "why.md" in err and "Traceback" not in err
    assert 0 == lenient


def test_edited_page_stops_the_build(built: Path, run: Run) -> None:
    """A page of docs/book that someone edited is not overwritten; the error names it and says what to do."""
    page = built / "docs" / "book" / "modules" / "torch_Linear.md"
    text = page.read_text(encoding="utf-8")
    database = Workspace(built).load()
    page.write_text(f"{text}\nmine\n", encoding="utf-8")
    Workspace(built).save({"torch_Linear": database["torch_Linear"].model_copy(update={"library": "other"})})
    code, _, err = run("site", "prepare")
    kept = page.read_text(encoding="utf-8")
    page.unlink()

    assert 1 == code and "torch_Linear.md was edited by hand" in err and kept.endswith("mine\n")


def test_no_configuration_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    """A folder without a mkdocs.yml is an error with exit code 1 that says how to get one."""
    monkeypatch.chdir(tmp_path)
    for command in ("build", "serve", "prepare"):
        code, _, err = run("site", command)
        assert 1 == code and "mkdocs.yml" in err and "--config" in err


def test_configuration_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    """A damaged mkdocs.yml is an error with exit code 1 and no traceback."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mkdocs.yml").write_text("site_name: [", encoding="utf-8")
    code, _, err = run("site", "build")

    assert 1 == code and "reading" in err and "Traceback" not in err


def test_folder_of_others_is_not_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, entry: Entry
) -> None:
    """Where docs/book is somebody's own, nothing is written and the error says so."""
    monkeypatch.setattr("forwardbook.workspace.folder.shipped_path", lambda: None)
    monkeypatch.chdir(tmp_path)
    Workspace(tmp_path).save({"toy_ToyAttention": entry})
    (tmp_path / "docs" / "book").mkdir(parents=True)
    (tmp_path / "docs" / "book" / "mine.md").write_text("# Mine\n", encoding="utf-8")
    (tmp_path / "mkdocs.yml").write_text("site_name: toy\nplugins: [search, forwardbook]\n", encoding="utf-8")
    code, _, err = run("site", "build")

    assert 1 == code and "not made by forwardbook" in err
    assert ["mine.md"] == [path.name for path in (tmp_path / "docs" / "book").iterdir()]
