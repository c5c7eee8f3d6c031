"""Sizes that small tensors hold stay formulas until Python reads them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic.ledger import Ledger
from forwardbook.analyzers.symbolic.run import run_symbolically
from forwardbook.analyzers.symbolic.sizes_written import as_nested, hold, sizes_in, written_out
from forwardbook.formula import Expr
from forwardbook.pipeline.derivation.explore import regimes_of


class Padding(nn.Module):
    """A convolution; what pads its input to whole windows is computed in tensors of one element."""

    def __init__(self, width: int, kernel_size: int, stride: int) -> None:
        super().__init__()
        self.conv = nn.Conv1d(width, width, kernel_size, stride)
        self.register_buffer("stride", torch.tensor(stride), persistent=False)
        self.register_buffer("kernel_size", torch.tensor(kernel_size), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        length = x.shape[-1]
        windows = torch.ceil((length - self.kernel_size) / self.stride).to(torch.int64) + 1
        ideal = (windows - 1) * self.stride + self.kernel_size
        return self.conv(F.pad(x, (0, ideal - length)))  # type: ignore[no-any-return, arg-type]


def test_padding_computed_in_tensors_has_a_formula(recipe_from: Callable[..., Recipe]) -> None:
    """As many windows as cover the length are multiplied: proved with kernel, stride and length as names."""
    recipe = recipe_from(
        Padding,
        lambda n: Padding(n.width, n.kernel_size, n.stride),
        lambda n, maker: (maker.floats((n.batch_size, n.width, n.length)),),
        conditions=("{kernel_size} <= {length}",),
        **{"batch_size": 2, "width": 3, "length": 41, "kernel_size": 5, "stride": 3},
    )
    exact = [one for one in regimes_of(recipe, seed=1, points=3, explore=False) if one.exact]
    assert exact
    for length, kernel, stride in ((40, 5, 3), (41, 5, 3), (97, 8, 4), (31, 2, 7)):
        sizes = {"batch_size": 2, "width": 3, "length": length, "kernel_size": kernel, "stride": stride}
        windows = 1 + -(-(length - kernel) // stride)
        for one in exact:
            if all(condition.is_met(sizes) for condition in one.derived.pattern.conditions):
                flops = Expr.of(one.derived.pattern.summary.totals.flops)
                assert flops.evaluate(sizes) == 2 * 2 * 3 * 3 * kernel * windows


class Images(nn.Module):
    """Rows of patches of several images, told apart by where the grids say that each begins."""

    def forward(self, x: Tensor, grids: Tensor) -> Tensor:
        lengths = torch.repeat_interleave(grids[:, 1] * grids[:, 2], grids[:, 0])
        starts = F.pad(lengths.cumsum(dim=0, dtype=torch.int32), (1, 0), value=0)
        parts = torch.split(x, (starts[1:] - starts[:-1]).tolist())
        return torch.cat([part @ part.T for part in parts[:1]] + [parts[1] @ parts[0].T])


def test_images_that_grids_tell_apart_are_multiplied_by_formulas(
    recipe_from: Callable[..., Recipe],
) -> None:
    """Two images of unlike grids: the products have as many rows as patches, for any height and width."""

    recipe = recipe_from(
        Images,
        lambda n: Images(),
        lambda n, maker: (
            maker.floats((n.height * n.width + 6 * n.height, n.depth)),
            torch.tensor([[1, n.height, n.width], [1, 2 * n.height, 3]], device="cpu"),
        ),
        height=4,
        width=5,
        depth=7,
    )
    exact = [one for one in regimes_of(recipe, seed=1, points=3, explore=False) if one.exact]

    assert exact
    for height, width in ((4, 5), (9, 2), (31, 64)):
        sizes = {"height": height, "width": width, "depth": 11}
        first, second = height * width, 6 * height
        for one in exact:
            if all(condition.is_met(sizes) for condition in one.derived.pattern.conditions):
                flops = Expr.of(one.derived.pattern.summary.totals.flops)
                assert flops.evaluate(sizes) == 2 * 11 * first * (first + second)
                assert flops.symbols() == sizes.keys()


class Levels(nn.Module):
    """Takes a map apart into its levels, whose heights and widths lie in one tensor."""

    def forward(self, x: Tensor, small: Tensor, large: Tensor) -> list[Tensor]:
        shapes = torch.as_tensor([tuple(small.shape), tuple(large.shape)], device=x.device)
        counts = shapes.prod(1).tolist()
        return [part * 2 for part in x.split(counts, dim=1)]


def test_levels_whose_shapes_lie_in_a_tensor_are_split_by_formulas(
    recipe_from: Callable[..., Recipe],
) -> None:
    """No height and no width is needed as a number, and one multiplication is made for each place."""
    recipe = recipe_from(
        Levels,
        lambda n: Levels(),
        lambda n, maker: (
            maker.floats((n.batch_size, n.h * n.w + n.H * n.W, n.width)),
            maker.floats((n.h, n.w)),
            maker.floats((n.H, n.W)),
        ),
        **{"batch_size": 2, "h": 3, "w": 5, "H": 6, "W": 7, "width": 4},
    )
    run = run_symbolically(recipe)
    ops = [one.cost.pointwise_ops for one in run.trace.operations if one.name == "aten.mul"]
    sizes = {"batch_size": 3, "h": 2, "w": 4, "H": 5, "W": 8, "width": 6}
    assert not run.ledger.consumed
    assert [Expr.of(one).evaluate(sizes) for one in ops] == [3 * 2 * 4 * 6, 3 * 5 * 8 * 6]


class Counted(nn.Module):
    """Repeats a product as often as a tensor says, computed by an operation that forgets where from."""

    def __init__(self, rounds: int) -> None:
        super().__init__()
        self.register_buffer("rounds", torch.tensor([rounds, 1]), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        for _ in range(int(self.rounds.sort().values[1])):
            x = x @ x
        return x


def test_what_forgets_a_size_writes_down_that_its_number_was_needed(
    recipe_from: Callable[..., Recipe],
) -> None:
    """Sorted values are numbers: the run says that it hangs on the size."""
    recipe = recipe_from(
        Counted,
        lambda n: Counted(n.rounds),
        lambda n, maker: (maker.floats((n.width, n.width)),),
        **{"rounds": 3, "width": 4},
    )
    needed = {one.node.name for one in run_symbolically(recipe).ledger.consumed}
    assert "rounds" in needed


@pytest.mark.parametrize("shape", [(), (3,), (2, 2), (1, 2, 2)])
def test_elements_are_nested_as_torch_nests_them(shape: tuple[int, ...]) -> None:
    """`as_nested` gives what `tolist` of the same elements gives."""
    values = torch.arange(torch.Size(shape).numel()).reshape(shape)
    assert as_nested(values, values.reshape(-1).tolist()) == values.tolist()


def test_only_few_numbers_with_a_size_among_them_are_followed() -> None:
    """Plain numbers, long lists and lists of other things are torch's own affair."""
    size = Ledger().symbol("n", 4)
    assert written_out([[size, 2], [3, 4]]) == [size, 2, 3, 4]
    assert written_out([1, 2]) is None
    assert written_out([size] * 65) is None
    assert written_out([size, "x"]) is None


def test_a_tensor_of_plain_numbers_holds_no_sizes() -> None:
    """What is no symbol is in the tensor itself."""
    assert sizes_in(hold(torch.tensor([1, 2]), [1, 2])) is None
