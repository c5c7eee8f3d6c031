"""Mermaid's verdicts on diagrams, kept between runs for as long as the same Mermaid gives them."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from importlib.metadata import PackageNotFoundError, version

from forwardbook.book.mermaid.grammar import Grammar, Parsed
from forwardbook.workspace.kept_lines import KeptLines


class Verdicts(MutableMapping[str, Parsed]):
    """Verdicts by the key of their diagram; each new one is kept at once."""

    def __init__(self, kept: KeptLines) -> None:
        self._kept = kept

    def __getitem__(self, key: str) -> Parsed:
        match self._kept.values[key]:
            case [bool(ok), int(line), str(message)]:
                return Parsed(ok, line, message)
        raise KeyError(key)

    def __setitem__(self, key: str, parsed: Parsed) -> None:
        self._kept.keep(key, [parsed.ok, parsed.line, parsed.message])

    def __delitem__(self, key: str) -> None:
        del self._kept.values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kept.values)

    def __len__(self) -> int:
        return len(self._kept.values)


def kept_grammar() -> Grammar:
    """Mermaid's grammar with the verdicts of earlier runs."""
    return Grammar(Verdicts(KeptLines(f"mermaid-{_version()}")))


def _version() -> str:
    """Which Mermaid judges: the package that carries it."""
    try:
        return version("mermaidx")
    except PackageNotFoundError:
        return "none"
