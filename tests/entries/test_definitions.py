"""Definitions complete sizes forward and backward, and say what disagrees."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forwardbook.entries.definitions import DefinitionError, completed
from forwardbook.formula import parse

HEADS = {"hidden_size": parse("{num_heads} * {head_dim}"), "wide": parse("2 * {hidden_size} + {extra}")}
sizes = st.integers(1, 10**6)


@given(heads=sizes, dim=sizes, extra=st.integers(0, 100), data=st.data())
def test_any_sizes_from_which_the_others_follow_give_all_of_them(
    heads: int, dim: int, extra: int, data: st.DataObject
) -> None:
    every = {"num_heads": heads, "head_dim": dim, "hidden_size": heads * dim}
    every |= {"extra": extra, "wide": 2 * heads * dim + extra}
    hidden = [{"num_heads", "head_dim"}, {"num_heads", "hidden_size"}, {"head_dim", "hidden_size"}]
    enough = [*(one | {"extra"} for one in hidden), *(one | {"wide"} for one in hidden)]
    enough += [{"num_heads", "wide", "extra"}]
    chosen = data.draw(st.sampled_from(enough))
    assert completed(HEADS, {name: every[name] for name in chosen}) == every


def test_a_computed_size_that_is_not_the_given_one_is_refused_with_both() -> None:
    with pytest.raises(DefinitionError, match=r"head_dim = 64, num_heads = 12\) = 768, not 770"):
        completed(HEADS, {"num_heads": 12, "head_dim": 64, "hidden_size": 770})


def test_a_division_that_leaves_a_remainder_says_what_does_not_divide() -> None:
    said = r"hidden_size is num_heads \* head_dim, but hidden_size = 770 is no multiple of num_heads = 12"
    with pytest.raises(DefinitionError, match=said):
        completed(HEADS, {"num_heads": 12, "hidden_size": 770})


def test_a_size_that_would_be_negative_is_refused() -> None:
    with pytest.raises(DefinitionError, match="extra would be -4"):
        completed(HEADS, {"num_heads": 1, "head_dim": 3, "wide": 2})


def test_what_does_not_follow_stays_open() -> None:
    assert {"hidden_size": 768} == completed(HEADS, {"hidden_size": 768})
    assert {"n": 9} == completed({"n": parse("floor({m} / 2) * {m}")}, {"n": 9})
    assert {"n": 9, "m": 0} == completed({"n": parse("9 + {m} * {k}")}, {"n": 9, "m": 0})


def test_defaults_are_of_names_that_do_not_follow() -> None:
    defaults = {"hidden_size": 768, "num_heads": 12, "head_dim": 1}
    found = completed(HEADS, {"hidden_size": 96}, defaults)
    assert {"hidden_size": 96, "num_heads": 12, "head_dim": 8} == found


def test_names_defined_by_each_other_end() -> None:
    circle = {"a": parse("{b} + 1"), "b": parse("{a} + 1")}
    assert {"c": 1} == completed(circle, {"c": 1})
    with pytest.raises(DefinitionError, match="not"):
        completed(circle, {"a": 3})
