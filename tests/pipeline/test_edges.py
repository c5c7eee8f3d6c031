"""Sizes at their least, a padding of 0, a sequence of 1: each answer against a run of the module itself."""

from __future__ import annotations

from functools import lru_cache

import pytest
import torch
from torch import nn

import forwardbook
from forwardbook import registry
from forwardbook.calculator import Calculator, CalculatorError
from forwardbook.pipeline.child.request import Request
from forwardbook.pipeline.child.work import work
from forwardbook.schema import QUANTITIES, Entry

WIDTHS = {"w_dtype_bytes": 4, "a_dtype_bytes": 4}


@lru_cache(maxsize=8)
def _calculator(name: str) -> Calculator:
    answer = work(Request(target=f"torch.nn.{name}", derive="symbolic", flips=False))
    return registry.from_entry(Entry.model_validate(answer.entry))


def _costs(name: str, **sizes: int) -> dict[str, int]:
    calculator = _calculator(name)
    names = {n for regime in calculator.regimes for n in regime.names}
    costs = calculator.costs_at({**sizes, **{n: w for n, w in WIDTHS.items() if n in names}})
    return {quantity: getattr(costs, quantity) for quantity in QUANTITIES}


def _live(module: nn.Module, *shapes: tuple[int, ...]) -> dict[str, int]:
    report = forwardbook.cost(module, *(torch.rand(shape) for shape in shapes))
    return {quantity: getattr(report, quantity) for quantity in QUANTITIES}


@pytest.mark.parametrize(("batch", "padding"), [(1, 0), (2, 0), (1, 1), (3, 1)])
def test_a_pool_without_padding_and_one_with_cost_what_they_do_live(batch: int, padding: int) -> None:
    given = {
        "batch_size": batch,
        "channels": 4,
        "length": 20,
        "kernel_size": 3,
        "stride": 1,
        "padding": padding,
    }

    assert _costs("AvgPool1d", **given) == _live(nn.AvgPool1d(3, 1, padding), (batch, 4, 20))


@pytest.mark.parametrize("factor", [2, 3])
def test_the_channels_of_a_pixel_shuffle_are_those_of_its_input_for_any_factor(factor: int) -> None:
    channels = 5 * factor * factor
    given = {"batch_size": 3, "channels": channels, "upscale_factor": factor, "height": 16, "width": 7}

    assert _costs("PixelShuffle", **given) == _live(nn.PixelShuffle(factor), (3, channels, 16, 7))


def test_a_pixel_shuffle_refuses_channels_that_torch_refuses() -> None:
    with pytest.raises(CalculatorError, match="does not hold"):
        _costs("PixelShuffle", batch_size=3, channels=27, upscale_factor=2, height=16, width=7)


@pytest.mark.parametrize("size", [1, 5, 31])
def test_an_adaptive_pool_may_give_more_than_it_got(size: int) -> None:
    given = {"batch_size": 2, "channels": 3, "length": 16, "output_size": size}

    assert _costs("AdaptiveMaxPool1d", **given) == _live(nn.AdaptiveMaxPool1d(size), (2, 3, 16))


@pytest.mark.parametrize("groups", [1, 4, 16])
def test_a_channel_shuffle_costs_what_it_does_live_for_any_groups(groups: int) -> None:
    given = {"batch_size": 2, "channels": 16, "groups": groups, "height": 5, "width": 7}

    assert _costs("ChannelShuffle", **given) == _live(nn.ChannelShuffle(groups), (2, 16, 5, 7))
