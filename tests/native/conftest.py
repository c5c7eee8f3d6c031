"""Reads native text, and the files beside these tests."""

from collections.abc import Callable
from pathlib import Path

import pytest

from forwardbook.analyzers.index.facts import FileFacts
from forwardbook.analyzers.native import index_native

SOURCES = Path(__file__).parent / "sources"


@pytest.fixture
def read() -> Callable[..., FileFacts]:
    """Facts of a text, as those of a CUDA file unless a path says otherwise."""

    def facts(text: str, path: str = "a.cu") -> FileFacts:
        return index_native(path, text.encode())

    return facts


@pytest.fixture(scope="session")
def stencil_bytes() -> bytes:
    """The bytes of stencil.cu, a file with one of everything."""
    return (SOURCES / "stencil.cu").read_bytes()


@pytest.fixture(scope="session")
def stencil(stencil_bytes: bytes) -> FileFacts:
    """The facts of stencil.cu."""
    return index_native("stencil.cu", stencil_bytes)


@pytest.fixture(scope="session")
def cmake_bytes() -> bytes:
    """The bytes of CMakeLists.txt."""
    return (SOURCES / "CMakeLists.txt").read_bytes()
