"""Timed brackets, operations on a device, and what runs at the same time."""

from __future__ import annotations

from collections.abc import Callable

from forwardbook.analyzers.detail.facts import Detail

Read = Callable[..., Detail]


def test_timed_brackets(read: Read) -> None:
    """Pairs of readings of one clock, events, ranges and timers, each with its lines."""
    found = read("""
        import time
        from time import perf_counter as now
        import torch
        def f(work):
            t0 = now()
            work()
            took = now() - t0
            self.start = time.time()
            work()
            end = time.time()
            print(end - self.start)
            a = torch.cuda.Event(enable_timing=True)
            a.record()
            work()
            b.record()
            ms = a.elapsed_time(b)
            torch.cuda.nvtx.range_push("step")
            work()
            torch.cuda.nvtx.range_pop()
            with torch.profiler.profile() as prof:
                work()
            return 5 - 3
        """).functions[0]
    assert [
        (5, 7, "time.perf_counter", "took"),
        (8, 10, "time.time", ""),
        (13, 15, "CUDA events", "ms"),
        (17, 19, "NVTX", '"step"'),
        (20, 21, "torch.profiler", "prof"),
    ] == [(each.span.start, each.span.end, each.clock, each.result) for each in found.timed]


def test_operations_on_a_device(read: Read) -> None:
    """Transfers, kernels, allocations and waits in a file that imports torch."""
    found = read("""
        import torch
        import torch.nn.functional as F
        def f(x, w, stream):
            x = x.to("cuda", non_blocking=True)
            x = x.to(torch.float16)
            y = torch.empty(3, device="cuda")
            z = torch.matmul(x, w) @ w
            z = F.softmax(z, -1)
            torch.cuda.synchronize()
            if torch.is_tensor(z):
                return z.sum().item()
            s = torch.cuda.Stream()
            z = z.half().cpu()
            torch.cuda.empty_cache()
            return torch.compile(f), z.clone(), z.cuda()
        """).functions[0]
    assert [
        (4, "transfer", "does not wait"),
        (5, "precision", "cast to torch.float16"),
        (6, "allocate", 'on "cuda"'),
        (7, "kernel", "matrix product"),
        (7, "kernel", "on the device of its inputs"),
        (8, "kernel", "on the device of its inputs"),
        (9, "synchronise", "waits for the device"),
        (11, "synchronise", "copies one value to the host and waits for it"),
        (12, "stream", "order between kernels"),
        (13, "precision", "cast to half"),
        (13, "synchronise", "copies to the host and waits for it"),
        (14, "memory", "asks or changes the allocator"),
        (15, "allocate", "on the device of its source"),
        (15, "compile", "compiled on first call"),
        (15, "transfer", "to the device"),
    ] == sorted((each.line, each.kind, each.why) for each in found.device)


def test_a_file_without_a_device_package_has_no_operations(read: Read) -> None:
    """`.to()` and `.item()` of other objects are nothing to a device."""
    assert () == read("def f(x):\n    return x.to('here').item() @ x\n").functions[0].device


def test_parallel_work(read: Read) -> None:
    """Threads, processes with their start method, pools with their size, loaders and groups."""
    found = read("""
        import asyncio, threading
        import multiprocessing as mp
        import torch.distributed as dist
        from concurrent.futures import ThreadPoolExecutor
        from torch.utils.data import DataLoader
        def f(work):
            threading.Thread(target=work, daemon=True)
            ctx = mp.get_context("spawn")
            ctx.Process(target=work)
            mp.set_start_method("fork")
            with ThreadPoolExecutor(max_workers=4) as pool:
                pool.submit(work, 1)
            mp.Pool(8)
            DataLoader(x, num_workers=2, multiprocessing_context="forkserver")
            dist.all_reduce(x)
            lock = threading.Lock()
            asyncio.gather(work())
        """).functions[0]
    assert [
        ("thread", 7, "", "work", ""),
        ("process", 8, "", "", "spawn"),
        ("process", 9, "", "work", "spawn"),
        ("process", 10, "", "", "fork"),
        ("thread pool", 11, "4", "", ""),
        ("process pool", 13, "8", "", ""),
        ("data loader", 14, "2", "", "forkserver"),
        ("distributed", 15, "", "", ""),
        ("lock", 16, "", "", ""),
        ("async", 17, "", "", ""),
    ] == [(e.kind, e.line, e.workers, e.target, e.start_method) for e in found.parallel]
