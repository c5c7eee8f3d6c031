"""Claims that are right at small sizes alone: none of them passes, and right ones do."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.schema import PROVED

ROOT = str(Path(__file__).resolve().parents[2])
sys.path.append(ROOT)
from benchmarks.attack_claims import judged, mutant, recipes  # noqa: E402 - found by the line above
from benchmarks.attacked_classes import CLASSES, LONG, SETTLE, WINDOW, Attacked  # noqa: E402

sys.path.remove(ROOT)


@pytest.fixture(scope="module")
def ways(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Recipe]]:
    """A way to call each class."""
    path = [*sys.path]
    yield recipes(tmp_path_factory.mktemp("classes"))
    sys.path[:] = path
    for one in CLASSES:
        sys.modules.pop(one.name, None)


def with_flops(one: Attacked, text: str) -> dict[str, Any]:
    """The claim with more flops in its last line."""
    *lines, last = one.claim["lines"]
    return {**one.claim, "lines": [*lines, {**last, "flops": f"{last.get('flops', '0')} + {text}"}]}


@pytest.mark.parametrize("one", [SETTLE, LONG, WINDOW], ids=lambda one: one.name)
def test_right_claim_holds(one: Attacked, ways: dict[str, Recipe]) -> None:
    """A right claim passes, and its points lie on both sides of every threshold of it."""
    verdict, found = judged(one, one.claim, ways, 0)

    assert ("bounded" if one is SETTLE else "exact") == verdict, (found.reason, found.differences)
    lengths = [point.sizes["seq_len"] for point in found.points]
    assert max(lengths) > 100_000
    assert one is SETTLE or (min(lengths) <= 4096 and {4096, 4097, 5000, 5001} & {*lengths})


@pytest.mark.parametrize(
    ("text", "differs"),
    [
        ("floor({seq_len} / 4096) * {hidden_size}", True),
        ("max(0, {seq_len} - 8192) * 500", True),
        ("max(0, 2 - {seq_len})", True),
        ("{seq_len} - {seq_len} % 7919", True),
        ("1 - min(1, ({seq_len} - 5000) * ({seq_len} - 5000))", True),
        ("({seq_len} - 2) * ({seq_len} - 3) * ({seq_len} - 4)", True),
        ("floor({a_dtype_bytes} / 8)", True),
    ],
)
def test_hidden_term_is_measured(text: str, differs: bool, ways: dict[str, Recipe]) -> None:
    """A term that is zero at small sizes is seen at those where it is not."""
    verdict, found = judged(LONG, with_flops(LONG, text), ways, 0)

    assert ("wrong", differs) == (verdict, bool(found.differences)), found.reason


@pytest.mark.parametrize(
    ("one", "text", "atom"),
    [
        (LONG, "floor({seq_len} / 1000000000000)", "floor({seq_len} / 1000000000000)"),
        (SETTLE, "max(0, {steps} - 4)", "max({steps} - 4, 0)"),
        (SETTLE, "floor({steps} / 4096)", "floor({steps} / 4096)"),
    ],
)
def test_what_nothing_shows_is_refused_by_name(
    one: Attacked, text: str, atom: str, ways: dict[str, Recipe]
) -> None:
    """What takes one value at all sizes that can be run is no part of a claim: the refusal names it."""
    verdict, found = judged(one, with_flops(one, text), ways, 0)

    assert "unproved" == verdict
    assert found.reason.startswith((atom, text)), found.reason


def test_no_mutation_of_right_claims_passes(ways: dict[str, Recipe]) -> None:
    """Of right claims with one hidden term added, dropped or changed none is held to be right."""
    rng = random.Random(7)
    for number in range(8):
        made = mutant(rng)
        verdict, _ = judged(made.attacked, made.claim, ways, number)
        assert verdict not in PROVED, (made.where, made.change)
