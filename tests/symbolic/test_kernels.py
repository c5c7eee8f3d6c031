"""Shape functions in C++ under meta tensors: they say what kernels on the CPU do."""

import sys
from collections.abc import Callable

import pytest
import torch

from forwardbook.analyzers.symbolic.kernels import native_shapes

OPERATIONS: dict[str, Callable[[torch.Tensor, torch.Tensor], object]] = {
    "mul": lambda x, y: x * y,
    "add a number": lambda x, y: x + 2,
    "true division of integers": lambda x, y: x.to(torch.int32) / 2,
    "pow": lambda x, y: x.pow(2),
    "mean": lambda x, y: x.mean(-1, keepdim=True),
    "sum of booleans": lambda x, y: (x > y).sum(),
    "softmax": lambda x, y: x.transpose(0, 1).softmax(-1),
    "cat": lambda x, y: torch.cat([x, x.half()], 1),
    "where": lambda x, y: torch.where(x > y, x, 0.0),
    "matmul": lambda x, y: x.transpose(1, 2) @ x,
    "layer norm": lambda x, y: torch.nn.functional.layer_norm(x, (5,)),
    "cumsum": lambda x, y: x.to(torch.uint8).cumsum(1),
    "topk": lambda x, y: x.topk(2),
    "index": lambda x, y: x[:, torch.zeros(2, dtype=torch.long, device=x.device)],
    "interpolate": lambda x, y: torch.nn.functional.interpolate(x, size=9, mode="linear"),
    "convolution": lambda x, y: torch.conv1d(x, x.new_empty((4, 3, 2))),
    "arange": lambda x, y: torch.arange(7, device=x.device),
    "in place": lambda x, y: x.clone().mul_(y),
}


def _layout(out: object) -> list[tuple[object, ...]]:
    leaves = out if isinstance(out, tuple) else (out,)
    return [(tuple(t.shape), t.stride(), t.dtype) for t in leaves]


@pytest.mark.parametrize("name", OPERATIONS)
def test_meta_is_laid_out_as_on_the_cpu(name: str) -> None:
    """Sizes, strides and dtypes of results are those of the kernels that compute."""
    native_shapes()
    laid = []
    for device in ("cpu", "meta"):
        x, y = torch.ones(2, 3, 5, device=device), torch.ones(3, 1, device=device)
        laid.append(_layout(OPERATIONS[name](x, y)))

    assert laid[0] == laid[1]


def test_no_decomposition_is_in_between() -> None:
    """An operation for which torch has a shape function in C++ runs no Python."""
    assert native_shapes()
    x = torch.ones(2, device="meta")
    called: list[str] = []
    sys.setprofile(lambda frame, event, arg: called.append(event))
    torch.ops.aten.mul.Tensor(x, x)
    sys.setprofile(None)

    assert called.count("call") <= 1  # that of the operator itself
