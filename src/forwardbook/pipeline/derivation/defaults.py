"""A class that has been run in; the plain defaults of its constructor or its forward() out."""

from __future__ import annotations

from pydantic import JsonValue

from forwardbook.analyzers.instances.choices import config_defaults_of, defaults_of
from forwardbook.analyzers.instances.imports import imported


def plain_defaults(full_class_name: str, method: str) -> dict[str, JsonValue]:
    """Each parameter of `__init__` or `forward` whose default is a plain value, with that value.

    Plain are numbers, booleans, None, texts and lists of these; a tuple is told as a list. Nothing is told
    of a class whose module nobody imported: reading it must not run it.
    """
    owner = _class(full_class_name)
    return defaults_of(owner, method) if owner else {}


def constructor_defaults(full_class_name: str) -> dict[str, JsonValue]:
    """The plain defaults of `__init__`, and the whole numbers that fields of the configs it takes have."""
    owner = _class(full_class_name)
    return {**config_defaults_of(owner), **defaults_of(owner, "__init__")} if owner else {}


def _class(full_class_name: str) -> type | None:
    module, _, name = full_class_name.rpartition(".")
    owner = getattr(imported(module), name, None)
    return owner if isinstance(owner, type) else None
