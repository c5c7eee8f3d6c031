"""A share of a peak in, what a page says of it out: a small one is not called 0."""

from __future__ import annotations

SMALL = 0.01


def share(part: float | None) -> str:
    """In percent: one decimal, and two digits of what is below one percent."""
    if part is None:
        return "not known"
    return f"{100 * part:.2g}%" if 0 < part < SMALL else f"{part:.1%}"
