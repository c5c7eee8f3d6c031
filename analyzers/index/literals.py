"""The pattern of a Python string literal, for reading source text without a parser."""

from __future__ import annotations

from typing import Final

STRING: Final = "|".join(  # written so that a match of a million characters needs no memory for each
    (
        r"\"\"\"[^\"\\]*(?:(?:\\.|\"(?!\"\"))[^\"\\]*)*\"\"\"",
        r"'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''",
        r"\"[^\"\\\n]*(?:\\.[^\"\\\n]*)*\"",
        r"'[^'\\\n]*(?:\\.[^'\\\n]*)*'",
    )
)
