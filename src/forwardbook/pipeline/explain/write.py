"""Pages onto disk: a page's text and what stands there in; what became of it out. Edited pages are left."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from forwardbook.book.page import is_untouched
from forwardbook.workspace import WorkspaceError, write_atomically

Outcome = Literal[
    "written",
    "unchanged",
    "would change",
    "edited",
    "not ours",
    "removed",
    "would remove",
    "not written",
]
_HEAD: Final = 4096
_DATED: Final = re.compile(r'^(?:checksum|updated|commit): ".*"$|\*\*Last update\*\*: [^*\n]*', re.MULTILINE)
_SUBJECT: Final = re.compile(
    rb'\A---\nchecksum: "sha256:.*?^path: ("(?:[^"\\\n]|\\.)*")$', re.DOTALL | re.MULTILINE
)
FAILURES = ("would change", "would remove", "edited", "not ours", "not written")


@dataclass(frozen=True, slots=True)
class PageResult:
    """What became of one page; `wrong` says why, `left_out` what is not stated since the source denies it."""

    name: str
    path: str
    outcome: Outcome
    figures: str = ""
    wrong: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether the page is not as it should be."""
        return self.outcome in FAILURES


def settle(path: Path, text: str, *, force: bool, check: bool) -> tuple[Outcome, str]:
    """Write a page unless that is not wanted or not allowed; the outcome, and what to do about it."""
    try:
        present = _present(path)
        if present == text or (check and present and _undated(present) == _undated(text)):
            return "unchanged", ""
        if present is not None and not force and (refused := _refusal(path, present)):
            return refused
        if check:
            return "would change", ""
        write_atomically(path, text)
    except (WorkspaceError, OSError) as error:
        return "not written", str(error)
    return "written", ""


def remove(path: Path, *, check: bool) -> tuple[Outcome, str] | None:
    """Take away a page whose source is gone, if nobody edited it; None where there is nothing to do."""
    present = _present(path)
    if present is None or not is_untouched(present):
        return None
    if check:
        return "would remove", "its source is gone"
    try:
        path.unlink()
    except OSError as error:
        return "not written", f"removing {path}: {error.strerror or error}"
    return "removed", ""


def subjects(folder: Path) -> dict[str, str]:
    """The file that each page of a folder is about, by the page's name without its ending."""
    found: dict[str, str] = {}
    for page in sorted(folder.glob("*.md")) if folder.is_dir() else ():
        try:
            with page.open("rb") as file:
                subject = _SUBJECT.search(file.read(_HEAD))
        except OSError:
            continue
        if subject:
            found[page.stem] = json.loads(subject[1])
    return found


def _present(path: Path) -> str | None:
    """The text that stands on disk; what is no UTF-8 is none of ours."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        return "\0"


def _undated(text: str) -> str:
    """A page without what a commit changes of it: a page cannot name the commit that it comes with."""
    return _DATED.sub("", text)


def _refusal(path: Path, present: str) -> tuple[Outcome, str] | None:
    untouched = is_untouched(present)
    if untouched is False:
        return "edited", (
            f"writing {path}: it was edited by hand (its checksum differs) and was left as it is. "
            "Move the edit elsewhere, or overwrite it with --force"
        )
    if untouched is None:
        return "not ours", (
            f"writing {path}: a file of that name is there that this command did not write. "
            "Give another folder with --out, or overwrite it with --force"
        )
    return None
