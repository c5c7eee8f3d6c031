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
