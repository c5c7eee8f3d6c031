"""The child process: whatever the code does, a clear problem comes back and nothing is left running."""

import os
import signal
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from forwardbook.pipeline.child.fork_server import Forks
from forwardbook.pipeline.child.job import Limits
from forwardbook.pipeline.child.process import run_child
from forwardbook.pipeline.child.request import Request, Response

Call = Callable[..., Response]

CLASS = """\
import os, signal, subprocess, sys, time, urllib.request
import torch

class Toy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        {init}

    def forward(self, x):
{forward}
"""


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    """A process that has imported torch and forks children."""
    with Forks("run_only:warm", ("a", "b")) as server:
        yield server


LINUX = pytest.mark.skipif(sys.platform != "linux", reason="children are forked on Linux alone")


@pytest.fixture(params=["fresh", pytest.param("forked", marks=LINUX)])
def call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forks: Forks, request: pytest.FixtureRequest
) -> Call:
    """Runs a class with the given bodies of forward() and __init__ in a child, and gives the response."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    run_child_here = run_child if request.param == "fresh" else forks.run

    def run(forward: str, *, init: str = "pass", seconds: float = 60, memory_gb: float = 1) -> Response:
        body = textwrap.indent(textwrap.dedent(forward).strip(), " " * 8)
        file = tmp_path / "toy_layers.py"
        file.write_text(CLASS.format(init=init, forward=body))
        request = Request(target="toy_layers.Toy", file=str(file), roots=(str(tmp_path),))
        return run_child_here(request, Limits(memory_gb, seconds), "run_only:work")

    return run


def test_answer_comes_back(call: Call) -> None:
    """What the worker answers comes back, and nothing of what the class printed."""
    response = call("print('hello'); print('world', file=sys.stderr); return 7")

    assert Response(entry={"returned": "7"}) == response


def test_child_is_offline(call: Call) -> None:
    """The class sees no proxy, no GPU, the hub offline, and no standard input."""
    response = call(
        """
        names = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "CUDA_VISIBLE_DEVICES", "https_proxy")
        return [os.environ.get(name) for name in names], sys.stdin.read()
        """
    )

    assert {"returned": "(['1', '1', '', None], '')"} == response.entry


@pytest.mark.parametrize(
    ("forward", "init", "kind", "words"),
    [
        (
            "raise ValueError('bad x')",
            "pass",
            "forward",
            ("running forward() of toy_layers.Toy: ValueError: bad x", "toy_layers.py:10 in forward: raise"),
        ),
        (
            "return x",
            "self.size = undefined",
            "constructor",
            ("building toy_layers.Toy: NameError", "toy_layers.py:7 in __init__", "--init name=value"),
        ),
        ("sys.exit(3)", "pass", "forward", ("sys.exit(3)", "toy_layers.py:10")),
        ("os._exit(0)", "pass", "crash", ("exit code 0 before it answered",)),
        (
            "os.kill(os.getpid(), signal.SIGSEGV)",
            "pass",
            "crash",
            ("segmentation fault (SIGSEGV)", "toy_layers.py:10 in forward"),
        ),
        (
            "os.fork()\nreturn x",
            "pass",
            "fork",
            ("tried to fork its process", "toy_layers.py:10 in forward", "--derive static"),
        ),
        (
            "return urllib.request.urlopen('http://192.0.2.1')",
            "pass",
            "forward",
            ("forwardbook runs analysed code offline",),
        ),
        (
            "held = []\nwhile True: held.append(bytearray(10**8))",
            "pass",
            "memory",
            ("more memory than 1 GB (--memory) allows", "toy_layers.py:11 in forward"),
        ),
        (
            "held = []\nwhile True: held.append(torch.zeros(10**7))",
            "pass",
            "memory",
            ("more memory than 1 GB (--memory) allows", "toy_layers.py:11 in forward"),
        ),
    ],
)
def test_problem_is_told(call: Call, forward: str, init: str, kind: str, words: tuple[str, ...]) -> None:
    """A problem says what was being done, to which class, at which line, and what to do next."""
    response = call(forward, init=init)

    assert (kind, None) == (response.problem_kind, response.entry)
    assert [word for word in words if word not in str(response.problem)] == []


def test_hang_is_ended(call: Call) -> None:
    """A forward() without end is ended in time, and the problem says at which line it was."""
    response = call("while True:\n    print('again')\n    time.sleep(0.01)", seconds=8)

    assert "timeout" == response.problem_kind
    assert "it was not done after 8 s" in str(response.problem)
    assert "toy_layers.py:1" in str(response.problem)
    assert ["again"] * 20 == response.diagnostics["output"]


def test_nothing_temporary_is_left_of_what_was_ended(call: Call) -> None:
    """A folder that was to go at the end of a block goes, though the process never came to it."""
    before = set(Path(tempfile.gettempdir()).glob("left-by-toy-*"))
    response = call("import tempfile; tempfile.mkdtemp(prefix='left-by-toy-'); os._exit(3)")

    assert response.problem is not None
    assert before == set(Path(tempfile.gettempdir()).glob("left-by-toy-*"))


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are listed by /proc")
def test_other_programs_are_ended(call: Call, tmp_path: Path) -> None:
    """A program that forward() started, with a session and environment of its own, is gone afterwards."""
    mark = f"{os.getpid()}.{time.monotonic_ns() % 10**6}"
    response = call(
        f"""
        subprocess.Popen(["sleep", "{mark}"], start_new_session=True, env={{"PATH": os.environ["PATH"]}})
        return 7
        """
    )
    commands = [one for one in Path("/proc").glob("[0-9]*/cmdline") if mark.encode() in _read(one)]

    assert {"returned": "7"} == response.entry
    assert [] == commands


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


@pytest.fixture
def forked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forks: Forks) -> Call:
    """The same in a forked child alone."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))

    def run(forward: str) -> Response:
        (tmp_path / "toy_layers.py").write_text(CLASS.format(init="pass", forward=" " * 8 + forward))
        request = Request(target="toy_layers.Toy", roots=(str(tmp_path),))
        return forks.run(request, Limits(1, 60), "run_only:work")

    return run


@LINUX
def test_forked_children_have_what_was_warmed_and_nothing_of_each_other(forked: Call) -> None:
    """What one child does to a module that all share, the next does not see."""
    body = "import run_only; run_only.given += 'x',; return run_only.given"

    assert ["('a', 'b', 'x')"] * 2 == [str((forked(body).entry or {}).get("returned")) for _ in range(2)]


@LINUX
def test_a_server_that_dies_costs_one_child_alone(forked: Call, forks: Forks) -> None:
    """Its child counts as out of memory, for which the system ends such a process; the next has another."""
    pid = forks._server().pid
    threading.Timer(3, os.kill, (pid, signal.SIGKILL)).start()
    response = forked("time.sleep(60)")

    assert "memory" == response.problem_kind
    assert {"returned": "7"} == forked("return 7").entry


@LINUX
def test_the_children_of_a_server_end_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever ends the server ends the child that it has."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    with Forks("run_only:warm") as forks:
        server = forks._server()
        (tmp_path / "job.json").write_text("")  # nothing to do: the child ends by itself
        child = server.start(tmp_path)
        child.wait(60)
        os.kill(server.pid, signal.SIGSTOP)
    for _ in range(100):
        if not Path(f"/proc/{server.pid}").exists():
            break
        time.sleep(0.02)

    assert not server.alive
    assert 1 == child.returncode
