"""Code that asks how operations are cast is answered on the meta device."""

from __future__ import annotations

import pytest
import torch

from forwardbook.analyzers.instances.casting import casting_on_meta


def test_casting_may_be_switched_off_on_meta() -> None:
    """Code that switches automatic casting off on the device of its tensor runs on meta, and only inside."""
    before = torch.autocast.__init__
    with casting_on_meta(), torch.autocast("meta", enabled=False):
        product = torch.empty(2, 3, device="meta") @ torch.empty(3, 4, device="meta")

    assert torch.float32 == product.dtype
    assert torch.autocast.__init__ is before


def test_meta_is_told_what_a_processor_is_told() -> None:
    """The format that would be cast to, and whether anything is."""
    with casting_on_meta():
        assert torch.get_autocast_dtype("cpu") is torch.get_autocast_dtype("meta")
        assert not torch.is_autocast_enabled("meta")
        with torch.autocast("cpu"):
            assert torch.is_autocast_enabled("meta")

    with pytest.raises(RuntimeError):
        torch.get_autocast_dtype("meta")
