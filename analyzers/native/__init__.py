"""Turns the bytes of C, C++, CUDA and CMake files into facts: definitions, kernels, launches, bindings."""

from forwardbook.analyzers.native.index import index_native
from forwardbook.analyzers.native.read_detail import native_detail

__all__ = ["index_native", "native_detail"]
