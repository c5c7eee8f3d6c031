"""What a killed process was writing goes when somebody writes there again; what a living one writes stays."""

import signal
import subprocess
import sys
from pathlib import Path

from forwardbook.workspace.storage import drop_unfinished

WRITES = """\
import os, sys, time
from pathlib import Path
from forwardbook.workspace import storage

def stop(descriptor):
    print("writing", flush=True)
    time.sleep(60)

os.fsync = stop
storage.write_atomically(Path(sys.argv[1]), "half")
"""


def writing(path: Path) -> subprocess.Popen[str]:
    """A process that has begun to write a file, and waits before it is done."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITES, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    return process


def write(path: Path) -> None:
    """Write the file in a process of its own, as the next run of a command does."""
    code = "import sys, pathlib; from forwardbook.workspace import write_atomically as w; "
    subprocess.run([sys.executable, "-c", f"{code}w(pathlib.Path(sys.argv[1]), 'whole')", path], check=True)


def test_what_a_killed_process_was_writing_goes(tmp_path: Path) -> None:
    """After a kill and another run there is the file alone."""
    process = writing(tmp_path / "a.py")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    left = [path.name for path in tmp_path.iterdir()]
    write(tmp_path / "a.py")

    assert ["a.py"] != left
    assert 1 == len(left)
    assert ["a.py"] == [path.name for path in tmp_path.iterdir()]
    assert "whole" == (tmp_path / "a.py").read_text()


def test_what_a_living_process_writes_stays(tmp_path: Path) -> None:
    """Another run leaves it alone, and so does who takes away all that is unfinished."""
    process = writing(tmp_path / "a.py")
    write(tmp_path / "a.py")
    drop_unfinished(tmp_path / "*.py")
    left = {path.name for path in tmp_path.iterdir()}
    process.kill()
    process.communicate()
    drop_unfinished(tmp_path / "*.py")

    assert 2 == len(left)
    assert ["a.py"] == [path.name for path in tmp_path.iterdir()]
