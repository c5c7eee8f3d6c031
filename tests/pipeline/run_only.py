"""A worker for tests of the child process alone: it builds and calls the class and derives nothing."""

import importlib
from collections.abc import Sequence

import torch

from forwardbook.pipeline.child.request import Request, Response

given: tuple[str, ...] = ()


def warm(texts: Sequence[str]) -> None:
    """Keeps what a server is given."""
    global given
    given = tuple(texts)


def work(request: Request) -> Response:
    """An answer that repeats what the class returned."""
    module, _, name = request.target.rpartition(".")
    cls = getattr(importlib.import_module(module), name)
    returned = cls()(torch.ones(2, 8))
    return Response(entry={"returned": str(returned)})
