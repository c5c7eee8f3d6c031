"""A view with a side of 1 has, read with symbols, the strides that torch's own kernel gives it."""

from __future__ import annotations

import random

import torch

from forwardbook.analyzers.symbolic.on_meta import run_on_meta
from forwardbook.analyzers.symbolic.views import VIEWS


def _sides(count: int, rng: random.Random) -> list[int]:
    """Sides whose product is a count, some of them 1."""
    sides = []
    while count > 1:
        side = next(one for one in (rng.choice([2, 3]), 2, 3, count) if count % one == 0)
        sides.append(side)
        count //= side
    for _ in range(rng.randint(0, 2)):
        sides.insert(rng.randint(0, len(sides)), 1)
    return sides


def test_views_of_permuted_tensors_have_the_strides_of_the_kernel() -> None:
    rng, compared = random.Random(5), 0
    for _ in range(4000):
        rank = rng.randint(1, 4)
        shape = [rng.choice([1, 1, 2, 3, 4]) for _ in range(rank)]
        tensor = torch.empty(shape, device="meta").permute(rng.sample(range(rank), rank))
        wanted, view = _sides(tensor.numel(), rng), rng.choice(VIEWS)
        try:
            real = view(tensor, wanted)
        except RuntimeError:
            continue  # no view of it has these sides
        made = run_on_meta(view, (tensor, wanted), {})
        assert isinstance(made, torch.Tensor)
        assert made.stride() == real.stride(), (shape, tensor.stride(), wanted)
        compared += 1
    assert compared > 1000


def test_a_convolution_of_one_image_whose_tokens_were_transposed_lies_in_order() -> None:
    tokens = torch.empty(1, 30, 4, device="meta")
    image = run_on_meta(torch.ops.aten.view.default, (tokens.transpose(1, 2), [1, 4, 6, 5]), {})
    weight = torch.empty(4, 1, 3, 3, device="meta")
    options = (None, [1, 1], [1, 1], [1, 1], False, [0, 0], 4)
    made = run_on_meta(torch.ops.aten.convolution.default, (image, weight, *options), {})
    assert isinstance(made, torch.Tensor)
    real = torch.nn.functional.conv2d(
        torch.empty(1, 30, 4).transpose(1, 2).view(1, 4, 6, 5), torch.empty(4, 1, 3, 3), padding=1, groups=4
    )
    assert made.stride() == real.stride() == (120, 30, 5, 1)
