"""Lets strict dataclasses of huggingface_hub hold symbolic sizes; they check for `int` by exact type."""

from __future__ import annotations

from functools import cache


@cache
def accept_symbolic_sizes() -> None:
    """From now on a symbolic integer passes for an int field (models assign fields while they build)."""
    import huggingface_hub.dataclasses as strict
    import torch

    original = getattr(strict, "_validate_simple_type", None)
    if original is None:  # another version checks elsewhere; its own error then names the field
        return

    def validate(name: str, value: object, expected_type: type) -> None:
        if expected_type in (int, float) and isinstance(value, torch.SymInt | torch.SymFloat):
            return
        original(name, value, expected_type)

    strict._validate_simple_type = validate
