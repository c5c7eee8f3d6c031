"""What somebody claims of a class, formulas line by line, as values; nothing here is believed yet."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from pydantic import Field, field_validator

from forwardbook.errors import FormulaError
from forwardbook.formula import Condition, Expr, parse
from forwardbook.schema import Formula, Record

PER_LINE: Final = ("flops", "pointwise_ops", "reads", "writes")
WHOLE: Final = ("weights", "boundary", "intermediates", "peak")
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
_LONGEST: Final = 2000
_parsed = lru_cache(maxsize=4096)(parse)


def _formula(text: str) -> str:
    try:
        if len(text) > _LONGEST:
            raise ValueError(f"a formula of more than {_LONGEST} characters")
        return parse(text).text()
    except FormulaError as error:
        raise ValueError(str(error)) from error


class ClaimedLine(Record):
    """The cost of one statement of forward(), all its executions in one call together."""

    line: int = Field(ge=1, description="The line in the file on which the statement begins.")
    flops: Formula = Field(default="0", description="2 for each multiply-accumulate of matrix products.")
    pointwise_ops: Formula = Field(default="0", description="One per output element; reductions per input.")
    reads: Formula = Field(default="0", description="Bytes read: the distinct bytes of each input once.")
    writes: Formula = Field(default="0", description="Bytes written: each output once; views write nothing.")

    @field_validator(*PER_LINE)
    @classmethod
    def _parses(cls, text: str) -> str:
        return _formula(text)


class Counted(Record):
    """A number that depends on data: how often a line runs in one call. It is counted when it is measured."""

    name: str = Field(description="Its name in formulas: lower case with underscores.")
    meaning: str = Field(max_length=300)
    line: int = Field(ge=1, description="A statement on one line of forward(); each time it runs counts 1.")

    @field_validator("name")
    @classmethod
    def _is_name(cls, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise ValueError("a name of lower case letters, digits and underscores was expected")
        return name


class Named(Record):
    """What a size of the formulas means, in words."""

    name: str = Field(max_length=80)
    meaning: str = Field(max_length=300)


class Claim(Record):
    """Formulas of one call of forward(); the totals of what is claimed per line are its sums."""

    lines: tuple[ClaimedLine, ...] = Field(min_length=1, max_length=400)
    weights: Formula = Field(description="Bytes of parameters and buffers touched.")
    boundary: Formula = Field(description="Distinct bytes of inputs, weights and results, each once.")
    intermediates: Formula = Field(description="Bytes of storages born in the call that are not its result.")
    peak: Formula = Field(description="The largest sum of live bytes beyond weights and inputs.")
    counted: tuple[Counted, ...] = Field(default=(), max_length=8)
    conditions: tuple[str, ...] = Field(default=(), max_length=16, description="Under which all this holds.")
    names: tuple[Named, ...] = Field(default=(), max_length=60)
    reasoning: str = Field(max_length=20_000, description="Why each line costs what it costs, in words.")

    @field_validator(*WHOLE)
    @classmethod
    def _parses(cls, text: str) -> str:
        return _formula(text)

    @field_validator("conditions")
    @classmethod
    def _are_conditions(cls, texts: tuple[str, ...]) -> tuple[str, ...]:
        try:
            return tuple(Condition.parse(text).text() for text in texts)
        except FormulaError as error:
            raise ValueError(str(error)) from error

    @field_validator("lines")
    @classmethod
    def _are_once(cls, lines: tuple[ClaimedLine, ...]) -> tuple[ClaimedLine, ...]:
        numbers = [one.line for one in lines]
        twice = sorted({n for n in numbers if numbers.count(n) > 1})
        if twice:
            raise ValueError(f"line {twice[0]} is claimed twice")
        return lines

    def total(self, quantity: str) -> Expr:
        """The sum over lines, or the formula of the whole."""
        if quantity in WHOLE:
            return _parsed(getattr(self, quantity))
        total = Expr.const(0)
        for one in self.lines:
            total = total + _parsed(getattr(one, quantity))
        return total

    def formulas(self) -> Iterator[tuple[str, int, Expr]]:
        """Every quantity of every line, then the totals with 0 for the line."""
        for one in self.lines:
            for quantity in PER_LINE:
                yield quantity, one.line, _parsed(getattr(one, quantity))
        for quantity in (*PER_LINE, *WHOLE):
            yield quantity, 0, self.total(quantity)

    def symbols(self) -> frozenset[str]:
        """Every name that formulas and conditions need."""
        found = {name for _, _, formula in self.formulas() for name in formula.symbols()}
        return frozenset(found.union(*(Condition.parse(text).symbols() for text in self.conditions)))
