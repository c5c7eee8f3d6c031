"""What kernels of the CPU have for themselves is told by operation; all else of a call must agree."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import pytest
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from forwardbook.analyzers.instances.recipe import InputMaker, Inputs, Recipe, Sizes
from forwardbook.analyzers.symbolic.patterns import find_call
from forwardbook.analyzers.symbolic.recorder import Widths
from forwardbook.analyzers.symbolic.run import run_measured
from forwardbook.analyzers.symbolic.summary import summarise
from forwardbook.profiling.case import Case
from forwardbook.profiling.judges import ask
from forwardbook.schema import Judge


class Called(nn.Module):
    """Calls a function of one input, and adds nothing."""

    function: Callable[[Tensor], object]

    def forward(self, x: Tensor) -> object:
        return type(self).function(x)


def peak_of(function: Callable[[Tensor], object], shape: tuple[int, ...], wrong: int = 0) -> Judge:
    """What the allocator says of the peak of a call, or of one that is so many bytes off."""
    kind = type("Called", (Called,), {"function": staticmethod(function), "__module__": __name__})

    def inputs(sizes: Sizes, module: nn.Module, maker: InputMaker) -> Inputs:
        return (maker.floats(shape),), {}

    recipe = Recipe(f"{__name__}.Called", "tests", lambda sizes: cast("nn.Module", kind()), inputs)
    trace, _ = run_measured(recipe, {}, torch.float32, Widths(4, 4, 4))
    call = find_call(trace, "", 0)
    assert call is not None
    quantities = summarise(trace, call, {}).quantities()
    measured = {name: int(str(size)) for name, size in quantities.items()}
    measured["peak"] += wrong
    case = Case(recipe, {}, torch.float32, "", 0, measured)
    judges = ask(case, [operation.name for operation in trace.of(call)])
    return next(judge for judge in judges if judge.quantity == "peak")


def conjugate(x: Tensor) -> Tensor:
    return torch.complex(x, x).conj()


KERNELS: dict[str, tuple[Callable[[Tensor], object], tuple[int, ...]]] = {
    "aten.sort": (lambda x: torch.rand(3, 5, device=x.device).argsort(), (3, 5)),
    "aten.median": (lambda x: x.median(1), (3, 5, 7)),
    "aten.kthvalue": (lambda x: x.kthvalue(2), (3, 5, 7)),
    "aten.roll": (lambda x: x.roll((1, 2), (1, 2)), (3, 5, 7)),
    "aten.bmm": (lambda x: torch.bmm(conjugate(x), torch.complex(x, x).mT.clone()), (3, 5, 7)),
    "aten.mm": (lambda x: x[:, ::2] @ x[:4, :3], (5, 8)),
    "aten._softmax": (lambda x: x.transpose(0, 2).softmax(-1), (3, 5, 7)),
    "aten.tril": (lambda x: x.transpose(0, 1).tril(), (3, 5, 7)),
    "aten.avg_pool2d": (lambda x: nn.functional.avg_pool2d(x.mT, 2), (2, 4, 6, 8)),
    "aten.scatter_reduce": (
        lambda x: x.scatter_reduce(1, torch.zeros(3, 5, dtype=torch.long, device=x.device), x, "mean"),
        (3, 5),
    ),
    "aten._fft_c2r": (lambda x: torch.fft.irfft2(torch.complex(x, x)), (3, 5, 7)),
    "aten.linalg_inv_ex": (lambda x: torch.linalg.inv(x + 9 * torch.eye(5, device=x.device)), (3, 5, 5)),
    "aten.logsumexp": (lambda x: x.logsumexp(-1), (3, 5, 7)),
    "aten.std": (lambda x: x.std(), (3, 5, 7)),
    "aten.repeat": (lambda x: x.repeat(2, 1, 3), (3, 5, 7)),
    "aten.abs": (lambda x: torch.complex(x, x).abs(), (5, 7)),
    "aten._embedding_bag_forward_only": (
        lambda x: nn.functional.embedding_bag(torch.ones(3, 5, dtype=torch.long, device=x.device), x),
        (6, 4),
    ),
    "torch.get_rng_state": (lambda x: checkpoint(torch.tanh, x.exp(), use_reentrant=False), (3, 5)),
}


@pytest.mark.parametrize("name", KERNELS)
def test_what_a_kernel_has_for_itself_is_told_under_its_name(name: str) -> None:
    """The peak of the call is agreed on without it."""
    judge = peak_of(*KERNELS[name])
    assert (1, 1) == (judge.agreed, judge.asked)
    assert f"{name} (" in judge.remark


@pytest.mark.parametrize("name", ["aten.sort", "aten.mm", "aten.roll", "aten.std", "torch.get_rng_state"])
def test_beside_such_a_kernel_a_wrong_peak_is_contradicted(name: str) -> None:
    """Four bytes more than there are is a disagreement."""
    assert peak_of(*KERNELS[name], wrong=4).disagrees


def test_a_conjugate_that_is_written_out_is_an_operation() -> None:
    """Of a kernel that takes none, torch copies first: that is in both numbers, and in no workspace."""
    judge = peak_of(lambda x: torch.fft.fft(conjugate(x)), (3, 5, 7))
    assert (1, 1) == (judge.agreed, judge.asked)
    # the numbers, then the copy as well, then the result in place of the copy's sources
    assert 3 * 5 * 7 * 8 * 3 == judge.ours == judge.theirs
