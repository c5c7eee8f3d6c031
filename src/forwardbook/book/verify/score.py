"""The claims of pages in; for each kind of claim, how many came out in which state, out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from forwardbook.book.verify.claims import Claim, State


@dataclass(frozen=True, slots=True)
class Score:
    """The claims of one kind (or of all) by state."""

    kind: str
    supported: int
    contradicted: int
    stale: int
    unverified: int

    @property
    def total(self) -> int:
        return self.supported + self.contradicted + self.stale + self.unverified

    @property
    def truth(self) -> float | None:
        """The share that holds of what could be decided; None where nothing could."""
        decided = self.total - self.unverified
        return self.supported / decided if decided else None

    @property
    def checked(self) -> float | None:
        """The share that could be decided."""
        return (self.total - self.unverified) / self.total if self.total else None


def scores(claims: Iterable[Claim]) -> tuple[Score, ...]:
    """A score per kind, the kind with most claims first, and last the score of all."""
    counts: Counter[tuple[str, State]] = Counter((claim.kind, claim.state) for claim in claims)
    totals: Counter[str] = Counter()
    for (kind, _), count in counts.items():
        totals[kind] += count
    kinds = [
        _score(kind, counts) for kind, _ in sorted(totals.items(), key=lambda pair: (-pair[1], pair[0]))
    ]
    every: Counter[tuple[str, State]] = Counter()
    for (_, state), count in counts.items():
        every["all", state] += count
    return (*kinds, _score("all", every))


def _score(kind: str, counts: Counter[tuple[str, State]]) -> Score:
    return Score(
        kind,
        counts[kind, "supported"],
        counts[kind, "contradicted"],
        counts[kind, "stale"],
        counts[kind, "unverified"],
    )
