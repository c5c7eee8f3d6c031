"""Numbers as profilers write them, in any locale, out as exact decimals; doubtful ones are refused.

`20.466` is twenty thousand in German and twenty in English. A locale is taken from numbers of the same file
that can be read in one way only; where there are none, it has to be said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

SPACES: Final = "\u00a0\u202f\u2009 "
_GROUP = rf"[{SPACES}]"
_PLAIN = re.compile(r"[+-]?\d+(?:[eE][+-]?\d+)?")
_POINT = re.compile(r"[+-]?\d+\.\d+(?:[eE][+-]?\d+)?")
_ABSENT: Final = frozenset({"", "n/a", "nan", "-", "none", "(null)", "n/m"})


@dataclass(frozen=True)
class Style:
    """How a locale writes numbers: what groups digits and what comes before the fraction."""

    name: str
    groups: str
    mark: str

    def fits(self, text: str) -> bool:
        """Whether the text is a number in this style."""
        group = _GROUP if self.groups == " " else re.escape(self.groups)
        whole = rf"(?:\d{{1,3}}(?:{group}\d{{3}})+|\d+)" if self.groups else r"\d+"
        return re.fullmatch(rf"[+-]?{whole}(?:{re.escape(self.mark)}\d+)?(?:[eE][+-]?\d+)?", text) is not None

    def read(self, text: str) -> Decimal:
        """The value of a text that fits."""
        for one in SPACES if self.groups == " " else self.groups:
            text = text.replace(one, "")
        return Decimal(text.replace(self.mark, "."))


STYLES: Final = {
    one.name: one
    for one in (Style("C", "", "."), Style("en", ",", "."), Style("de", ".", ","), Style("fr", " ", ","))
}


def absent(text: str) -> bool:
    """Whether the text says that nothing was collected."""
    return text.strip().lower() in _ABSENT


def certain(text: str) -> bool:
    """Whether the text is the same number in every style that it fits."""
    values = {style.read(text) for style in STYLES.values() if style.fits(text)}
    return len(values) == 1


def style_of(texts: Iterable[str], said: str | None = None) -> tuple[Style | None, str]:
    """The one style of all these numbers, or None and the number that leaves it in doubt.

    A style that was said is taken at its word.
    """
    if said is not None:
        return STYLES[said], ""
    kept = [text for text in texts if not absent(text) and looks_numeric(text)]
    fitting = [style for style in STYLES.values() if all(style.fits(text) for text in kept)]
    if not fitting:
        return None, next((t for t in kept if not STYLES["en"].fits(t)), kept[0] if kept else "")
    readings = {text: {style.read(text) for style in fitting} for text in kept}
    doubtful = next((text for text, values in readings.items() if len(values) > 1), "")
    return (None, doubtful) if doubtful else (fitting[0], "")


def looks_numeric(text: str) -> bool:
    """Whether the text has digits and nothing but signs that numbers are written with."""
    return bool(re.fullmatch(rf"[+-]?\d[\d.,{SPACES}]*(?:[eE][+-]?\d+)?", text.strip()))


def plain(text: str) -> int | float | None:
    """A number as tools write it that know no locale (nsys); None where there is none.

    Raises:
        ValueError: for text that is neither a number nor a way of saying that there is none.
    """
    text = text.strip()
    if absent(text):
        return None
    if _PLAIN.fullmatch(text) and "e" not in text.lower():
        return int(text)
    if _POINT.fullmatch(text) or _PLAIN.fullmatch(text):
        return float(text)
    raise ValueError(f"{text!r} is no number")
