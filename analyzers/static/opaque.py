"""Values that stand for what is not followed: one that absorbs everything, one that stops at its use."""

from __future__ import annotations

from typing import Any

from forwardbook.analyzers.static.unresolved import Unresolved


class NoOp:
    """Loggers, warnings and printing: every use gives itself back and nothing happens."""

    def __init__(self, name: str = "") -> None:
        self._name = name

    def __call__(self, *args: Any, **kwargs: Any) -> NoOp:
        return self

    def __enter__(self) -> NoOp:
        return self

    def __exit__(self, *args: object) -> None:
        return None

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return f"<no-op {self._name}>"


class Opaque:
    """Something named by the source that is not trusted and has no source: it may be named, not used."""

    def __init__(self, name: str, reason: str) -> None:
        self._name = name
        self._reason = reason

    def child(self, name: str) -> Opaque:
        """An attribute: equally opaque."""
        return Opaque(f"{self._name}.{name}", self._reason)

    def refuse(self) -> Unresolved:
        """The error of using it."""
        return Unresolved(f"{self._name} is not followed: {self._reason}", operation=self._name)

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[Any, ...]:
        return ()

    def __or__(self, other: object) -> Opaque:
        return self

    def __ror__(self, other: object) -> Opaque:
        return self

    def __repr__(self) -> str:
        return f"<opaque {self._name}>"


class Plain:
    """A small namespace of plain values that stands in for an installed module."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


def is_a(value: object, *kinds: type) -> bool:
    """`isinstance` by the real type alone: it never asks the value, whose attributes may be interpreted."""
    return issubclass(type(value), kinds)
