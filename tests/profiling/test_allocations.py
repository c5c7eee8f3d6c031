"""Storages of a call from their events: what is alive, what is a kernel's own, what a number leaves."""

from __future__ import annotations

import torch
from torch.profiler import ProfilerActivity, profile, record_function

from forwardbook.profiling.allocations import Allocations, Life, Span, allocations_in

MM, ADD, TO = Span("aten::mm", 10, 20), Span("aten::add", 30, 40), Span("aten::to", 31, 34)


def test_the_peak_is_the_most_that_is_alive_at_once() -> None:
    """What has died makes room; what is never released stays."""
    lives = (Life(10, 1, 3), Life(20, 2, None), Life(5, 4, None))
    assert 30 == Allocations(lives, ()).peak()


def test_a_workspace_is_born_and_dies_within_its_operation() -> None:
    """What outlives the operation is its result, what another makes in between is not its own."""
    own, result, other = Life(7, 11, 15, (MM,)), Life(8, 12, 25, (MM,)), Life(9, 31, 35, (ADD,))
    assert {own} == Allocations((own, result, other), (MM, ADD)).workspaces([MM])


def test_a_number_meets_one_operation() -> None:
    """8 bytes that one operation ran beside are a number; that live longer, or are more, are a tensor."""
    number, longer, larger = Life(8, 29, 41), Life(8, 5, 50), Life(12, 29, 42)
    assert {number} == Allocations((number, longer, larger), (MM, ADD, TO)).numbers


def test_a_cast_is_within_the_operation_that_wants_it() -> None:
    """A cast by itself is an operation like any other."""
    inside, alone = Life(4, 32, 39, (ADD, TO)), Life(4, 51, 53, (Span("aten::to", 50, 55),))
    assert {inside} == Allocations((inside, alone), (ADD, TO)).casts({"aten::add"})


def test_lives_of_a_real_call() -> None:
    """1 + x.abs(): two tensors of 96 bytes live at once, and the 1 is none of them."""
    x = torch.zeros(3, 8)
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
        with record_function("the call"):
            out = 1 + x.abs()
        del out
    assert profiled.profiler is not None and profiled.profiler.kineto_results is not None
    events = profiled.profiler.kineto_results.experimental_event_tree()
    [found] = allocations_in(events, ["the call"])
    tensors = found.without(found.numbers | found.casts({"aten::add"}))
    assert ([96, 96], 192) == ([one.size for one in tensors.lives], tensors.peak())
    assert "aten::abs" in {span.name for span in tensors.lives[0].within}
