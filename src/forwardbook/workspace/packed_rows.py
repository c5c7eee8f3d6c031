"""Lines of regimes in; out what they cost, beside a table that has each statement once; and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, cast

from forwardbook.workspace.migrations import Json

_FLOPS: Final = ("flops", "pointwise_ops")
_BYTES: Final = ("reads", "writes")
_RUN: Final = ("operations", "chain")
_PLACE: Final = ("line", "end_line", "code")


class Statements:
    """The statements of one entry by the place where they stand: `243`, `257-266`; `b` is a second file's."""

    def __init__(self, rows: Iterable[Json] = ()) -> None:
        self._rows = {str(row["at"]): row for row in rows}

    def rows(self) -> list[Json]:
        """The table for the file: what the first regime ran at each place."""
        return list(self._rows.values())

    def told(self, flops: Json, memory: Json) -> Json:
        """The row of a regime for a line: where, and the costs that are not zero.

        Raises:
            ValueError: for lines of two places, or with other fields.
        """
        if flops.keys() != {*_PLACE, *_FLOPS, *_RUN} or memory.keys() != {*_PLACE, *_BYTES}:
            raise ValueError("a line with other fields")
        if any(flops[name] != memory[name] for name in _PLACE):
            raise ValueError("lines of different places")
        statement = self._placed(flops)
        costs = {name: flops[name] for name in _FLOPS} | {name: memory[name] for name in _BYTES}
        row: Json = {"at": statement["at"], **{name: text for name, text in costs.items() if text != "0"}}
        return row | {name: flops[name] for name in _RUN if flops[name] != statement.get(name, [])}

    def lines(self, row: Json) -> tuple[Json, Json]:
        """The line of arithmetic and the line of bytes that a row stands for."""
        statement = self._rows[str(row["at"])]
        line, _, end = str(row["at"]).rstrip(_LETTERS).partition("-")
        place: Json = {"line": int(line), "end_line": int(end or line), "code": statement["code"]}
        run = {name: list(cast("list[str]", row.get(name, statement.get(name, [])))) for name in _RUN}
        return (
            {**place, **{name: row.get(name, "0") for name in _FLOPS}, **run},
            {**place, **{name: row.get(name, "0") for name in _BYTES}},
        )

    def operations(self, row: Json) -> list[str]:
        """What ran there, each operation once."""
        run = row.get("operations", self._rows[str(row["at"])].get("operations", []))
        return [name.partition(" x")[0] for name in cast("list[str]", run)]

    def said(self, row: Json) -> tuple[int, str]:
        """The first line of a row's statement, and its code."""
        statement = self._rows[str(row["at"])]
        return int(str(row["at"]).rstrip(_LETTERS).partition("-")[0]), str(statement["code"])

    def _placed(self, line: Json) -> Json:
        """The statement of a line, put into the table where it is new."""
        start, end = line["line"], line["end_line"]
        place = f"{start}" if start == end else f"{start}-{end}"
        for letter in ("", *_LETTERS):
            known = self._rows.setdefault(place + letter, self._statement(place + letter, line))
            if known["code"] == line["code"]:
                return known
        raise ValueError("too many statements at one place")

    @staticmethod
    def _statement(at: str, line: Json) -> Json:
        return {"at": at, "code": line["code"], **{name: line[name] for name in _RUN if line[name]}}


_LETTERS: Final = "bcdefghij"
