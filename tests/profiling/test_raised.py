"""What is told of an exception: its type and the line of the user's file, no word of the code's own."""

from pathlib import Path

import pytest

from forwardbook.profiling.raised import raised

CASES = {
    "raise ValueError('told')": "ValueError at line 2",
    "raise type('told', (KeyError,), {})": "KeyError at line 2",
    "raise SystemExit('told')": "SystemExit at line 2",
    "exec(compile('raise OSError', 'told', 'exec'))": "OSError at line 2",
    "raise SyntaxError('told', ('told', 77, 1, 'told'))": "SyntaxError at line 2",
    "import torch; raise torch.OutOfMemoryError('told')": "RuntimeError at line 2",
    "1 / 0": "ZeroDivisionError at line 2",
}


@pytest.mark.parametrize(("code", "told"), CASES.items())
def test_an_exception_is_told_by_type_and_line(tmp_path: Path, code: str, told: str) -> None:
    """Python's own type and the line of the file; nothing that the code could have put into it."""
    file = tmp_path / "code.py"
    file.write_text(f"def run():\n    {code}\n")
    space: dict[str, object] = {}
    exec(compile(file.read_text(), str(file), "exec"), space)  # noqa: S102 - the cases above
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - SystemExit too
        space["run"]()  # type: ignore[operator]

    assert told == raised(caught.value, [str(file)])
    assert told.partition(" ")[0] == raised(caught.value, ["another.py"])
