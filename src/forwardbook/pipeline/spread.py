"""A function and many inputs in; its results as they come, from several jobs here or from a cluster.

Both go through joblib: `--jobs 4` and `--cluster tcp://host:8786` run the same function on the same inputs.
What it does must not depend on where it runs, and it must return its problems: on a cluster nothing may be
raised.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from forwardbook.errors import ForwardbookError

if TYPE_CHECKING:
    from distributed import Client

In = TypeVar("In")
Out = TypeVar("Out")
CONNECT_SECONDS: Final = 10.0


class ClusterError(ForwardbookError):
    """A cluster that cannot be reached, or whose workers cannot do this work."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Where work is done: in `jobs` threads of this process, or on the cluster of a scheduler's address.

    Work that computes in Python itself asks for `processes`: jobs are then processes forked from this one.
    """

    jobs: int = 1
    cluster: str = ""
    processes: bool = False

    def __call__(self, function: Callable[[In], Out], items: Sequence[In]) -> Iterator[Out]:
        """The result of each input, in the order in which they are ready.

        Raises:
            ClusterError: the scheduler does not answer, has no workers, or they differ from this program.
            ForwardbookError: one of several processes was ended from outside.
        """
        if not items:
            return
        if not self.divides(len(items)):
            for item in items:
                yield function(item)
            return
        from joblib import Parallel, delayed

        with self._backend() as jobs:
            parallel = Parallel(
                n_jobs=jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="all"
            )
            results = parallel(delayed(function)(item) for item in items)
            try:
                for result in results:  # noqa: UP028 - `yield from` closes them before our `finally`
                    yield result
            except BrokenExecutor as error:
                raise ForwardbookError(
                    f"working in {jobs} processes: one of them was ended before its work was done, perhaps "
                    "for want of memory; run again with fewer --jobs"
                ) from error
            finally:
                with warnings.catch_warnings():  # who leaves early knows that work is left
                    warnings.simplefilter("ignore")
                    results.close()

    def divides(self, count: int) -> bool:
        """Whether so many inputs go to anyone but this thread."""
        if self.cluster:
            return True
        if self.processes:
            from forwardbook.pipeline.child.forked import can_fork

            if not can_fork():
                return False
        return self.jobs > 1 and count > 1

    def width(self) -> int:
        """How many inputs are worked on at once.

        Raises:
            ClusterError: as when it is called.
        """
        if not self.cluster:
            return self.jobs
        with _client(self.cluster) as client:
            threads: int = sum(client.ncores().values())
            return max(threads, 1)

    @contextlib.contextmanager
    def _backend(self) -> Iterator[int]:
        from joblib import parallel_config

        if not self.cluster:
            with parallel_config(backend=self._local()):
                yield self.jobs
            return
        with _client(self.cluster) as client:
            _same_programs(client, self.cluster)
            with parallel_config(backend="dask", client=client):
                yield -1

    def _local(self) -> Any:
        """joblib's threads, or our backend for it."""
        if not self.processes:
            return "threading"
        from forwardbook.pipeline.child.forked import Forked

        return Forked()


HERE: Final = Spread()
"""One after the other in this process."""


@contextlib.contextmanager
def _client(address: str) -> Iterator[Client]:
    """A connection to a scheduler.

    Raises:
        ClusterError: where nobody answers there, or Dask is not installed.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ClusterError(
            f"working on {address}: Dask is not installed; install it: pip install 'forwardbook[cluster]'"
        ) from None
    try:
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ClusterError(
            f"working on {address}: no scheduler answers there ({reason}); "
            "start one: dask scheduler, and workers: dask worker ADDRESS --nthreads 1 --nworkers 4"
        ) from error
    try:
        yield client
    finally:
        with contextlib.suppress(Exception):
            client.close(timeout=CONNECT_SECONDS)


def identity() -> dict[str, str]:
    """What must be the same on every machine that takes part: rules, versions, Python."""
    from forwardbook.pipeline.versions import current_versions

    return current_versions("transformers")


def _same_programs(client: Client, address: str) -> None:
    with contextlib.suppress(Exception):
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
    try:
        found: dict[str, Any] = client.run(identity, on_error="return")
    except Exception as error:
        raise ClusterError(f"asking the workers of {address}: {error}") from error
    if not found:
        raise ClusterError(
            f"working on {address}: it has no workers; start one: dask worker {address} --nthreads 1"
        )
    ours = identity()
    wrong = [f"  {worker}: {_differs(ours, theirs)}" for worker, theirs in found.items() if theirs != ours]
    if wrong:
        heading = f"working on {address}: workers must be installed as this program is:"
        raise ClusterError("\n".join([heading, *wrong]))


def _differs(ours: dict[str, str], theirs: object) -> str:
    if not isinstance(theirs, dict):
        return f"forwardbook cannot be run there: {theirs}"
    return ", ".join(
        f"{name} is {theirs.get(name, 'missing')}, here {ours.get(name, 'missing')}"
        for name in dict.fromkeys((*ours, *theirs))
        if ours.get(name) != theirs.get(name)
    )
