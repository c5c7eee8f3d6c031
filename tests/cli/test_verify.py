"""`forwardbook verify` and `forwardbook score`, as a user runs them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SMALL = ROOT / "tests" / "book" / "verify"


def run(*arguments: object, cache: Path) -> subprocess.CompletedProcess[str]:
    """The command, with a cache of its own."""
    return subprocess.run(
        [sys.executable, "-P", "-m", "forwardbook", *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "XDG_CACHE_HOME": str(cache), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    """A page with one wrong line number."""
    page = tmp_path / "page.md"
    page.write_text("# Page\n\n`Circle` (`shapes/flat.py:8-18`) is round.\n", encoding="utf-8")
    return page


def test_true_pages(tmp_path: Path) -> None:
    """A folder of true pages: nothing on standard output, the figures beside it, exit code 0."""
    done = run("verify", SMALL / "pages", "--root", SMALL / "repository", cache=tmp_path)

    assert (0, "") == (done.returncode, done.stdout)
    assert "supported" in done.stderr and "contradicted" not in done.stderr


@pytest.mark.slow
def test_documents_of_this_repository(tmp_path: Path) -> None:
    """No document says what its source contradicts, not even in an example of how to say it."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

    done = run("verify", *pages, "--root", ROOT, cache=tmp_path)

    assert (0, "") == (done.returncode, done.stdout)


def test_wrong_page(wrong: Path, tmp_path: Path) -> None:
    """A wrong claim: page, line, claim and what the source says; exit code 1."""
    done = run("verify", wrong, "--root", SMALL / "repository", cache=tmp_path)

    assert 1 == done.returncode
    assert f"{wrong}:3: contradicted span: `Circle` (`shapes/flat.py:8-18`)" in done.stdout
    assert "shapes/flat.py:8-17" in done.stdout


def test_json(wrong: Path, tmp_path: Path) -> None:
    """The claims as JSON."""
    done = run("verify", wrong, "--root", SMALL / "repository", "--json", cache=tmp_path)
    claims = json.loads(done.stdout)[0]["claims"]

    assert ["contradicted", "supported"] == sorted(claim["state"] for claim in claims)


def test_score(tmp_path: Path) -> None:
    """The shares of each kind of claim, as a table and as JSON."""
    arguments = ("score", SMALL / "pages", "--root", SMALL / "repository")
    shown = run(*arguments, cache=tmp_path)
    found = json.loads(run(*arguments, "--json", cache=tmp_path).stdout)

    assert 0 == shown.returncode and "message" in shown.stdout
    assert 1.0 == found["kinds"]["all"]["truth"]
    assert 2 == found["pages"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("verify", "nowhere.md"), "no such file"),
        (("verify", __file__, "--root", "nowhere"), "is no folder"),
        (("score", SMALL / "repository"), "no .md file"),
    ],
)
def test_mistakes(arguments: tuple[object, ...], said: str, tmp_path: Path) -> None:
    """A user's mistake is told in one line, without a traceback."""
    done = run(*arguments, cache=tmp_path)

    assert done.returncode not in (0, None)
    assert said in done.stderr
    assert "Traceback" not in done.stderr
