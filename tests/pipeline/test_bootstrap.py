"""`profile bootstrap`: what is linked, what is asked, and that nothing is ever replaced."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Snapshots in the ways that people keep them, and an empty folder to link into."""
    hub = tmp_path / "hub"
    (hub / "Org" / "Plain").mkdir(parents=True)
    (hub / "Org" / "Plain" / "config.json").touch()
    for commit in ("c1", "c2"):
        (hub / "models--Org--Two" / "snapshots" / commit).mkdir(parents=True)
        (hub / "models--Org--Headless" / "snapshots" / commit).mkdir(parents=True)
    (hub / "models--Org--One" / "snapshots" / "c1").mkdir(parents=True)
    (hub / "models--Org--Two" / "refs").mkdir()
    (hub / "models--Org--Two" / "refs" / "main").write_text("c2\n")
    (hub / "pages").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("HF_SNAPSHOTS_ROOT", str(hub))
    monkeypatch.setenv("DATASETS_ROOT", str(hub))
    return hub


@pytest.fixture
def run(hub: Path, command: Run) -> Run:
    """Runs `profile bootstrap` over a list: exit code, standard output, standard error."""

    def call(text: str | None, *arguments: str) -> tuple[int, str, str]:
        if text is not None:
            Path("bootstrap.yaml").write_text(text)
        return command("profile", "bootstrap", *arguments)

    return call


def test_linked(run: Run, hub: Path) -> None:
    """A folder as it is, and the revision of a cache, are linked; a second time nothing is left to do."""
    text = "models: {models/a: Org/Plain, models/b: Org/Two, models/c: Org/One}\ndatasets: {pages: pages}\n"
    code, out, _ = run(text, "--yes")
    again = run(None, "--yes")

    assert (0, 4) == (code, out.count("linked "))
    assert (hub / "models--Org--Two" / "snapshots" / "c2") == Path(os.readlink("models/b"))
    assert (hub / "models--Org--One" / "snapshots" / "c1") == Path(os.readlink("models/c"))
    assert Path("models/a/config.json").is_file() and Path("pages").is_dir()
    assert (0, True) == (again[0], "nothing to link" in again[1])


def test_revision(run: Run, hub: Path) -> None:
    """Another revision is the one that is named."""
    run("models:\n  m: {source: Org/Two, revision: c1}\n", "--yes")

    assert "c1" == Path(os.readlink("m")).name


@pytest.mark.parametrize(("answer", "linked"), [("y\n", True), ("n\n", False), ("\n", False), ("", False)])
def test_asked(answer: str, linked: bool, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a yes links; where nobody answers, nothing is linked and the exit code says so."""
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO(answer))
    code, _, err = run("models: {m: Org/Plain}\n")

    assert linked == Path("m").is_symlink()
    assert (1 if answer == "" else 0, answer == "") == (code, "--yes" in err)


def test_dry_run_and_half(run: Run) -> None:
    """A dry run changes nothing; one half can be linked alone."""
    text = "models: {m: Org/Plain}\ndatasets: {d: pages}\n"
    assert "to link    m -> " in run(text, "--dry-run")[1]
    assert not Path("m").is_symlink()
    run(None, "--yes", "--only", "datasets")

    assert (False, True) == (Path("m").is_symlink(), Path("d").is_symlink())


WRONG = """\
models:
  good: Org/Plain
  file: Org/Plain
  folder: Org/Plain
  link: Org/Plain
  dead: Org/Plain
  ../up: Org/Plain
  /absolute: Org/Plain
  out/x: Org/Plain
  file2/x: Org/Plain
  good/inner: Org/Plain
  none: Org/None
  which: Org/Headless
  lacks: {source: Org/Plain, requires: [config.json, model.safetensors]}
"""


def test_nothing_is_replaced_and_all_problems_told(run: Run, hub: Path, tmp_path: Path) -> None:
    """What is in the way stays; each problem is told, together; what can be linked is."""
    Path("file").write_text("mine")
    Path("file2").write_text("mine")
    Path("folder").mkdir()
    Path("link").symlink_to(hub / "pages")
    Path("dead").symlink_to(tmp_path / "nowhere")
    Path("out").symlink_to(tmp_path)
    code, out, err = run(WRONG, "--yes")

    assert (1, 1, 12) == (code, out.count("linked "), err.count("cannot     "))
    assert "12 links of bootstrap.yaml cannot be made" in err
    assert ("mine", True) == (Path("file").read_text(), Path("folder").is_dir())
    assert (hub / "pages") == Path(os.readlink("link"))
    assert (tmp_path / "nowhere") == Path(os.readlink("dead"))
    assert not (tmp_path / "x").exists() and not (hub / "Org" / "Plain" / "inner").exists()
    for said in (
        "a file is there",
        "a folder is there",
        "leads to",
        "leads out of",
        "is no folder",
        "lacks model",
    ):
        assert said in err


def test_roots_that_are_not_set(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable that is missing is named, once for each link that needs it."""
    monkeypatch.delenv("HF_SNAPSHOTS_ROOT")
    code, _, err = run("models: {m: Org/Plain}\ndatasets: {d: pages}\n", "--yes")

    assert (1, True) == (code, "$HF_SNAPSHOTS_ROOT is not set" in err)
    assert Path("d").is_symlink()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "there is no bootstrap.yaml or conf/bootstrap.yaml"),
        ("modles: {}\n", "did you mean models"),
        ("models: [a]\n", "models"),
        ("models: {m: {sorce: x}}\n", "models.m"),
        ("a: [\n", "reading"),
        ("models: {m: a}\nmodels: {n: a}\n", "twice"),
    ],
)
def test_lists_that_cannot_be_read(text: str | None, said: str, run: Run) -> None:
    """A list that is none says what was expected."""
    code, _, err = run(text, "--yes")

    assert (1, True) == (code, said in err), err
    assert "Traceback" not in err


def test_an_empty_list(run: Run) -> None:
    """A list of nothing links nothing and is no mistake."""
    assert (0, True) == (lambda done: (done[0], "lists nothing" in done[1]))(run("", "--yes"))
