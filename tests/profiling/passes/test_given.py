"""What a call was given: the tensors that must outlive it while its peak is measured."""

from __future__ import annotations

import torch
from torch import nn
from transformers import DynamicCache

from forwardbook.profiling.passes.memory import tensors_in


def test_keys_and_values_of_a_cache_are_found_once() -> None:
    """Those of every layer, beside plain arguments, in lists and mappings, each once."""
    cache = DynamicCache()
    ids = torch.zeros(1, 3)
    for layer in range(2):
        cache.update(torch.zeros(1, 2, 3, 4), torch.ones(1, 2, 3, 4), layer)
    found = list(tensors_in(((ids,), {"past_key_values": cache, "again": [ids, cache]})))

    assert 5 == len(found)
    assert 5 == len({id(one) for one in found})


def test_weights_are_not_given() -> None:
    """A module among the arguments keeps its parameters to itself."""
    assert [] == list(tensors_in({"head": nn.Linear(2, 2)}))
