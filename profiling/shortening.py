"""A long text in, as much of it as there is room for out: kernels' names begin alike, and their ends tell."""

from __future__ import annotations


def shortened(text: str, width: int) -> str:
    """A long text without its middle: beginnings of kernels' names are alike, ends tell them apart."""
    kept = width - 3
    return text if len(text) <= width else f"{text[: kept - kept // 3]}...{text[-(kept // 3) :]}"
