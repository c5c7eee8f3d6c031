"""`flops = "< 3.1e12 @ batch_size=1, seq_len=2048"` in; out a budget, and whether it is kept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from forwardbook.errors import ForwardbookError
from forwardbook.formula.condition import COMPARISONS
from forwardbook.schema import QUANTITIES

_UNITS: Final = {
    "": 1,
    **{f"{letter}B": 1000**power for power, letter in enumerate(("", "k", "M", "G", "T", "P"))},
    **{f"{letter}iB": 1024**power for power, letter in enumerate(("", "K", "M", "G", "T", "P")) if letter},
    **{letter: 1000**power for power, letter in enumerate(("", "k", "M", "G", "T", "P")) if letter},
}
_FORM: Final = re.compile(
    r"\s*(?P<sign><=|>=|==|<|>)\s*(?P<number>[0-9][0-9_]*(?:\.[0-9]+)?(?:[eE][+]?[0-9]{1,3})?)\s*"
    r"(?P<unit>[A-Za-z]*)\s*(?:@(?P<sizes>.*))?",
    re.DOTALL,
)
_SIZE: Final = re.compile(r"\s*([A-Za-z_][\w.]*)\s*=\s*([0-9][0-9_]*)\s*")


class BudgetError(ForwardbookError):
    """A budget that is not understood, or that cannot be evaluated; the message says why."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What a quantity of a class may be at most, at given sizes; `text` is as it was written."""

    name: str
    quantity: str
    sign: str
    bound: Fraction
    sizes: Mapping[str, int]
    text: str

    def holds(self, value: int) -> bool:
        """Whether a value keeps it."""
        return COMPARISONS[self.sign](Fraction(value), self.bound)


def parse_budget(name: str, quantity: str, text: object) -> Budget:
    """A budget from its class, its quantity and its text.

    Raises:
        BudgetError: where the quantity is unknown or the text has another form.
    """
    place = f'budgets."{name}".{quantity}'
    if quantity not in QUANTITIES:
        raise BudgetError(f"{place}: there is no such quantity; there are {', '.join(QUANTITIES)}")
    found = _FORM.fullmatch(text) if isinstance(text, str) else None
    if found is None or found["unit"] not in _UNITS:
        raise BudgetError(
            f"{place} = {text!r}: a comparison, a number and sizes were expected, such as "
            '"< 3.1e12 @ batch_size=1, seq_len=2048" or "<= 80 GiB"'
        )
    assert isinstance(text, str)
    bound = Fraction(found["number"].replace("_", "")) * _UNITS[found["unit"]]
    return Budget(name, quantity, found["sign"], bound, _sizes(place, found["sizes"] or ""), text.strip())


def _sizes(place: str, text: str) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for part in filter(str.strip, text.split(",")):
        found = _SIZE.fullmatch(part)
        if not found:
            raise BudgetError(f"{place}: {part.strip()!r} after @ is no NAME=NUMBER, such as seq_len=2048")
        sizes[found[1]] = int(found[2].replace("_", ""))
    return sizes
