"""What a module page is about: an entry with all that its page needs from elsewhere, gathered beforehand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from forwardbook.book.site.data import Preset
from forwardbook.book.site.parts import Callees
from forwardbook.schema import Entry


@dataclass(frozen=True)
class ModuleSubject:
    """`holder` is the entry that has the formulas: `entry`, or the one that it is the same as.

    `source` has the lines of the class by number, and is empty where they cannot be read as they were
    analysed. `pages` leads from full class names to pages, `explained` to the page about the source file,
    `callees` to what the classes do that it calls.
    """

    key: str
    entry: Entry
    holder: Entry
    presets: tuple[Preset, ...] = ()
    source: Mapping[int, str] = field(default_factory=dict)
    pages: Mapping[str, str] = field(default_factory=dict)
    explained: str = ""
    callees: Callees = field(default_factory=Callees)
