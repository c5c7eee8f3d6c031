"""A fresh process that analyses one class: a folder with a job in, a response in that folder out."""

from __future__ import annotations

import faulthandler
import importlib
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

from forwardbook.pipeline.child import environment, landlock
from forwardbook.pipeline.child.guards import lift_memory_limit, limit_memory, limit_time
from forwardbook.pipeline.child.job import HOME, JOB, RESPONSE, WHERE, Job
from forwardbook.pipeline.child.keeper import apart
from forwardbook.pipeline.child.refusals import Watch, refuse
from forwardbook.pipeline.child.request import Request, Response

Worker = Callable[[Request], Response]


def main(folder: Path, parent: int) -> None:
    """Do the job of the folder and end, whatever threads the analysed code left running."""
    apart(folder, parent)
    started = os.getpid()
    _settle(folder / HOME)
    landlock.confine(folder)
    job = Job.model_validate_json((folder / JOB).read_text(encoding="utf-8"))
    with (folder / WHERE).open("w", encoding="utf-8") as where:
        faulthandler.enable(where, all_threads=False)
        faulthandler.register(signal.SIGUSR1, where, all_threads=False)
        response = _answer(job, folder)
        if os.getpid() != started:  # a copy made behind our back by native code
            os._exit(0)
        _write(folder, response)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(0)


def _settle(home: Path) -> None:
    """Make a folder the current one, the home, and that of temporary files; it goes when the process has."""
    home.mkdir()
    os.chdir(home)
    os.environ.update(environment.own(home))
    tempfile.tempdir = str(home)


def _answer(job: Job, folder: Path) -> Response:
    from forwardbook.pipeline.child.failure import described, is_memory, out_of_memory, show_from
    from forwardbook.pipeline.child.torch_parts import TorchParts

    show_from(Path(job.asked_in))
    limit_time(job.seconds)
    watch: Watch | None = None
    parts: TorchParts | None = None
    try:
        worker = _load(job.worker)
        parts = TorchParts()
        _import_from(job.request.roots)
        limit_memory(job.memory)
        watch = refuse(folder)
        response = worker(job.request)
    except BaseException as error:  # analysed code may raise anything, SystemExit included
        lift_memory_limit()
        response = described(job.request, error, parts)
        if is_memory(error) and response.problem_kind != "memory":
            response = out_of_memory(job.request, "")
    if response.problem is not None and watch is not None and watch.forks:
        return _forked(job.request, watch.forks[0])
    return response


def _load(worker: str) -> Worker:
    module, _, name = worker.partition(":")
    return cast(Worker, getattr(importlib.import_module(module), name))


def _import_from(roots: Sequence[str]) -> None:
    """Put the user's folders after the standard library and before installed packages."""
    first = next((i for i, entry in enumerate(sys.path) if entry.endswith("-packages")), len(sys.path))
    sys.path[first:first] = [root for root in roots if root not in sys.path]


def _forked(request: Request, place: str) -> Response:
    problem = (
        f"running {request.target}: it tried to fork its process, which was refused, and then failed\n"
        f"  at {place}\n"
        "  take the fork out of the constructor and forward(), or read the class without running it: "
        "--derive static"
    )
    return Response(problem=problem, problem_kind="fork")


def _write(folder: Path, response: Response) -> None:
    temporary = folder / f"{RESPONSE}.tmp"
    temporary.write_text(response.model_dump_json(), encoding="utf-8")
    os.replace(temporary, folder / RESPONSE)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
