"""What analysed code cannot do: reach a listener, read a secret, change a file, leave a process."""

import os
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from forwardbook.pipeline.child import landlock
from forwardbook.pipeline.child.fork_server import Forks
from forwardbook.pipeline.child.job import Limits
from forwardbook.pipeline.child.request import Request, Response

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="namespaces and Landlock are of Linux")
Call = Callable[[str], Response]

CLASS = """\
import ctypes, os, pathlib, signal, socket, subprocess, sys
import torch

libc = ctypes.CDLL(None)
said = []


def attempt(function):
    try:
        said.append(function())
    except OSError as error:
        said.append(type(error).__name__)


class Toy(torch.nn.Module):
    def forward(self, x):
{forward}
        return said
"""


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    """A process that has imported torch and forks children."""
    with Forks("run_only:warm", ()) as server:
        yield server


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forks: Forks) -> Call:
    """Runs lines in forward() of a class in a child."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    (tmp_path / "code").mkdir()

    def run(forward: str) -> Response:
        file = tmp_path / "code" / "toy_layers.py"
        file.write_text(CLASS.format(forward=textwrap.indent(textwrap.dedent(forward).strip(), " " * 8)))
        request = Request(target="toy_layers.Toy", file=str(file), roots=(str(file.parent),))
        return forks.run(request, Limits(1, 60), "run_only:work")

    return run


@pytest.fixture(scope="module")
def apart() -> bool:
    """Whether this system allows namespaces; found out by a process of one thread."""
    asked = "from forwardbook.pipeline.child.namespaces import possible; print(bool(possible()))"
    return "True" in subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True).stdout


def test_no_listener_is_reached(call: Call, tmp_path: Path, apart: bool) -> None:
    """Neither Python, nor native code, nor a program that was started sends anything to a listener."""
    if not apart:
        pytest.skip("this system has no network namespaces for us")
    reached: list[str] = []
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", 0))
    port = udp.getsockname()[1]
    tcp = socket.create_server(("127.0.0.1", port))
    named = socket.socket(socket.AF_UNIX)
    named.bind(str(tmp_path / "named"))
    named.listen()
    threading.Thread(target=lambda: reached.append(str(udp.recv(9))), daemon=True).start()
    for listener in (tcp, named):
        threading.Thread(target=lambda one=listener: reached.append(str(one.accept())), daemon=True).start()
    sends = f"import socket; socket.socket(2, 2).sendto(b'x', ('127.0.0.1', {port}))"
    connects = f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)"
    unix = f"import socket; socket.socket(1).connect('{tmp_path}/named')"
    response = call(
        f"""
        attempt(lambda: socket.create_connection(("127.0.0.1", {port}), 2))
        attempt(lambda: socket.socket(2, 2).sendto(b"x", ("127.0.0.1", {port})))
        attempt(lambda: socket.socket(2, 1).bind(("0.0.0.0", 0)))
        attempt(lambda: socket.getaddrinfo("localhost", 1))
        attempt(lambda: socket.socket(1).connect("{tmp_path}/named"))
        for code in ({sends!r}, {connects!r}, {unix!r}):
            said.append(subprocess.run([sys.executable, "-c", code], stderr=-3).returncode)
        address = (2).to_bytes(2, "little") + ({port}).to_bytes(2, "big") + bytes([127, 0, 0, 1]) + bytes(8)
        said.append(libc.connect(libc.socket(2, 1, 0), address, 16))
        said.append(libc.sendto(libc.socket(2, 2, 0), b"x", 1, 0, address, 16))
        """
    )
    time.sleep(0.2)

    assert {"returned": str([*["NetworkRefused"] * 5, 1, 1, 1, -1, -1])} == response.entry
    assert [] == reached


def test_a_secret_of_ours_is_out_of_reach(call: Call, monkeypatch: pytest.MonkeyPatch, apart: bool) -> None:
    """The environment of the child, and what it can read of other processes, hold no variable of ours."""
    monkeypatch.setenv("OUR_SECRET", "correct-horse")
    response = call(
        f"""
        said.append(str(dict(os.environ)))
        for path in ("/proc/{os.getpid()}/environ", "/proc/1/environ", "/proc/self/environ"):
            attempt(pathlib.Path(path).read_text)
        """
    )

    assert "FORWARDBOOK_CHILD" in str(response.entry)
    assert not apart or "correct-horse" not in str(response.entry)


def test_a_variable_that_is_named_is_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of our variables the child gets what it needs to run, and those that a person names."""
    from forwardbook.pipeline.child.environment import environment

    ours = {"PATH": "/bin", "DATA_ROOT": "/data", "API_KEY": "k", "FORWARDBOOK_PASS_ENV": "DATA_ROOT, OTHER"}
    theirs = environment("token", ours)

    assert ("/bin", "/data") == (theirs["PATH"], theirs["DATA_ROOT"])
    assert not {"API_KEY", "OTHER", "HOME"} & theirs.keys()


