"""What statements name their results, and which tests a `while` hangs on."""

from __future__ import annotations

from pathlib import Path

import pytest

from forwardbook.analyzers.symbolic.statements import code_at, goes_on, names_at
from forwardbook.analyzers.symbolic.trace import Place

CODE = '''\
def forward(self, x, mask):
    found, back = torch.unique(
        x, return_inverse=True
    )
    self.kept = x[mask]
    self.rows[0] += 1
    for row in mask.nonzero():
        use(row)
    while x.max() > 1 and not self.done(x):
        x = x / 2
    while True:
        if not x.any():
            break
        if x.sum() > 1:
            x = x / 2
    return x[mask]
'''


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "layers.py"
    path.write_text(CODE)
    return str(path)


def at(file: str, line: int, text: str = "") -> Place:
    """Where a piece of a line is."""
    column = CODE.splitlines()[line - 1].index(text)
    return Place(file, "forward", line, line, column, column + len(text))


@pytest.mark.parametrize(
    ("line", "names"),
    [(2, ("found", "back")), (3, ("found", "back")), (5, ("kept",)), (6, ("rows",)), (7, ("row",))],
)
def test_a_result_is_named_after_what_it_is_assigned_to(file: str, line: int, names: tuple[str, ...]) -> None:
    """On each line of the statement, of a tuple, an attribute, an element or what a loop is over."""
    assert names == names_at(at(file, line))


def test_what_is_returned_is_named_after_what_it_is_chosen_by(file: str) -> None:
    """`return x[mask]` is named after the mask; what has neither has no name."""
    assert ("mask",) == names_at(at(file, 16))
    assert () == names_at(at(file, 1))


@pytest.mark.parametrize(
    ("line", "text", "going"),
    [
        (9, "x.max() > 1", True),
        (9, "self.done(x)", False),
        (12, "x.any()", True),
        (14, "x.sum() > 1", None),
        (10, "x / 2", None),
    ],
)
def test_a_loop_hangs_on_its_test_and_on_what_it_is_left_by(
    file: str, line: int, text: str, going: bool | None
) -> None:
    """It goes on where its test is true and where a test before `break` is not, each `not` the other way."""
    assert going is goes_on(at(file, line, text))


def test_code_that_cannot_be_read_has_no_names(tmp_path: Path) -> None:
    """A file with a mistake in it, or none at all, is no error here."""
    broken = tmp_path / "broken.py"
    broken.write_text("def f(:\n")
    for path in (str(broken), str(tmp_path / "none.py"), "<string>"):
        assert ((), None) == (names_at(Place(path, "f", 1, 1, 0, 0)), goes_on(Place(path, "f", 1, 1, 0, 0)))
    assert "def f(:" == code_at(Place(str(broken), "f", 1, 1, 0, 0))
