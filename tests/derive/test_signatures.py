"""Ways to call a class have names that say how they are called."""

from __future__ import annotations

import torch
from torch import nn

from forwardbook.analyzers.derive.boundary import Boundary
from forwardbook.analyzers.derive.handed import Handed
from forwardbook.pipeline.composed.facts import Facts, Handover, Layout, facts_of, path_of_caller
from forwardbook.pipeline.composed.signatures import LONGEST, names_of_ways

CACHE = Handover(cache=True, filled=True)


def names(*ways: Facts) -> list[str]:
    """What ways are called."""
    return [one.name for one in names_of_ways(ways)]


def test_names_of_ways_are_all_different() -> None:
    """Where nothing tells two apart they have numbers; none is a second default."""
    same = [Facts({"bias": False})] * 3
    named = names_of_ways([Facts({"bias": True}), *same])

    assert ["default", "bias=False", "bias=False, 2", "bias=False, 3"] == [one.name for one in named]
    assert ({"bias": True}, {"bias": False}) == (named[0].choices, named[1].choices)
    assert ["default", "another way", "another way, 2"] == names(*same)


def test_one_position_beside_a_cache_is_decode() -> None:
    """A longer input with a cache is told by the cache, and whatever else the cache brings is not told."""
    usual = Facts({"hidden_states": Layout(3), "past_key_values": None, "use_cache": False})
    long = Facts({"hidden_states": Layout(3), "past_key_values": CACHE, "use_cache": True})
    short = Facts({"hidden_states": Layout(3, (1,)), "past_key_values": CACHE, "use_cache": True})

    assert ["default", "with past_key_values", "decode"] == names(usual, long, short)


def test_a_call_without_a_cache_is_the_default() -> None:
    """Whichever was met first."""
    decode = Facts({"x": Layout(2, (1,)), "cache": CACHE})

    assert ["decode", "default"] == names(decode, Facts({"x": Layout(2), "cache": None}))


def test_the_plainest_tensors_are_the_default() -> None:
    """Whichever way was met first, an expanded tensor and one position are special."""
    several = [Layout(2, expanded=True), Layout(2, (0, 1)), Layout(2)]

    assert ["expanded input", "one sample, one position", "default"] == names(
        *(Facts({"input": layout}) for layout in several)
    )


def test_arguments_that_are_not_by_default_make_another_way() -> None:
    """The layer with a bias is the default though the one without came first."""

    def linear(bias: bool) -> Facts:
        built = Handed.of({"in_features": 2, "out_features": 3, "bias": bias})
        return facts_of(Boundary(nn.Linear, built, Handed.of({"input": torch.ones(4, 2)})))

    assert ["bias=False", "default"] == names(linear(False), linear(True))


def test_arguments_that_a_signature_does_not_name_stand_by_themselves() -> None:
    """A caller writes their names, not the one of the dictionary that collects them."""

    class Open(nn.Module):
        def forward(self, x: torch.Tensor, **extra: object) -> torch.Tensor:
            return x

    given = {"x": torch.ones(2, 3), "extra": {"mask": torch.ones(2, 3), "scale": 2.0}}
    boundary = Boundary(Open, Handed.of({}), Handed.of(given))

    assert {"x": Layout(2), "mask": Layout(2), "scale": 2.0} == facts_of(boundary).told
    assert ("mask", "x") == (path_of_caller(boundary, "extra.mask"), path_of_caller(boundary, "x"))


def test_a_tensor_that_is_given_or_not_comes_before_a_flag() -> None:
    """And a flag before a number; several tensors are one phrase."""
    usual = Facts({"layer_idx": 0, "is_causal": False, "mask": None, "bias": None})
    both = Facts({"layer_idx": 1, "is_causal": True, "mask": Layout(4), "bias": Layout(4)})
    one = Facts({"layer_idx": 1, "is_causal": True, "mask": Layout(4), "bias": None})
    none = Facts({"layer_idx": 1, "is_causal": True, "mask": None, "bias": None})

    assert ["default", "with mask", "with mask and bias", "is_causal=True"] == names(usual, one, both, none)


def test_what_two_ways_have_in_common_does_not_tell_them_apart() -> None:
    """The second fact of a name is one that differs from the way that has the first alone."""
    usual = Facts({"mask": None, "scaled": True, "causal": False})
    first = Facts({"mask": Layout(4), "scaled": False, "causal": False})
    second = Facts({"mask": Layout(4), "scaled": False, "causal": True})

    assert ["default", "with mask", "with mask, causal=True"] == names(usual, first, second)


def test_tensors_are_described_as_people_do() -> None:
    """By what is 1 long, how many dimensions there are, in which format and order they are."""
    several = [Layout(3), Layout(3, (1,)), Layout(2), Layout(3, dtype="float32"), Layout(3, (), True)]

    assert [
        "default",
        "one position",
        "2-D x",
        "float32 x",
        "transposed x",
    ] == names(*(Facts({"x": layout}) for layout in several))


def test_ways_that_differ_in_sizes_alone_are_told_by_these() -> None:
    """A square input is another way than any other."""
    shapes = [{"input": "batch_size x seq_len"}, {"input": "batch_size x batch_size"}]
    named = names_of_ways([Facts({"input": Layout(2)})] * 2, shapes)

    assert ["default", "input batch_size x batch_size"] == [one.name for one in named]


def test_no_name_is_long() -> None:
    """However long the words are that it is made of."""
    usual = Facts({f"argument_with_a_long_name_{place}": None for place in range(6)})
    ways = [Facts({name: Layout(3) for name in [*usual.told][:count]}) for count in range(1, 6)]
    text = Facts({**usual.told, "activation": "x" * 90})

    found = names(usual, *ways, text)

    assert len(found) == len(set(found))
    assert max(map(len, found)) <= LONGEST


def test_an_empty_cache_is_another_choice_than_a_filled_one() -> None:
    """What is handed over is the same object, and costs otherwise."""
    filled, empty = (Facts({"cache_params": Handover(cache=True, filled=one)}) for one in (True, False))

    first, second = names_of_ways([empty, filled])
    assert {"cache_params": "empty"} == first.choices
    assert {"cache_params": "filled"} == second.choices
    assert "with cache_params" == second.name
