"""Work of joblib in, the same work done by processes forked from this one out.

A forked process has all that this one has, without anything being sent to it. joblib's own processes are
either new ones, which would have to be given everything, or a pool that waits for ever for one that died.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor

from joblib.parallel import ParallelBackendBase, SequentialBackend

from forwardbook.pipeline.child.guards import die_with_parent


class Forked(ParallelBackendBase):  # type: ignore[misc]
    """A backend that gives results as they come, and an error where a process dies."""

    supports_retrieve_callback = True
    _pool: ProcessPoolExecutor

    def effective_n_jobs(self, n_jobs: int) -> int:
        """As many as are asked for."""
        return n_jobs

    def configure(self, n_jobs: int = 1, parallel: object = None, **_: object) -> int:
        """Make a pool, whose processes start with the first work."""
        self.parallel = parallel
        self._pool = ProcessPoolExecutor(n_jobs, multiprocessing.get_context("fork"), _belong, (os.getpid(),))
        return n_jobs

    def submit(
        self, func: Callable[[], object], callback: Callable[[Future[object]], object] | None = None
    ) -> Future[object]:
        """Let a process do it, and tell when it has."""
        future = self._pool.submit(func)
        if callback is not None:
            future.add_done_callback(callback)
        return future

    def retrieve_result_callback(self, out: Future[object]) -> object:
        """What came of it."""
        return out.result()

    def terminate(self) -> None:
        """Wait for what is being done, leave the rest."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def abort_everything(self, ensure_ready: bool = True) -> None:
        """The same: work here is short."""
        self.terminate()

    def get_nested_backend(self) -> tuple[SequentialBackend, None]:
        """Work within work is done one after the other."""
        return SequentialBackend(nesting_level=1), None


def can_fork() -> bool:
    """Whether there is such a thing here."""
    return "fork" in multiprocessing.get_all_start_methods()


def _belong(parent: int) -> None:
    """Ctrl-C is for the process that collects results; a forked one ends with it, however that ends."""
    die_with_parent(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
