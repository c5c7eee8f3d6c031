"""The plain input maker: ordinary torch tensors on one device, values known wherever the device holds any."""

from __future__ import annotations

from collections.abc import Sequence

import torch


class PlainMaker:
    """Inputs on "cpu" or "meta"; deterministic for a seed."""

    def __init__(self, device: str = "cpu", seed: int = 0) -> None:
        self.device = device
        self._generator = torch.Generator().manual_seed(seed)

    def floats(self, shape: Sequence[int], dtype: torch.dtype | None = None) -> torch.Tensor:
        """Random values in [0, 1)."""
        if self.device == "meta":
            return torch.empty(tuple(shape), dtype=dtype, device="meta")
        return torch.rand(tuple(shape), generator=self._generator, device="cpu").to(self.device, dtype)

    def integers(self, shape: Sequence[int], high: int, low: int = 0) -> torch.Tensor:
        """int64 counting low, low + 1, ..., high - 1 and again, in memory order."""
        if self.device == "meta":
            return torch.empty(tuple(shape), dtype=torch.int64, device="meta")
        count = torch.Size(shape).numel()
        return (torch.arange(count, device=self.device) % max(high - low, 1) + low).reshape(tuple(shape))

    def ones(self, shape: Sequence[int], dtype: torch.dtype | None = None) -> torch.Tensor:
        """All one."""
        return torch.ones(tuple(shape), dtype=dtype, device=self.device)

    def full(self, shape: Sequence[int], value: int) -> torch.Tensor:
        """int64, every element the value."""
        return torch.full(tuple(shape), value, dtype=torch.int64, device=self.device)

    def made_up(self, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor as it is: what its values stand for only a symbolic run has to know."""
        return tensor


class ShapesAndNumbers(PlainMaker):
    """Floats on meta, of which shapes matter; whole numbers have their values: sizes of images."""

    def __init__(self) -> None:
        super().__init__("meta")
        self._host = PlainMaker("cpu")

    def integers(self, shape: Sequence[int], high: int, low: int = 0) -> torch.Tensor:
        """As on a processor."""
        return self._host.integers(shape, high, low)

    def full(self, shape: Sequence[int], value: int) -> torch.Tensor:
        """As on a processor."""
        return self._host.full(shape, value)
