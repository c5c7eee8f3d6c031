"""Numbers in, short texts for people out: counts by powers of ten, bytes by powers of two."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

_COUNTS: Final = ("", " k", " M", " G", " T", " P", " E", " Z")
_BYTES: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def count(value: int) -> str:
    """A number of operations: `618.48 G`.

    >>> count(618_475_290_624), count(999)
    ('618.48 G', '999')
    """
    step = 0
    while abs(value) >= 1000 ** (step + 1) and step < len(_COUNTS) - 1:
        step += 1
    return f"{value / 1000**step:.2f}{_COUNTS[step]}" if step else f"{value}"


def binary(value: int) -> str:
    """A number of bytes: `480.00 MiB`.

    >>> binary(503_316_480), binary(12)
    ('480.00 MiB', '12 B')
    """
    step = 0
    while abs(value) >= 1024 ** (step + 1) and step < len(_BYTES) - 1:
        step += 1
    return f"{value / 1024**step:.2f} {_BYTES[step]}" if step else f"{value} B"


def share(part: int | Fraction, whole: int | Fraction) -> str:
    """The part of the whole in percent, nothing where the whole is nothing."""
    return f"{float(Fraction(part) / Fraction(whole)):.1%}" if whole else ""
