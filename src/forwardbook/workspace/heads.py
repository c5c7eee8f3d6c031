"""What is asked of many entries at once, the rest of them not built; and what an index says of a family."""

from __future__ import annotations

import msgspec

from forwardbook.workspace.migrations import Json


class Head(msgspec.Struct, omit_defaults=True):
    """The names of an entry and where it leads; anything else in it is passed over."""

    full_class_name: str = ""
    library: str = ""
    same_as: str | None = None
    generated_file_name: str = ""
    generated_class_name: str = ""


class Place(msgspec.Struct):
    """Where a class is written."""

    file: str = ""
    line_start: int = 0


class Origin(msgspec.Struct):
    """What an entry was derived from, as it stands in a file; the rest of it is passed over."""

    full_class_name: str
    library: str
    code_location: Place
    versions: dict[str, str] = {}
    code_hash: str = ""
    same_as: str | None = None
    proposal: msgspec.Raw | None = None


class _Issued(msgspec.Struct):
    operations: tuple[str, ...] = ()


class _Unresolved(msgspec.Struct):
    operation: str = ""


class _Lines(msgspec.Struct):
    lines: list[_Issued] | str = ""


class Issued(msgspec.Struct):
    """What an entry lists of operations, as it stands in a file; the rest of it is passed over."""

    statements: list[_Issued] = []
    regimes: list[_Lines] = []
    unresolved: list[_Unresolved] = []

    @property
    def operations(self) -> frozenset[str]:
        """Each operation once, as `aten.mm`."""
        lines = [line for regime in self.regimes for line in regime.lines if isinstance(line, _Issued)]
        names = {name for one in (*self.statements, *lines) for name in one.operations}
        return frozenset(name.partition(" x")[0] for name in names) | {
            one.operation for one in self.unresolved
        }


class _Named(msgspec.Struct):
    name: str


class _Verdict(msgspec.Struct):
    verdict: str = "unproved"


class Listed(msgspec.Struct):
    """What a list says of an entry, as it stands in a file; the rest of it is passed over."""

    full_class_name: str
    library: str = ""
    code_location: Place = msgspec.field(default_factory=Place)
    same_as: str | None = None
    regimes: list[_Named] = []
    derived_by: list[str] = []
    unresolved: list[_Unresolved] = []
    validation: _Verdict = msgspec.field(default_factory=_Verdict)


class Family(msgspec.Struct):
    """What the main file says of a file of entries: how long it is, and the heads of those in it."""

    bytes: int
    entries: dict[str, Head]


def head_of(raw: Json) -> Head:
    """The head of a decoded entry; what is no text in it counts as empty."""
    target = raw.get("same_as")
    return Head(
        full_class_name=_text(raw.get("full_class_name")),
        library=_text(raw.get("library")),
        same_as=target if isinstance(target, str) else None,
        generated_file_name=_text(raw.get("generated_file_name")),
        generated_class_name=_text(raw.get("generated_class_name")),
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
