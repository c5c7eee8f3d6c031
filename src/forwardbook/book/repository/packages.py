"""A survey in; the folders that make up its topics, what each says of itself and what it imports out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from forwardbook.analyzers.index.facts import FileFacts
from forwardbook.book.repository.sentences import about, sentence
from forwardbook.book.repository.survey import Place, Survey, is_below, is_test

MOST_TOPICS: Final = 30


@dataclass(frozen=True, slots=True)
class Package:
    """A folder of source files; `files` are all below it, `own` those right in it."""

    folder: str
    title: str
    says: str
    files: tuple[FileFacts, ...]
    own: tuple[FileFacts, ...]

    @property
    def lines(self) -> int:
        """How many lines its source files have together."""
        return sum(each.lines for each in self.files)


def packages(survey: Survey) -> tuple[Package, ...]:
    """The folders that a reader thinks in: the children of the top folder, and theirs if they are few."""
    top = _lone_top(survey)
    level = _children(survey, top)
    if len(level) <= 4:
        deeper = [child for folder in level for child in (_children(survey, folder) or (folder,))]
        level = tuple(deeper) if len(deeper) <= MOST_TOPICS else level
    return tuple(package(survey, folder) for folder in level[:MOST_TOPICS] or (top,))


def package(survey: Survey, folder: str) -> Package:
    """One folder as a package."""
    files = tuple(each for each in survey.code if is_below(each.path, folder))
    own = tuple(each for each in files if (each.path.rpartition("/")[0] or ".") == folder)
    init = next((each for each in own if each.path.endswith("__init__.py")), None)
    said = sentence(init.docstring) if init is not None else ""
    if not said and len(own) == 1:
        said = about(own[0])
    title = init.module if init is not None and init.module else folder
    return Package(folder, title, said, files, own)


def api_of(survey: Survey, folder: str) -> tuple[Place, ...]:
    """The user-facing API that is defined below a folder."""
    return tuple(place for place in survey.user_api if is_below(place.path, folder))


def imports_between(survey: Survey, found: tuple[Package, ...]) -> Counter[tuple[str, str]]:
    """How many first-party imports lead from the files of one package to those of another."""

    @cache
    def home(path: str) -> str:
        fitting = [each.folder for each in found if is_below(path, each.folder)]
        return max(fitting, key=len, default="")

    counted: Counter[tuple[str, str]] = Counter()
    for facts in survey.code:
        here = home(facts.path)
        for target in survey.graph.imports_of(facts.path):
            there = home(target)
            if here and there and here != there:
                counted[here, there] += 1
    return counted


def _lone_top(survey: Survey) -> str:
    """The deepest folder that holds all source files."""
    folder = survey.scope
    while True:
        children = _children(survey, folder)
        own = [each for each in survey.code if (each.path.rpartition("/")[0] or ".") == folder]
        if len(children) != 1 or own:
            return folder
        folder = children[0]


def _children(survey: Survey, folder: str) -> tuple[str, ...]:
    return tuple(_folders_right_in(survey, folder))


def _folders_right_in(survey: Survey, folder: str) -> Iterator[str]:
    held = {each.path.rpartition("/")[0] for each in survey.code}
    for each in survey.folders:
        above = each.rpartition("/")[0] or "."
        if (
            each != "."
            and above == folder
            and not is_test(f"{each}/x")
            and any(is_below(at, each) for at in held)
        ):
            yield each
