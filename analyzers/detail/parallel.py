"""A scope in, what it runs at the same time out: threads, processes, pools, tasks, groups of devices."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from forwardbook.analyzers.detail.facts import Parallel, ParallelKind
from forwardbook.analyzers.detail.names import argument, dotted, keyword, last, listed, string
from forwardbook.analyzers.detail.open_file import OpenFile
from forwardbook.analyzers.detail.scopes import Scope

_BY_NAME: Final[dict[str, ParallelKind]] = {
    "threading.Thread": "thread",
    "threading.Timer": "thread",
    "_thread.start_new_thread": "thread",
    "os.fork": "process",
    "concurrent.futures.ThreadPoolExecutor": "thread pool",
    "concurrent.futures.thread.ThreadPoolExecutor": "thread pool",
    "concurrent.futures.ProcessPoolExecutor": "process pool",
    "concurrent.futures.process.ProcessPoolExecutor": "process pool",
    "multiprocessing.dummy.Pool": "thread pool",
    "multiprocessing.pool.ThreadPool": "thread pool",
    "joblib.Parallel": "process pool",
    "torch.utils.data.DataLoader": "data loader",
    "torch.nn.DataParallel": "distributed",
    "torch.nn.parallel.DistributedDataParallel": "distributed",
    "torch.distributed.fsdp.FullyShardedDataParallel": "distributed",
    "ray.init": "distributed",
    "ray.get": "distributed",
    "asyncio.run": "async",
    "asyncio.gather": "async",
    "asyncio.wait": "async",
    "asyncio.as_completed": "async",
    "asyncio.create_task": "async",
    "asyncio.ensure_future": "async",
    "asyncio.to_thread": "async",
    "asyncio.TaskGroup": "async",
    "filelock.FileLock": "lock",
    "fcntl.flock": "lock",
    "queue.Queue": "queue",
    "queue.SimpleQueue": "queue",
    "queue.PriorityQueue": "queue",
    "asyncio.Queue": "queue",
}
_IN_MULTIPROCESSING: Final[dict[str, ParallelKind]] = {
    "Process": "process",
    "spawn": "process",
    "start_processes": "process",
    "set_start_method": "process",
    "get_context": "process",
    "Pool": "process pool",
    "Manager": "process",
    "Queue": "queue",
    "JoinableQueue": "queue",
    "SimpleQueue": "queue",
    "Pipe": "queue",
    "SharedMemory": "shared memory",
    "ShareableList": "shared memory",
    "Array": "shared memory",
    "Value": "shared memory",
}
_LOCKS: Final = frozenset({"Lock", "RLock", "Semaphore", "BoundedSemaphore", "Condition", "Event", "Barrier"})
_HOMES: Final = ("multiprocessing.", "torch.multiprocessing.", "multiprocess.")
_COLLECTIVES: Final = listed(
    """
    init_process_group destroy_process_group all_reduce all_gather all_gather_object all_gather_into_tensor
    reduce_scatter reduce_scatter_tensor broadcast broadcast_object_list barrier scatter gather
    gather_object reduce all_to_all all_to_all_single send recv isend irecv new_group monitored_barrier
    get_rank get_world_size
    """
)


def parallel(file: OpenFile, scope: Scope) -> tuple[Parallel, ...]:
    """What a scope starts, waits on or shares between workers, in source order."""
    contexts = file.process_contexts
    found = []
    for node in scope.calls:
        kind = _kind(file, node, contexts)
        if kind is not None:
            found.append(_described(file, node, kind, contexts))
    return tuple(found)


def starts(file: OpenFile, node: ast.Call) -> str:
    """The function that a call hands to a worker, as written; empty where it starts none."""
    short, name = last(node.func), file.names.full(node.func)
    if short in ("Thread", "Process", "Timer"):
        given = argument(node, 1, "target") if short != "Timer" else argument(node, 1, "function")
        return _callable(file, given)
    known = ("submit", "apply_async", "map_async", "imap", "imap_unordered", "starmap", "run_in_executor")
    if short in known and isinstance(node.func, ast.Attribute):
        return _callable(file, argument(node, 1 if short == "run_in_executor" else 0, "func"))
    if name.endswith(("multiprocessing.spawn", "multiprocessing.start_processes", "asyncio.to_thread")):
        return _callable(file, argument(node, 0, "fn"))
    return ""


def _callable(file: OpenFile, node: ast.expr | None) -> str:
    if isinstance(node, ast.Call) and last(node.func) == "partial" and node.args:
        node = node.args[0]
    return dotted(node) if node is not None else ""


def _kind(file: OpenFile, node: ast.Call, contexts: dict[str, str]) -> ParallelKind | None:
    name = file.names.full(node.func)
    if name in _BY_NAME:
        return _BY_NAME[name]
    owner, _, short = name.rpartition(".")
    if name.startswith(_HOMES) or (owner and owner in contexts):
        return "lock" if short in _LOCKS else _IN_MULTIPROCESSING.get(short)
    if short in _LOCKS and owner in ("threading", "asyncio"):
        return "lock"
    if owner == "torch.distributed" and short in _COLLECTIVES:
        return "distributed"
    if owner.startswith("torch.distributed") and short in ("fully_shard", "DeviceMesh", "init_device_mesh"):
        return "distributed"
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("run_in_executor", "create_task"):
        return "async"
    return "data loader" if short == "DataLoader" else None


def _described(file: OpenFile, node: ast.Call, kind: ParallelKind, contexts: dict[str, str]) -> Parallel:
    short = last(node.func)
    method = ""
    if short in ("set_start_method", "get_context"):
        given = argument(node, 0, "method")
        method = string(given) or (file.text(given) if given is not None else "")
    elif short in ("spawn", "start_processes"):
        given = argument(node, 4, "start_method") or keyword(node, "start_method")
        method = string(given) or ("spawn" if short == "spawn" else "")
    else:
        owner = dotted(node.func).rpartition(".")[0]
        context = keyword(node, "mp_context") or keyword(node, "multiprocessing_context")
        method = contexts.get(owner, "") or (_context(file, context, contexts) if context is not None else "")
    return Parallel(
        kind, node.lineno, file.text(node), _workers(file, node, kind), starts(file, node), method
    )


def _context(file: OpenFile, node: ast.expr, contexts: dict[str, str]) -> str:
    if isinstance(node, ast.Call) and node.args:
        return string(node.args[0])
    return string(node) or contexts.get(dotted(node), file.text(node))


def _workers(file: OpenFile, node: ast.Call, kind: ParallelKind) -> str:
    for name in ("max_workers", "num_workers", "processes", "nprocs", "n_jobs", "world_size"):
        given = keyword(node, name)
        if given is not None:
            return file.text(given)
    short = last(node.func)
    if kind in ("thread pool", "process pool") and node.args and short != "Parallel":
        return file.text(node.args[0])
    return ""


def start_methods(file: OpenFile, scope: Scope) -> Iterator[tuple[int, str]]:
    """The lines that choose how processes start, and the method."""
    for each in parallel(file, scope):
        if each.start_method and last_name(each.text) in ("set_start_method", "get_context"):
            yield each.line, each.start_method


def last_name(words: str) -> str:
    """The last name of a call's text before its bracket."""
    return words.partition("(")[0].rpartition(".")[2]
