"""Work spread over threads and over a real Dask cluster, one of whose workers is killed in the middle."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from forwardbook.errors import ForwardbookError
from forwardbook.pipeline.regenerate.stale import stale_entry
from forwardbook.pipeline.spread import ClusterError, Spread
from forwardbook.workspace import Workspace

Cluster = tuple[str, list["subprocess.Popen[bytes]"]]
LAYERS = """
from torch import nn


class {name}(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.inner = nn.Linear(width, {factor} * width)

    def forward(self, x):
        return self.inner(x)
"""


def started(arguments: list[str]) -> subprocess.Popen[bytes]:
    """A process of Dask's, which says nothing."""
    return subprocess.Popen(
        [sys.executable, "-m", "distributed.cli." + arguments[0], *arguments[1:]],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        start_new_session=True,
    )


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A scheduler and two workers of one thread each, on this machine."""
    pytest.importorskip("distributed")
    import json

    file = tmp_path / "scheduler.json"
    scheduler = started(
        [
            "dask_scheduler",
            "--port",
            "0",
            "--no-dashboard",
            "--host",
            "127.0.0.1",
            "--scheduler-file",
            str(file),
        ]
    )
    until = time.monotonic() + 60
    while not file.exists() and time.monotonic() < until:
        time.sleep(0.05)
    address = json.loads(file.read_text())["address"]
    common = [
        "dask_worker",
        address,
        "--nthreads",
        "1",
        "--no-nanny",
        "--no-dashboard",
        "--host",
        "127.0.0.1",
    ]
    workers = [
        started([*common, "--local-directory", str(tmp_path / f"worker{number}")]) for number in range(2)
    ]
    _wait_for(address, 2)
    yield address, workers
    for process in (*workers, scheduler):
        process.kill()
        process.wait()


def _wait_for(address: str, count: int) -> None:
    from distributed import Client

    with Client(address, timeout=30, set_as_default=False) as client:
        client.wait_for_workers(count, timeout=60)


def test_jobs_give_every_result(capfd: pytest.CaptureFixture[str]) -> None:
    """With one job in order, with more as they come; each input exactly once; nothing of nothing."""
    assert [1, 2, 3] == list(Spread(1)(abs, [-1, -2, -3]))
    assert list(range(40)) == sorted(Spread(4)(abs, [-number for number in range(40)]))
    assert [] == list(Spread(4)(abs, []))


def test_leaving_early_ends_the_work() -> None:
    """Who stops asking for results gets no further ones, and no error."""
    results = Spread(2)(abs, list(range(10)))
    next(results)
    results.close()  # type: ignore[attr-defined]


HELD: list[int] = []


def with_what_is_held(number: int) -> tuple[int, int]:
    """What this process holds, and which process it is."""
    return HELD[0] + number, os.getpid()


def ended_at_three(number: int) -> int:
    """Kills the process that is given a three."""
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def refused_at_three(number: int) -> int:
    """Cannot do with a three."""
    if number == 3:
        raise ValueError("three")
    return number


def test_forked_processes_have_what_this_one_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is sent to processes but the inputs; each result comes once, from several processes."""
    monkeypatch.setattr(f"{__name__}.HELD", [100])
    found = list(Spread(2, processes=True)(with_what_is_held, list(range(40))))

    assert [100 + number for number in range(40)] == sorted(value for value, _ in found)
    assert os.getpid() not in {process for _, process in found}


def test_a_process_that_dies_is_told() -> None:
    """Nobody waits for ever for a process that was killed."""
    with pytest.raises(ForwardbookError, match="one of them was ended .* fewer --jobs"):
        list(Spread(2, processes=True)(ended_at_three, list(range(40))))


def test_an_error_of_a_process_is_raised_here() -> None:
    """What a function raises in a process is raised where its results are asked for."""
    with pytest.raises(ValueError, match="three"):
        list(Spread(2, processes=True)(refused_at_three, list(range(40))))


def test_leaving_processes_early_ends_them() -> None:
    """Who stops asking for results is left with no process."""
    results = Spread(2, processes=True)(abs, list(range(100)))
    next(results)
    results.close()  # type: ignore[attr-defined]

    assert not multiprocessing.active_children()


def test_nobody_at_the_address_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address where no scheduler answers is an error of ours, with what to do."""
    monkeypatch.setattr("forwardbook.pipeline.spread.CONNECT_SECONDS", 0.5)
    with pytest.raises(ClusterError, match="no scheduler answers there"):
        list(Spread(1, "tcp://127.0.0.1:9")(abs, [1]))


def test_a_killed_worker_loses_nothing(cluster: Cluster) -> None:
    """Ten inputs on two workers, one killed after the first result: all ten results come, each once."""
    address, workers = cluster
    items = [f"sleep 0.2; echo {number}" for number in range(10)]
    results = Spread(1, address)(subprocess.getoutput, items)
    found = [next(results)]
    os.kill(workers[0].pid, signal.SIGKILL)
    found += results

    assert sorted(str(number) for number in range(10)) == sorted(found)


@pytest.mark.slow
def test_regeneration_and_explaining_on_a_cluster(cluster: Cluster, tmp_path: Path) -> None:
    """Six classes analysed, then regenerated, on two workers, one of which is killed: as if nothing was."""
    address, workers = cluster
    folder = tmp_path / "work"
    (folder / "nets").mkdir(parents=True)
    names = [f"Net{number}" for number in range(6)]
    for name in names:
        (folder / "nets" / f"{name.lower()}.py").write_text(LAYERS.format(name=name, factor=2))
    (folder / "nets" / "__init__.py").write_text("")
    options = ["--init", "width=16", "--input", "x=batch_size,seq_len,width", "--cluster", address]
    places = [f"nets/{name.lower()}.py:{name}" for name in names]
    done = run(folder, "analyze-module", *places, *options)
    assert done.wait(600) == 0
    for name in names:
        path = folder / "nets" / f"{name.lower()}.py"
        path.write_text(path.read_text().replace("2 * width", "3 * width"))

    process = run(folder, "regenerate", "--cluster", address)
    until = time.monotonic() + 300
    while not list(folder.glob(".forwardbook/derived/*.json")) and time.monotonic() < until:
        time.sleep(0.1)
    os.kill(workers[0].pid, signal.SIGKILL)
    assert process.wait(600) == 0

    database = Workspace(folder).load()
    assert 6 == len(database.own)
    for key in database.own:
        assert stale_entry(key, database[key], database.rules_version, folder, frozenset()) is None
        assert "6 *" in database[key].regimes[0].flop_analysis.flops
        assert "exact" == database[key].validation.verdict
    assert run(folder, "explain", "nets", "--out", "pages", "--cluster", address).wait(600) == 0
    assert run(folder, "explain", "nets", "--out", "alone").wait(600) == 0
    pages = {page.name: page.read_text() for page in (folder / "pages").glob("*.md")}
    alone = {
        page.name: page.read_text().replace("alone/", "pages/") for page in (folder / "alone").glob("*.md")
    }
    assert alone.keys() == pages.keys()
    assert 8 == len(pages)


def run(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """The program in a folder."""
    command = [sys.executable, "-P", "-m", "forwardbook", *arguments]
    return subprocess.Popen(command, cwd=folder, env=os.environ | {"OMP_NUM_THREADS": "1"})


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells a process of its parent's end")
def test_processes_end_with_the_one_that_was_killed() -> None:
    """Who kills the program with SIGKILL leaves none of the processes that were forked for its work."""
    code = (
        "import os, time; from forwardbook.pipeline.spread import Spread\n"
        "def say(number): os.write(1, f\"{os.getpid()}\\n\".encode()); time.sleep(60)\n"
        "list(Spread(2, processes=True)(say, [1, 2, 3]))"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    forked = [int(process.stdout.readline()) for _ in range(2)]
    process.kill()
    process.wait()
    process.stdout.read()  # ends when nobody has the other end any more

    lines = [Path(f"/proc/{pid}/cmdline") for pid in forked]

    assert [] == [path for path in lines if path.exists() and path.read_bytes()]  # a zombie has none
