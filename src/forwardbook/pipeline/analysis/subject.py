"""What a person typed in; out the class as text, checked: it is a Module and has a forward()."""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from forwardbook.analyzers.instances.find import Found, find_class
from forwardbook.analyzers.reader import Glance, Outlines, Sources, code_hash, glance_at, read_class
from forwardbook.errors import ForwardbookError

_MODULE: Final = "torch.nn.modules.module.Module"
_RAISES: Final = ("raise NotImplementedError", "raise NotImplemented")


class NotAnalysable(ForwardbookError):
    """A class that has no forward() of its own or inherited, or is no Module."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The class to analyse: where it is, the hash of its code, and the folders to import it from."""

    found: Found
    source_hash: str

    @property
    def full_class_name(self) -> str:
        """The dotted name under which it is defined."""
        return self.found.full_class_name

    @property
    def library(self) -> str:
        """The top package."""
        return self.found.module.partition(".")[0]

    @property
    def roots(self) -> tuple[str, ...]:
        """Folders of the user's that must be importable; none for installed packages."""
        root = str(self.found.root)
        return () if "-packages" in root else (root,)

    def code_hash(self) -> str:
        """The hash of all own code that building and calling it reaches; empty for installed packages."""
        root = self.found.root
        if not self.roots or any(root.glob(f"{self.library}-*.dist-info")):
            return ""
        return code_hash(self.found.class_name, self.found.file, root)


def subject(typed: str, folder: Path | None = None) -> Subject:
    """The class meant by a name or `file.py:Class`; nothing of it is imported or run."""
    found = find_class(typed, folder)
    sources = Outlines([found.root])
    glance = glance_at(found.class_name, found.file, sources)
    _check(found, glance, sources)
    return Subject(found, glance.source_hash)


def _check(found: Found, glance: Glance, sources: Sources) -> None:
    if any(_is_open(name, sources) for name in glance.resolution_order):
        return  # a base without source: the run will tell
    body = glance.body
    raises = body is not None and len(body) == 1 and body[0].startswith(_RAISES)
    if _MODULE in glance.resolution_order and body is not None and not raises:
        return
    facts = read_class(found.class_name, found.file, Sources([found.root]))
    place = f"{found.file.name}:{facts.span.line}"
    if _MODULE not in facts.resolution_order:
        bases = ", ".join(facts.bases) or "none"
        raise NotAnalysable(
            f"analysing {found.full_class_name} ({place}): it is no torch.nn.Module (its bases: {bases}); "
            "name a class that derives from torch.nn.Module"
        )
    if facts.forward is None:
        raise NotAnalysable(
            f"analysing {found.full_class_name} ({place}): it is abstract: neither it nor a base class "
            "defines forward(); name a class derived from it that does"
        )
    [only] = [s for s in facts.forward.statements if s.kind != "Expr"]
    raise NotAnalysable(
        f"analysing {found.full_class_name}: it is abstract: all its forward() does, at line "
        f"{only.span.line}, is {only.text}; name a class derived from it that does more"
    )


def _is_open(base: str, sources: Sources) -> bool:
    """Whether a base may be anything: no class with source, no builtin, nothing of typing."""
    head, _, rest = base.partition(".")
    if not rest:
        return not hasattr(builtins, base) and base not in ("Generic", "Protocol")
    return head not in ("typing", "abc") and sources.load(base.rpartition(".")[0]) is None
