"""Arguments of operations, nests of containers: what is read of them and what is put in their place."""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils._pytree import tree_leaves, tree_map

from forwardbook.analyzers.symbolic.shadows import leaves_in, mapped


class Pair(NamedTuple):
    """Two of anything."""

    first: object
    second: object


PLAIN = st.one_of(st.integers(), st.floats(allow_nan=False), st.none(), st.booleans(), st.text(max_size=2))
LEAVES = st.one_of(PLAIN, st.just(torch.float32))
NESTS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.text(max_size=2), inner, max_size=3),
        st.dictionaries(st.text(max_size=2), inner, max_size=3).map(OrderedDict),
        st.tuples(inner, inner).map(lambda two: Pair(*two)),
        st.lists(st.integers(0, 9), max_size=3).map(torch.Size),
    ),
    max_leaves=8,
)


def said(leaf: object) -> object:
    """A leaf that none is equal to before."""
    return ("said", str(leaf))


@given(NESTS)
def test_nests_are_read_and_changed_as_torch_does_it(nest: object) -> None:
    """Leaves in their order, and containers of the same kinds, named tuples and sizes among them."""
    assert tree_leaves(nest) == leaves_in(nest)
    changed, torchs = mapped(said, nest), tree_map(said, nest)
    assert (torchs, type(torchs)) == (changed, type(changed))
