"""A tensor and windows that slide over it in; out how many fit, and how they lie in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import torch
from torch import Tensor

Ints = Sequence[int]
_LAST: Final = {4: torch.channels_last, 5: torch.channels_last_3d}


def _windows(size: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> int:
    """How many windows fit: floor((size + 2 padding - dilation (kernel - 1) - 1) / stride) + 1.

    With ceil_mode the ceiling, but no window may start in the right padding (torch.nn.MaxPool2d).
    """
    span = size + 2 * padding - dilation * (kernel - 1) - 1
    if not ceil_mode:
        return span // stride + 1
    count = (span + stride - 1) // stride + 1
    return count - 1 if (count - 1) * stride >= size + padding else count


def pooled(
    self: Tensor, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool
) -> list[int]:
    """The shape of what a pool gives of a tensor (..., *spatial); `kernel` has a size of each of the latter.

    Raises:
        RuntimeError: no window fits; torch refuses such sizes.
    """
    spatial = len(kernel)
    stride = stride or kernel
    outside = list(self.shape[: self.dim() - spatial])
    inside = self.shape[self.dim() - spatial :]
    counts = [
        _windows(n, k, s, p, d, ceil_mode)
        for n, k, s, p, d in zip(inside, kernel, stride, padding, dilation, strict=True)
    ]
    if any(count < 1 for count in counts):  # asked so that it becomes a condition: torch refuses such sizes
        raise RuntimeError(f"no window of {list(kernel)} fits into {list(inside)}")
    return outside + counts


def has_channels_last(self: Tensor) -> bool:
    """Whether the channels of images or volumes lie last, as torch suggests it of their strides."""
    return self.dim() in _LAST and torch.ops.aten.is_strides_like_format(self, _LAST[self.dim()])


def laid_out_as(self: Tensor, shape: list[int], dtype: torch.dtype | None = None) -> Tensor:
    """A result with its channels last in memory where those of the input are: so does torch lay out most."""
    if not has_channels_last(self):
        return self.new_empty(shape, dtype=dtype)
    batch, channels, *inside = shape
    return self.new_empty([batch, *inside, channels], dtype=dtype).movedim(-1, 1)


def refuse_padding(kernel: Ints, padding: Ints) -> None:
    """Torch pads a pool by half a window at most."""
    if any(2 * p > k for p, k in zip(padding, kernel, strict=True)):
        raise RuntimeError(f"padding {list(padding)} is more than half of the window {list(kernel)}")


def unfolded(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """`Tensor.unfold`, which takes plain integers: the same view for sizes that are symbols.

    Raises:
        RuntimeError: a window is larger than the dimension, or the step is none.
    """
    if self.device.type != "meta" or self.dim() == 0:
        view: Tensor = torch.ops.aten.unfold(self, dimension, size, step)
        return view
    dimension = range(self.dim())[dimension]
    shape, strides = list(self.shape), list(self.stride())
    if size < 0 or step <= 0 or size > shape[dimension]:
        raise RuntimeError(f"no window of {size} fits into {shape[dimension]} in steps of {step}")
    _ = bool(size > step)  # windows that overlap hold other elements than those that do not
    shape[dimension] = _windows(shape[dimension], size, step, 0, 1, ceil_mode=False)
    strides.append(strides[dimension])
    strides[dimension] = strides[dimension] * step
    return self.as_strided([*shape, size], strides, self.storage_offset())
