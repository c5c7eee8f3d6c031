"""The map: a survey in, its folders three levels deep as an indented tree out, with what each holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from forwardbook.analyzers.index.facts import FileFacts
from forwardbook.book.blocks import Code
from forwardbook.book.repository.survey import Survey

LEVELS: Final = 3
MOST_FILES: Final = 12
MOST_LINES: Final = 400


def tree(survey: Survey) -> Code:
    """Folders and files three levels below the top; deeper and longer folders as their number of files."""
    lines = [f"{survey.name}/", *_below(_grouped(survey), "" if survey.scope == "." else survey.scope, 1)]
    if len(lines) > MOST_LINES:
        lines = [line for line in lines if line.rstrip().endswith("/") or "(" in line][:MOST_LINES]
    return Code("text", "\n".join(lines))


def _grouped(survey: Survey) -> dict[str, tuple[set[str], list[FileFacts]]]:
    """Each folder with the folders and files right in it; the root is empty."""
    found: dict[str, tuple[set[str], list[FileFacts]]] = defaultdict(lambda: (set(), []))
    for path, facts in survey.files.items():
        folder = path.rpartition("/")[0]
        found[folder][1].append(facts)
        while folder:
            above = folder.rpartition("/")[0]
            found[above][0].add(folder)
            folder = above
    return found


def _below(grouped: dict[str, tuple[set[str], list[FileFacts]]], folder: str, level: int) -> Iterator[str]:
    indent = "    " * level
    folders, files = grouped[folder]
    for each in sorted(folders):
        inside = _count(grouped, each)
        yield f"{indent}{each.rpartition('/')[2]}/{f'  ({_many(inside)})' if level == LEVELS else ''}"
        if level < LEVELS:
            yield from _below(grouped, each, level + 1)
    for facts in files[:MOST_FILES]:
        yield f"{indent}{_printable(facts.path.rpartition('/')[2])}"
    if len(files) > MOST_FILES:
        yield f"{indent}({_many(len(files) - MOST_FILES)} more)"


def _count(grouped: dict[str, tuple[set[str], list[FileFacts]]], folder: str) -> int:
    folders, files = grouped[folder]
    return len(files) + sum(_count(grouped, each) for each in folders)


def _many(count: int) -> str:
    return f"{count} file{'' if count == 1 else 's'}"


def _printable(name: str) -> str:
    return "".join(each if each.isprintable() else "�" for each in name)
