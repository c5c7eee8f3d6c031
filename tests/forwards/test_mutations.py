"""Formulas changed at random: the proof rejects every one."""

import random
from collections import Counter
from dataclasses import replace

import pytest
import torch
from agreement import as_polynomial, derived, dtype_of, full_name, recipe_of
from annotated import Case, all_cases
from mutations import SIZES, Mutation, mutations, wrong_width

from forwardbook.analyzers.symbolic.patterns import Pattern
from forwardbook.pipeline.derivation.regimes import derive
from forwardbook.profiling.proof import PatternProof, prove

PROVED = [case for case in all_cases() if not case.value("wrong") and not case.values("unresolved")]
WITH_WEIGHTS = ("feed_forward", "read_once", "layer_norm", "grouped_experts", "cache_append", "lstm")
EACH = 3  # mutations of every pattern
POINTS = 6  # roundings of small sizes can agree at three points by chance


def rejections(
    case: Case, mutated: list[Pattern], dtype: torch.dtype, points: int = POINTS
) -> list[PatternProof]:
    """The proofs of patterns that hold a wrong formula."""
    hints = dict(case.sizes.values())
    return prove(recipe_of(case), mutated, hints, dtype, seed=3, points=points)


def check(found: list[Mutation], proofs: list[PatternProof]) -> None:
    """Every proof ran and found a difference."""
    for mutation, proof in zip(found, proofs, strict=True):
        assert not proof.exact and proof.differences, f"{mutation.kind}, {mutation.place}: {mutation.after}"


def changed(case: Case) -> list[Mutation]:
    """Every formula of a case changed at random, the same in every run."""
    rng, same = random.Random(case.name), as_polynomial(case)
    return [m for one in derived(case) for m in mutations(one.pattern, SIZES, EACH, same, rng)]


def with_other_widths(case: Case) -> list[Mutation]:
    """The formulas of a case in bfloat16, each with one width of an element in place of another."""
    (one,) = derive(recipe_of(case), torch.bfloat16, [full_name(case)], seed=1)
    return list(mutations(one.pattern, (wrong_width,), EACH, as_polynomial(case), random.Random(case.name)))


@pytest.mark.parametrize("case", PROVED, ids=lambda case: case.name)
def test_changed_formulas_are_rejected(case: Case) -> None:
    """A term dropped, a coefficient, a size, a rounding or a one too many in any formula is found out."""
    found = changed(case)

    check(found, rejections(case, [m.pattern for m in found], dtype_of(case)))


@pytest.mark.parametrize("name", WITH_WEIGHTS)
def test_changed_widths_are_rejected(name: str) -> None:
    """The width of activations in place of that of weights, or of the cache, is found out."""
    case = next(case for case in PROVED if case.name == name)
    found = with_other_widths(case)

    check(found, rejections(case, [m.pattern for m in found], torch.bfloat16))


@pytest.mark.parametrize(
    ("name", "about"),
    [
        ("window_shorter", "window"),
        ("window_longer", "window"),
        ("no_repetition", "num_key_value_heads"),
    ],
)
def test_missing_conditions_are_rejected(name: str, about: str) -> None:
    """A formula that lost the condition under which it holds is wrong at sizes that the condition forbids."""
    case = next(case for case in PROVED if case.name == name)
    (one,) = derived(case)
    kept = tuple(c for c in one.pattern.conditions if about not in c.symbols())
    (proof,) = rejections(case, [replace(one.pattern, conditions=kept)], dtype_of(case), points=20)

    assert kept != one.pattern.conditions
    assert not proof.exact and proof.differences


def test_enough_formulas_are_changed() -> None:
    """The tests above change over a hundred formulas, in every way there is."""
    found = [mutation for case in PROVED for mutation in changed(case)]
    found += [m for case in PROVED if case.name in WITH_WEIGHTS for m in with_other_widths(case)]
    kinds = Counter(mutation.kind for mutation in found)

    assert kinds.total() >= 100
    assert {change.__name__ for change in (*SIZES, wrong_width)} == set(kinds)
