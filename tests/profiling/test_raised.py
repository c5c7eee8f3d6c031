"""What is told of an exception: its type and the line of the user's file, no word of the code's own."""

from pathlib import Path

import pytest

from forwardbook.analyzers.instances.imports import import_class
from forwardbook.analyzers.instances.recipe import NoRecipe
from forwardbook.errors import in_full
from forwardbook.profiling.raised import kept, raised

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


OF_OURS = (
    "from forwardbook.formula import parse; parse('{' + 'to' + 'ld' + '} +')",
    "from forwardbook.errors import FormulaError; raise FormulaError('to' + 'ld')",
    "import forwardbook.errors as e; raise type('N', (e.FormulaError,), {'__module__': e.__name__})('told')",
)


@pytest.mark.parametrize("code", OF_OURS)
def test_other_code_has_no_part_of_ours_tell_a_text(tmp_path: Path, code: str) -> None:
    """An error of ours that analysed code raised, or had us raise, is told by type and line as any other."""
    file = tmp_path / "code.py"
    file.write_text(f"def run():\n    {code}\n")
    space: dict[str, object] = {}
    exec(compile(file.read_text(), str(file), "exec"), space)  # noqa: S102 - the cases above
    with pytest.raises(Exception) as caught:  # noqa: B017, PT011 - of whichever type
        space["run"]()  # type: ignore[operator]

    assert "at line 2" in kept(caught.value, [str(file)])
    assert "told" not in kept(caught.value, [str(file)])


def test_an_error_of_our_engines_is_told_in_its_own_words() -> None:
    """What an engine says of a source that it does not follow holds nothing that the code made."""
    with pytest.raises(NoRecipe) as caught:
        import_class("nobody_has_this.module.Class")

    assert "importing nobody_has_this.module failed: ModuleNotFoundError" in kept(caught.value)
    assert "No module named 'nobody_has_this'" in in_full(caught.value, 2000)
