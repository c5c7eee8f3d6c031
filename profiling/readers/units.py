"""Units as profilers write them in; base units (byte, second, hertz) and exact factors out."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

# Nsight Compute scales by 1000 throughout; 2024 and before spell units out, later versions abbreviate them.
PREFIXES: Final = {
    "": Decimal(1),
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "µ": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "k": Decimal("1e3"),
    "K": Decimal("1e3"),
    "M": Decimal("1e6"),
    "G": Decimal("1e9"),
    "T": Decimal("1e12"),
    "P": Decimal("1e15"),
}
_BASES: Final = {
    "byte": "byte",
    "bytes": "byte",
    "B": "byte",
    "b": "byte",
    "second": "second",
    "s": "second",
    "sec": "second",
    "hz": "hertz",
    "Hz": "hertz",
    "inst": "inst",
    "cycle": "cycle",
    "cycles": "cycle",
}
_ONE = re.compile(rf"([{''.join(p for p in PREFIXES if p)}]?)({'|'.join(_BASES)})")
# Time in nsys tables, as in `Total Time (ns)`; the factor leads to nanoseconds.
TIMES: Final = {
    "ns": Decimal(1),
    "nsec": Decimal(1),
    "us": Decimal(1000),
    "usec": Decimal(1000),
    "ms": Decimal(1000000),
    "msec": Decimal(1000000),
    "s": Decimal(1000000000),
    "sec": Decimal(1000000000),
}
BYTES: Final = {
    "B": Decimal(1),
    "KB": Decimal(1000),
    "MB": Decimal(1000000),
    "GB": Decimal(1000000000),
    "KiB": Decimal(1024),
    "MiB": Decimal(1048576),
    "GiB": Decimal(1073741824),
}


def base_unit(unit: str) -> tuple[str, Decimal]:
    """The base unit and the factor that leads to it; a unit that is not known stays, at factor 1.

    >>> base_unit("Gbyte/s")
    ('byte/second', Decimal('1E+9'))
    """
    text = unit.strip()
    if text == "cycle/nsecond":
        return "hertz", Decimal("1e9")
    if text == "cycle/second":
        return "hertz", Decimal(1)
    above, slash, below = text.partition("/")
    numerator = _part(above)
    if numerator is None:
        return text, Decimal(1)
    if not slash:
        return numerator
    denominator = _part(below) or (below, Decimal(1))
    return f"{numerator[0]}/{denominator[0]}", numerator[1] / denominator[1]


def _part(text: str) -> tuple[str, Decimal] | None:
    if text in _BASES:
        return _BASES[text], Decimal(1)
    found = _ONE.fullmatch(text)
    return (_BASES[found[2]], PREFIXES[found[1]]) if found else None


def number(value: Decimal) -> int | float:
    """A decimal as Python's whole number where it is one, else as a float."""
    whole = value.to_integral_value()
    return int(whole) if whole == value else float(value)
