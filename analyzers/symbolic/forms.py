"""Gives every way to compute a value a number that is the same in all runs of the process."""

from __future__ import annotations

from dataclasses import dataclass

Number = bool | int | float


@dataclass(frozen=True, slots=True)
class Form:
    """An operation on values of other forms; `value` is that of a constant, `name` that of a symbol."""

    op: str
    name: str
    kind: type
    args: tuple[int, ...]
    value: Number | None


class Forms:
    """Forms by number, and back; a number is never given out twice."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[object, ...], int] = {}
        self._forms: dict[int, Form] = {}
        self._next = 0

    def __len__(self) -> int:
        return len(self._forms)

    def number(self, op: str, name: str, kind: type, args: tuple[int, ...], value: Number | None) -> int:
        """The number of a form; constants differ as they are written (0.0 and -0.0 do)."""
        key = (op, name, kind, args, repr(value))
        number = self._numbers.get(key)
        if number is None:
            self._next += 1
            number = self._numbers[key] = self._next
            self._forms[number] = Form(op, name, kind, args, value)
        return number

    def get(self, number: int) -> Form | None:
        """The form of a number, unless it is forgotten."""
        return self._forms.get(number)

    def forget(self) -> None:
        """Drops all forms: those of a run that goes on are known to its nodes alone."""
        self._numbers.clear()
        self._forms.clear()


FORMS = Forms()
