"""Turns the bytes of C, C++, CUDA and CMake files into facts: definitions, kernels, launches, bindings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forwardbook.analyzers.native.index import index_native

if TYPE_CHECKING:
    from forwardbook.analyzers.native.read_detail import native_detail

__all__ = ["index_native", "native_detail"]


def __getattr__(name: str) -> object:
    """`native_detail`, imported when it is first asked for: only pages of files need it."""
    if name == "native_detail":
        from forwardbook.analyzers.native.read_detail import native_detail

        return native_detail
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
