"""Kernels whose torch signature takes plain integers (pooling, folding, group norm): twins for symbols.

A twin computes only the shapes; values that ride along go through torch's own kernel. It is recorded under
the name of the kernel it stands for. Measured runs never see it: they run torch's own kernels, so a wrong
shape here is a formula that the proof rejects.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.library import Library

from forwardbook.analyzers.symbolic.cells import CELLS
from forwardbook.analyzers.symbolic.ledger import hint_of
from forwardbook.analyzers.symbolic.lengths_of_weights import norm_except_dim
from forwardbook.analyzers.symbolic.windows import Ints, laid_out_as, pooled, refuse_padding, unfolded

library = Library("forwardbook_symbolic", "DEF")  # noqa: TOR901 - lives as long as the process
_POOL = "Tensor self, SymInt[] kernel_size, SymInt[] stride, SymInt[] padding"


def _define(schema: str) -> Callable[[Callable[..., object]], Callable[..., object]]:
    def register(shape: Callable[..., object]) -> Callable[..., object]:
        name = library.define(schema)
        library.impl(name, shape, "Meta")
        library.impl(name, getattr(torch.ops.aten, name).default, "CPU")  # for values that ride along
        return shape

    return register


def _max_pool(
    self: Tensor, kernel_size: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool
) -> tuple[Tensor, Tensor]:
    refuse_padding(kernel_size, padding)
    shape = pooled(self, kernel_size, stride, padding, dilation, ceil_mode)
    return laid_out_as(self, shape), laid_out_as(self, shape, torch.int64)


def _avg_pool(
    self: Tensor,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Tensor:
    refuse_padding(kernel_size, padding)
    inside = self.shape[self.dim() - len(kernel_size) :]
    # in three dimensions alone torch refuses a window larger than the input before it is padded
    if len(kernel_size) == 3 and any(n < k for n, k in zip(inside, kernel_size, strict=True)):
        raise RuntimeError(f"the window {list(kernel_size)} is larger than {list(inside)}")
    shape = pooled(self, kernel_size, stride, padding, [1] * len(kernel_size), ceil_mode)
    return self.new_empty(shape) if len(kernel_size) == 3 else laid_out_as(self, shape)


for _n in (2, 3):
    _define(f"max_pool{_n}d_with_indices({_POOL}, SymInt[] dilation, bool ceil_mode) -> (Tensor, Tensor)")(
        _max_pool
    )
    _define(
        f"avg_pool{_n}d({_POOL}, bool ceil_mode, bool count_include_pad, SymInt? divisor_override) -> Tensor"
    )(_avg_pool)


def _resized(self: Tensor, output_size: Ints) -> list[int]:
    return [*self.shape[: self.dim() - len(output_size)], *output_size]


def _adaptive_max(self: Tensor, output_size: Ints) -> tuple[Tensor, Tensor]:
    shape = _resized(self, output_size)
    if len(output_size) == 3:
        return self.new_empty(shape), self.new_empty(shape, dtype=torch.int64)
    return laid_out_as(self, shape), laid_out_as(self, shape, torch.int64)


def _fractional(
    self: Tensor, kernel_size: Ints, output_size: Ints, random_samples: Tensor
) -> tuple[Tensor, Tensor]:
    shape = _resized(self, output_size)
    return self.new_empty(shape), self.new_empty(shape, dtype=torch.int64)


for _n in (2, 3):
    _define(f"adaptive_max_pool{_n}d(Tensor self, SymInt[] output_size) -> (Tensor, Tensor)")(_adaptive_max)
    _define(
        f"fractional_max_pool{_n}d(Tensor self, SymInt[] kernel_size, SymInt[] output_size, "
        "Tensor random_samples) -> (Tensor, Tensor)"
    )(_fractional)


@_define(
    "im2col(Tensor self, SymInt[] kernel_size, SymInt[] dilation, SymInt[] padding, SymInt[] stride) "
    "-> Tensor"
)
def _im2col(self: Tensor, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints) -> Tensor:
    height, width = pooled(self, kernel_size, stride, padding, dilation, False)[-2:]
    outside = list(self.shape[:-3])
    return self.new_empty([*outside, self.shape[-3] * kernel_size[0] * kernel_size[1], height * width])


@_define(
    "col2im(Tensor self, SymInt[] output_size, SymInt[] kernel_size, SymInt[] dilation, SymInt[] padding, "
    "SymInt[] stride) -> Tensor"
)
def _col2im(
    self: Tensor, output_size: Ints, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints
) -> Tensor:
    channels = self.shape[-2] // (kernel_size[0] * kernel_size[1])
    return self.new_empty([*self.shape[:-2], channels, *output_size])


@_define(
    "native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, "
    "SymInt group, float eps) -> (Tensor, Tensor, Tensor)"
)
def _group_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    return input.new_empty(input.shape), input.new_empty((N, group)), input.new_empty((N, group))


@_define("histc(Tensor self, SymInt bins, float min, float max) -> Tensor")
def _histc(self: Tensor, bins: int, min: float, max: float) -> Tensor:
    return self.new_empty((bins,))


_ops = torch.ops.forwardbook_symbolic


def _each(value: int | Ints | None, count: int) -> list[int]:
    if value is None:
        return []
    if not isinstance(value, Sequence):
        return [value] * count
    return list(value) * count if len(value) == 1 else list(value)


def _call_max(count: int) -> Callable[..., tuple[Tensor, Tensor]]:
    def pool(
        input: Tensor,
        kernel_size: int | Ints,
        stride: int | Ints | None = None,
        padding: int | Ints = 0,
        dilation: int | Ints = 1,
        ceil_mode: bool = False,
    ) -> tuple[Tensor, Tensor]:
        sizes = [_each(v, max(count, 1)) for v in (kernel_size, stride, padding, dilation)]
        if count == 1:  # torch runs it as a two-dimensional pool of one row
            row = [[neutral, *v] if v else v for neutral, v in zip((1, 1, 0, 1), sizes, strict=True)]
            out, index = _ops.max_pool2d_with_indices(input.unsqueeze(-2), *row, ceil_mode)
            return out.squeeze(-2), index.squeeze(-2)
        return getattr(_ops, f"max_pool{count}d_with_indices")(input, *sizes, ceil_mode)  # type: ignore[no-any-return]

    return pool


def _first(pool: Callable[..., tuple[Tensor, Tensor]]) -> Callable[..., Tensor]:
    return lambda *args, **kwargs: pool(*args, **kwargs)[0]


def _call_avg(count: int) -> Callable[..., Tensor]:
    def pool(
        input: Tensor,
        kernel_size: int | Ints,
        stride: int | Ints | None = None,
        padding: int | Ints = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Tensor:
        sizes = [_each(v, max(count, 1)) for v in (kernel_size, stride, padding)]
        rest = (ceil_mode, count_include_pad, divisor_override)
        if count == 1:
            row = [[neutral, *v] if v else v for neutral, v in zip((1, 1, 0), sizes, strict=True)]
            return _ops.avg_pool2d(input.unsqueeze(-2), *row, *rest).squeeze(-2)  # type: ignore[no-any-return]
        return getattr(_ops, f"avg_pool{count}d")(input, *sizes, *rest)  # type: ignore[no-any-return]

    return pool


def _call_adaptive(count: int) -> Callable[..., tuple[Tensor, Tensor]]:
    def pool(input: Tensor, output_size: int | Ints) -> tuple[Tensor, Tensor]:
        size = _each(output_size, count)
        if count == 1:
            out, index = _ops.adaptive_max_pool2d(input.unsqueeze(-2), [1, *size])
            return out.squeeze(-2), index.squeeze(-2)
        return getattr(_ops, f"adaptive_max_pool{count}d")(input, size)  # type: ignore[no-any-return]

    return pool


def _call_adaptive_avg1d(input: Tensor, output_size: int | Ints) -> Tensor:
    out = torch.ops.aten._adaptive_avg_pool2d(input.unsqueeze(-2), [1, *_each(output_size, 1)])
    return out.squeeze(-2)  # type: ignore[no-any-return]


def _call_fractional(count: int) -> Callable[..., tuple[Tensor, Tensor]]:
    def pool(input: Tensor, kernel_size: Ints, output_size: Ints, samples: Tensor) -> tuple[Tensor, Tensor]:
        run = getattr(_ops, f"fractional_max_pool{count}d")
        return run(input, _each(kernel_size, count), _each(output_size, count), samples)  # type: ignore[no-any-return]

    return pool


def _call_im2col(input: Tensor, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints) -> Tensor:
    return _ops.im2col(input, *(_each(v, 2) for v in (kernel_size, dilation, padding, stride)))  # type: ignore[no-any-return]


def _call_col2im(
    input: Tensor, output_size: Ints, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints
) -> Tensor:
    sizes = (_each(v, 2) for v in (output_size, kernel_size, dilation, padding, stride))
    return _ops.col2im(input, *sizes)  # type: ignore[no-any-return]


def _call_group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Tensor:
    inside = 1
    for size in input.shape[2:]:
        inside = inside * size
    input = input.contiguous()
    out = _ops.native_group_norm(input, weight, bias, input.shape[0], input.shape[1], inside, num_groups, eps)
    return out[0]  # type: ignore[no-any-return]


def _call_histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    return _ops.histc(input, bins, float(hint_of(min)), float(hint_of(max)))  # type: ignore[no-any-return,arg-type]


def _shuffled(self: Tensor, upscale_factor: int) -> Tensor:
    *before, channels, height, width = self.shape
    area = upscale_factor * upscale_factor
    if upscale_factor <= 0 or channels % area != 0:
        raise RuntimeError(f"pixel_shuffle: {channels} channels are no multiple of {upscale_factor} squared")
    return self.new_empty([*before, channels // area, height * upscale_factor, width * upscale_factor])


def _unshuffled(self: Tensor, downscale_factor: int) -> Tensor:
    *before, channels, height, width = self.shape
    if downscale_factor <= 0 or height % downscale_factor != 0 or width % downscale_factor != 0:
        raise RuntimeError(f"pixel_unshuffle: {height} x {width} is no multiple of {downscale_factor}")
    channels = channels * downscale_factor * downscale_factor
    return self.new_empty([*before, channels, height // downscale_factor, width // downscale_factor])


_define("pixel_shuffle(Tensor self, SymInt upscale_factor) -> Tensor")(_shuffled)
_define("pixel_unshuffle(Tensor self, SymInt downscale_factor) -> Tensor")(_unshuffled)


def _channels_shuffled(self: Tensor, groups: int) -> Tensor:
    if groups <= 0 or self.shape[1] % groups != 0:
        raise RuntimeError(f"channel_shuffle: {self.shape[1]} channels are no multiple of {groups} groups")
    return laid_out_as(self, list(self.shape))


_define("channel_shuffle(Tensor self, SymInt groups) -> Tensor")(_channels_shuffled)


def _call_channel_shuffle(input: Tensor, groups: int) -> Tensor:
    return _ops.channel_shuffle(input, groups)  # type: ignore[no-any-return]


ON_EVERY_DEVICE: dict[object, Callable[..., object]] = {torch.channel_shuffle: _call_channel_shuffle}
"""Stand-ins for measured runs too: on meta torch makes views of it, where its kernel always copies."""


def _call_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    return _ops.pixel_shuffle(input, upscale_factor)  # type: ignore[no-any-return]


def _call_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    return _ops.pixel_unshuffle(input, downscale_factor)  # type: ignore[no-any-return]


_nn = torch._C._nn
def _call_one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """On meta as torch does it there, which turns symbolic classes into a number first."""
    if tensor.device.type != "meta" or not isinstance(num_classes, torch.SymInt):
        made: Tensor = _nn.one_hot(tensor, num_classes)
        return made
    classes = torch.arange(num_classes, dtype=tensor.dtype, device=tensor.device)
    return tensor.unsqueeze(-1).eq(classes).to(torch.int64)


STAND_INS: dict[object, Callable[..., object]] = {
    torch.max_pool1d: _first(_call_max(1)),
    torch.max_pool2d: _first(_call_max(2)),
    torch.max_pool3d: _first(_call_max(3)),
    torch.max_pool1d_with_indices: _call_max(1),
    _nn.max_pool2d_with_indices: _call_max(2),
    _nn.max_pool3d_with_indices: _call_max(3),
    torch.avg_pool1d: _call_avg(1),
    _nn.avg_pool2d: _call_avg(2),
    _nn.avg_pool3d: _call_avg(3),
    torch.adaptive_max_pool1d: _call_adaptive(1),
    _nn.adaptive_max_pool2d: _call_adaptive(2),
    _nn.adaptive_max_pool3d: _call_adaptive(3),
    torch.adaptive_avg_pool1d: _call_adaptive_avg1d,
    _nn.fractional_max_pool2d: _call_fractional(2),
    _nn.fractional_max_pool3d: _call_fractional(3),
    _nn.im2col: _call_im2col,
    _nn.col2im: _call_col2im,
    torch.group_norm: _call_group_norm,
    torch.histc: _call_histc,
    torch.pixel_shuffle: _call_shuffle,
    torch.pixel_unshuffle: _call_unshuffle,
    _nn.one_hot: _call_one_hot,
    torch.Tensor.unfold: unfolded,
    torch.norm_except_dim: norm_except_dim,
    **CELLS,
}
