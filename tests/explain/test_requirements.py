"""A checklist and its answers: nothing is met that no passed check stands for."""

from __future__ import annotations

import pytest

from forwardbook.analyzers.calls import Graph
from forwardbook.analyzers.index.facts import Repository
from forwardbook.analyzers.index.one_file import index_file
from forwardbook.book.repository.checks import CHECKS, Finding
from forwardbook.book.repository.requirements import answer, items
from forwardbook.book.repository.survey import Survey

SOURCE = b'def trace_all(model):\n    """Trace."""\n    return model\n'


@pytest.fixture
def survey() -> Survey:
    """A repository of one file, `pack/tracer.py`."""
    files = {"pack/tracer.py": index_file("pack/tracer.py", SOURCE, "pack.tracer")}
    repository = Repository("/r", files)
    return Survey(repository, Graph(repository), "pack")


def _met(item: str, survey: Survey, **failed: bool) -> bool:
    found = {name: Finding(not failed.get(name, False), "evidence") for name in CHECKS}
    return answer(item, survey, found).is_met


def test_items_are_the_list_items_outside_of_fences() -> None:
    """Bullets, numbers and boxes are items; prose, headings and code are not."""
    text = "# Head\n- one\n  * two\n3. three\n- [x] four\n\nprose\n```\n- code\n```\n+ five\n"

    assert ("one", "two", "three", "four", "five") == items(text)


@pytest.mark.parametrize(
    "item",
    [
        "Overall map of the codebase",
        "Trace each API from user-facing function to the lowest level",
        "Exact line numbers of every class in `pack/tracer.py`",
        "What `trace_all` does",
    ],
)
def test_items_that_checks_answer_for(item: str, survey: Survey) -> None:
    """An item whose words are answered for is met while the checks pass."""
    assert _met(item, survey)


@pytest.mark.parametrize(
    "item",
    [
        "Kernel fusion",
        "The history of the project",
        "A map of `absent/folder`",
        "What `trace_nothing` does",
        "Write Architecture.md",
        "",
    ],
)
def test_items_that_no_check_answers_for(item: str, survey: Survey) -> None:
    """A word that no check answers for, or a name that is not there, keeps an item from being met."""
    assert not _met(item, survey)


def test_failed_check_is_not_met(survey: Survey) -> None:
    """An item is not met if one of the checks that it asks for failed."""
    assert not _met("Overall map of the codebase", survey, map=True)
