"""Whatever is made wrong on a true page is found, and nothing else is."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from forwardbook.book.verify import Sources, Verifier
from forwardbook.book.verify.corrupt import KINDS, Corruption, Corruptor

EACH = 40
WRONG = ("contradicted", "stale")


def test_true_pages_have_no_wrong_claim(verifier: Verifier, pages: dict[str, str]) -> None:
    """Of the pages written by hand every claim is supported."""
    states = {name: {claim.state for claim in verifier.verify(text, name)} for name, text in pages.items()}

    assert {"docs/shapes.md": {"supported"}, "docs/kernels.md": {"supported"}} == states


@pytest.mark.parametrize("kind", KINDS)
def test_corruptions_are_contradicted(
    kind: str, verifier: Verifier, pages: dict[str, str], sources: Sources
) -> None:
    """Every corruption of a kind, at places drawn with a fixed seed, makes a claim contradicted."""
    rng = random.Random(20260823)
    corruptors = {name: Corruptor(text, _defined(sources)) for name, text in pages.items()}
    drawn = [
        (name, one.draw(kind, rng))
        for name, one in sorted(corruptors.items())
        if kind in one.sites
        for _ in range(EACH)
    ]
    made = [(name, corruption) for name, corruption in drawn if corruption is not None]
    missed = [(name, one) for name, one in made if not _is_found(one, name, pages[name], verifier)]

    assert len(made) >= EACH // 2
    assert [] == missed


def _is_found(one: Corruption, name: str, text: str, verifier: Verifier) -> bool:
    return any(claim.state in WRONG for claim in verifier.verify(one.apply(text), name))


def _defined(sources: Sources) -> Callable[[str, int, int], bool]:
    definitions = [(path, one) for path, facts in sources.files.items() for one in facts.definitions]
    spans = {
        (path.rpartition("/")[2], span.start, span.end)
        for path, one in definitions
        for span in (one.span, one.decorated)
    }
    return lambda path, start, end: (path.rpartition("/")[2], start, end) in spans


def test_the_claim_is_on_the_corrupted_line(verifier: Verifier, pages: dict[str, str]) -> None:
    """A wrong count is reported on its own line, with the count that is right."""
    text = pages["docs/shapes.md"].replace("| Lines | 58 |", "| Lines | 59 |")
    wrong = [claim for claim in verifier.verify(text, "docs/shapes.md") if claim.state in WRONG]

    assert [("count", "there are 58")] == [(claim.kind, claim.truth) for claim in wrong]
    assert "| Lines | 59 |" in text.split("\n")[wrong[0].line - 1]


def test_stale_where_the_source_has_changed(verifier: Verifier, pages: dict[str, str]) -> None:
    """A claim about a file that is not the one the page was written from is stale, not contradicted."""
    text = pages["docs/shapes.md"].replace("cc693bbc928179f3", "0123456789abcdef")
    text = text.replace("`shapes/flat.py:36-38`", "`shapes/flat.py:35-38`")
    wrong = [claim for claim in verifier.verify(text, "docs/shapes.md") if claim.state in WRONG]

    assert [("span", "stale")] == [(claim.kind, claim.state) for claim in wrong]
