"""Small answers are kept line by line; a damaged file costs nothing but them."""

from __future__ import annotations

from pathlib import Path

from forwardbook.workspace.kept_lines import LARGEST, KeptLines


def test_kept_for_the_next_time(tmp_path: Path) -> None:
    """What one keeps, another finds."""
    KeptLines("some", tmp_path).keep("a", [True, 1, "x\ny"])

    assert {"a": [True, 1, "x\ny"]} == KeptLines("some", tmp_path).values


def test_the_last_one_counts(tmp_path: Path) -> None:
    """A key that was kept twice has its last value, and the same value is not written again."""
    kept = KeptLines("some", tmp_path)
    for value in (1, 2, 2):
        kept.keep("a", value)

    assert {"a": 2} == KeptLines("some", tmp_path).values
    assert 2 == kept.path.read_text(encoding="utf-8").count("\n")


def test_damaged_lines_are_passed_over(tmp_path: Path) -> None:
    """Cut-off lines, other JSON and other text are not taken."""
    kept = KeptLines("some", tmp_path)
    kept.keep("a", 1)
    with kept.path.open("a", encoding="utf-8") as file:
        file.write('["b", 2\n{}\n[1, 2]\nnonsense\n["c", 3]\n')

    assert {"a": 1, "c": 3} == KeptLines("some", tmp_path).values


def test_no_text_at_all(tmp_path: Path) -> None:
    """A file that is no text is as good as none."""
    kept = KeptLines("some", tmp_path)
    kept.keep("a", 1)
    kept.path.write_bytes(b"\xff\xfe\x00")

    assert {} == KeptLines("some", tmp_path).values


def test_a_grown_file_is_begun_anew(tmp_path: Path) -> None:
    """A file beyond the limit is taken away."""
    kept = KeptLines("some", tmp_path)
    kept.keep("a", 1)
    kept.path.write_bytes(b" " * (LARGEST + 1))

    assert {} == KeptLines("some", tmp_path).values
    assert not kept.path.exists()


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    """Where nothing can be written, the answer is still there for this run."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    kept = KeptLines("some", tmp_path / "file")
    kept.keep("a", 1)

    assert {"a": 1} == kept.values
