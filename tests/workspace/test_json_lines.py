"""Files of JSON lines: whole after each line, whatever a killed writer left."""

from pathlib import Path

import pytest

from forwardbook.workspace.json_lines import LineWriter, read_lines
from forwardbook.workspace.storage import WorkspaceError


def test_each_line_is_on_the_disk(tmp_path: Path) -> None:
    """A line can be read before the writer is closed; texts keep their letters."""
    writer = LineWriter(tmp_path / "deep" / "x.jsonl")
    writer.write({"a": "ü\n"})

    assert [{"a": "ü\n"}] == read_lines(tmp_path / "deep" / "x.jsonl")
    writer.close()


@pytest.mark.parametrize("left", range(1, 12))
def test_half_a_line_is_none(left: int, tmp_path: Path) -> None:
    """However much of the last line was written, the lines before it stay and the next is whole."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"n": 1}\n' + b'{"n": "\xc3\xbc"}\n'[:left])
    writer = LineWriter(path)
    writer.write({"n": 3})
    writer.close()

    assert [{"n": 1}, {"n": 3}] == read_lines(path)


@pytest.mark.parametrize("line", [b"no json", b"[1]", b""])
def test_a_broken_line_within(line: bytes, tmp_path: Path) -> None:
    """A line within that is no object is nobody's leftover: it is named and nothing is changed."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"n": 1}\n' + line + b"\n")
    with pytest.raises(WorkspaceError, match="line 2"):
        LineWriter(path)

    assert b'{"n": 1}\n' + line + b"\n" == path.read_bytes()