def test_files_of_others_stay(call: Call, tmp_path: Path, apart: bool) -> None:
    """Neither Python, nor native code, nor a program changes a file beyond the child's own folder."""
    if not landlock.abi() and not apart:
        pytest.skip("this system neither has Landlock nor allows mounts")
    kept = tmp_path / "kept.txt"
    kept.write_text("kept")
    before = kept.stat()
    call(
        f"""
        own = pathlib.Path("own.txt")
        own.write_text("x")
        for write in (
            lambda: open("{kept}", "w"),
            lambda: os.remove("{kept}"),
            lambda: own.rename("{kept}"),
            lambda: os.mkdir("{tmp_path}/new"),
            lambda: os.chmod("{kept}", 0),
            lambda: subprocess.run("echo x > {kept}; rm {kept}; touch {tmp_path}/new", shell=True),
        ):
            attempt(write)
        libc.unlink(b"{kept}")
        libc.open(b"{tmp_path}/new", 0o101, 0o644)
        """
    )

    assert "kept" == kept.read_text()
    assert before.st_mode == kept.stat().st_mode
    assert {"kept.txt", "code"} == {path.name for path in tmp_path.iterdir()}


def test_its_folder_is_its_home(call: Call) -> None:
    """Home, temporary files and the current folder are one folder, which is gone afterwards."""
    response = call(
        """
        import tempfile
        said.extend({os.getcwd(), os.path.expanduser("~"), tempfile.gettempdir(), os.environ["TMPDIR"]})
        """
    )
    [folder] = eval(str((response.entry or {})["returned"]))  # noqa: S307 - a list of our own making

    assert Path(folder).name == "home"
    assert not Path(folder).exists()


KEPT = """\
import ctypes, os, pathlib, subprocess, sys, tempfile, time
from forwardbook.pipeline.child import keeper, namespaces

if {allowed}:
    namespaces.possible = lambda: 0
keeper.apart(pathlib.Path(tempfile.mkdtemp(dir=sys.argv[1])), os.getppid())
libc = ctypes.CDLL(None)
subprocess.Popen(["sleep", "{mark}"], start_new_session=True, env={{}})
subprocess.Popen(["sh", "-c", 'trap "" TERM; (setsid sh -c "sleep {mark} & sleep {mark}" &) &'], env={{}})
if libc.fork() == 0:
    libc.setsid()
    if libc.fork() == 0:
        libc.sleep({mark})
    libc._exit(0)
print("started", flush=True)
time.sleep(0.3)
{end}
"""


@pytest.mark.parametrize("allowed", ["not True", "True"], ids=["namespaces", "without namespaces"])
@pytest.mark.parametrize(
    ("end", "code"),
    [("os._exit(7)", 7), ("os.kill(os.getpid(), 9)", -9), ("os.kill(os.getpid(), 11)", -11), ("sleep", -15)],
)
def test_all_that_was_started_ends(tmp_path: Path, allowed: str, end: str, code: int) -> None:
    """Programs and copies with a session of their own and no environment end with the process.

    Who waits for it ends as it did; told to end, it takes all with it.
    """
    mark = str(8 * 10**7 + time.monotonic_ns() % 10**7)
    text = KEPT.format(allowed=allowed, mark=mark, end="time.sleep(60)" if end == "sleep" else end)
    process = subprocess.Popen([sys.executable, "-c", text, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    started = process.stdout.readline()
    if end == "sleep":
        process.terminate()
    ended = process.wait(30)
    process.stdout.close()
    alive = [path for path in Path("/proc").glob("[0-9]*/cmdline") if mark.encode() in _read(path)]

    assert "started\n" == started
    assert [] == alive
    if end == "sleep":
        assert ended in (-15, -9)  # the latter is how what it waited for ended
    else:
        assert code == ended


def test_namespaces_are_found_out_once() -> None:
    """What the system allows does not change the process that asks."""
    asked = (
        "import os; before = os.readlink('/proc/self/ns/net'), os.getuid()\n"
        "from forwardbook.pipeline.child.namespaces import possible; possible()\n"
        "assert (os.readlink('/proc/self/ns/net'), os.getuid()) == before"
    )

    assert 0 == subprocess.run([sys.executable, "-c", asked]).returncode


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
