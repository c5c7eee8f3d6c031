"""Work that otherwise runs in a child process, in this one: torch is imported once for all tests."""

from __future__ import annotations

import importlib
import sys
import threading

from forwardbook.pipeline.child.failure import described
from forwardbook.pipeline.child.job import WORKER, Limits
from forwardbook.pipeline.child.request import Request, Response

_ONE = threading.Lock()
"""What records a run is of the process: two cannot run at once in one."""


def run_inside(request: Request, limits: Limits | None = None, worker: str = WORKER) -> Response:
    """The response of a worker; what the analysed code raises is described as a child would."""
    with _ONE:
        return _run(request, worker)


def _run(request: Request, worker: str) -> Response:
    module, _, name = worker.partition(":")
    before, path = set(sys.modules), [*sys.path]
    sys.path[:0] = request.roots
    try:
        found: Response = getattr(importlib.import_module(module), name)(request)
        return found
    except (Exception, SystemExit) as error:  # noqa: BLE001 - as a child does
        return described(request, error)
    finally:
        sys.path[:] = path
        for fresh in set(sys.modules) - before:
            if any(
                str(getattr(sys.modules[fresh], "__file__", "")).startswith(root) for root in request.roots
            ):
                del sys.modules[fresh]
