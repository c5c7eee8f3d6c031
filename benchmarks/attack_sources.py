"""Hostile classes analysed as an ordinary one is: what they reached, left running, wrote or told is counted.

    python -m benchmarks.attack_sources

Each attack stands in the module, in the constructor and in forward() of a class. Beside them stand listeners
of this process, a secret in its environment and a folder whose files are to stay as they are. Exit code 1
where anything got through. The child builds and calls the class as an analysis does and derives nothing, so
that three hundred end in minutes; with `--whole` it analyses.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import socket
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.attacks import ATTACKS, PLACES, source
from benchmarks.measuring import ROOT, about
from benchmarks.publishing import publish, table

from forwardbook.errors import ForwardbookError
from forwardbook.pipeline.analysis.attempt import Attempt
from forwardbook.pipeline.analysis.one import Options, attempt, concluded
from forwardbook.pipeline.child.fork_server import Forks
from forwardbook.pipeline.child.job import Limits
from forwardbook.pipeline.child.request import Request, Response
from forwardbook.workspace import Workspace

SECRET = "SAFE_PROBE_SECRET"
ALIVE_SECONDS = 5.0
WARMER, WORKER = "benchmarks.attacks:warm", "benchmarks.attacks:work"
WHOLE = "forwardbook.pipeline.child.work:work"
LIMITS = Limits(2.0, 60.0)
OPTIONS = Options(inputs={"x": "batch_size,8"}, derive="symbolic", points=2, explore=False)


@dataclass(frozen=True)
class Outcome:
    """What one hostile class came to."""

    attack: str
    place: str
    reached: int
    told: int
    """Texts with the secret in them: messages, entries, what a model would be told, the workspace's files."""
    written: tuple[str, ...]
    alive: int
    ended: str
    """What Python raised within the attack, else how the child ended."""


class Listeners:
    """A port for datagrams and connections, and named sockets of both kinds; what reaches them is counted."""

    def __init__(self, folder: Path) -> None:
        self.count = 0
        self.path, self.abstract = str(folder / "listener.sock"), f"listener-{os.getpid()}"
        stream, datagram = socket.SOCK_STREAM, socket.SOCK_DGRAM
        tcp = self._bound(socket.AF_INET, stream, ("127.0.0.1", 0))
        self.port: int = tcp.getsockname()[1]
        self._all = [
            tcp,
            self._bound(socket.AF_INET, datagram, ("127.0.0.1", self.port)),
            self._bound(socket.AF_UNIX, stream, self.path),
            self._bound(socket.AF_UNIX, stream, f"\0{self.abstract}"),
        ]
        for one in self._all:
            threading.Thread(target=self._count, args=(one,), daemon=True).start()

    def _bound(self, family: int, kind: int, address: object) -> socket.socket:
        made = socket.socket(family, kind)
        made.bind(address)  # type: ignore[arg-type]
        if kind == socket.SOCK_STREAM:
            made.listen(64)
        return made

    def _count(self, listener: socket.socket) -> None:
        while True:
            if listener.type == socket.SOCK_STREAM:
                listener.accept()[0].close()
            else:
                listener.recv(4096)
            self.count += 1


def main() -> None:
    """Try every attack in every place and publish what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="attacks whose name holds this")
    parser.add_argument("--place", choices=PLACES, action="append")
    parser.add_argument("--whole", action="store_true", help="derive and prove, too")
    parser.add_argument("--no-record", action="store_true")
    given = parser.parse_args()
    names = [name for name in ATTACKS if given.only in name]
    secret = f"secret-{os.urandom(6).hex()}"
    os.environ |= {SECRET: secret, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "src")))}
    with tempfile.TemporaryDirectory(prefix="attack-") as folder, Forks(WARMER) as forks:
        trial = Trial(Path(folder), secret, Listeners(Path(folder)), forks, WHOLE if given.whole else WORKER)
        outcomes = [trial.run(name, place) for place in given.place or PLACES for name in names]
    figures = {
        "sources": len(outcomes),
        "reached a listener": sum(one.reached for one in outcomes),
        "texts with the secret": sum(one.told for one in outcomes),
        "files changed outside": sum(len(one.written) for one in outcomes),
        f"processes alive {ALIVE_SECONDS:g} s after": sum(one.alive for one in outcomes),
    }
    got = [one for one in outcomes if one.reached or one.told or one.written or one.alive]
    print(json.dumps(figures, indent=1), *got, sep="\n")
    if not given.no_record:
        record = {
            "about": about("benchmarks.attack_sources", ("torch",)),
            "figures": figures,
            "outcomes": [asdict(one) for one in outcomes],
        }
        shown = table(("hostile sources", "number"), [(name, str(count)) for name, count in figures.items()])
        publish("attack_sources", record, [shown])
    if got:
        raise SystemExit("something got through")


class Trial:
    """A folder with a workspace and a victim beside it, listeners, and a way to run children."""

    def __init__(self, folder: Path, secret: str, listeners: Listeners, forks: Forks, worker: str) -> None:
        self.folder, self.secret, self.listeners = folder, secret, listeners
        self.forks, self.worker, self.ended = forks, worker, ""
        self.victim = folder / "victim"
        self.victim.mkdir()
        for name in ("kept.txt", "other.txt"):
            (self.victim / name).write_text("kept", encoding="utf-8")

    def run(self, name: str, place: str) -> Outcome:
        """Analyse one hostile class in a workspace of its own."""
        mark = f"1{os.getpid() % 1000:03d}{time.monotonic_ns() % 10**5:05d}"
        root = self.folder / f"{name}_{place}"
        root.mkdir()
        (root / "module_db.json").write_text('{"schema_version": 2, "entries": {}}', encoding="utf-8")
        file = root / "hostile_layers.py"
        file.write_text(source(name, place, self._values(root, mark)), encoding="utf-8")
        before, reached = _state(self.victim, root), self.listeners.count
        self.ended = "not run"
        texts = self._texts(root, file)
        done = time.monotonic()
        after = _state(self.victim, root)
        while (alive := self._alive(mark)) and time.monotonic() < done + ALIVE_SECONDS:
            time.sleep(0.1)
        texts += [_text(path) for path in root.rglob("*") if path.is_file()]
        written = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
        told = sum(self.secret in text for text in texts)
        return Outcome(
            name, place, self.listeners.count - reached, told, tuple(written), len(alive), self.ended
        )

    def _values(self, root: Path, mark: str) -> dict[str, str]:
        """What the sources say in place of names in capitals."""
        return {
            "PORT": str(self.listeners.port),
            "UNIX": self.listeners.path,
            "ABSTRACT": self.listeners.abstract,
            "VICTIM": str(self.victim),
            "ROOT": str(root),
            "MARK": mark,
            "SECRET": SECRET,
            "PARENT": str(os.getpid()),
        }

    def _texts(self, root: Path, file: Path) -> list[str]:
        """What a person, a file or a model would be told; the first says how it ended."""
        workspace = Workspace(root)
        try:
            tried = attempt(f"{file}:Hostile", OPTIONS, workspace, LIMITS, force=True, run=self._run)
            assert isinstance(tried, Attempt)
            if tried.problem is not None:
                return [str(tried.problem), *tried.points]
            made = concluded(tried, workspace)
        except ForwardbookError as error:
            return [str(error)]
        return ["stored", made.entry.model_dump_json(), *tried.points]

    def _run(self, request: Request, limits: Limits) -> Response:
        response = self.forks.run(request, limits, self.worker)
        refused = response.diagnostics.get("refused") or [response.problem_kind]
        self.ended = ", ".join(map(str, refused)) if isinstance(refused, list) else ""
        return response

    def _alive(self, mark: str) -> list[int]:
        """Programs with the mark, and copies of the process that ran the class."""
        server = self.forks._server().pid
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                text = path.read_bytes()
                copy = b"forwardbook.pipeline.child" in text and int(path.parent.name) != server
                if mark.encode() in text or copy and str(os.getpid()).encode() in text:
                    found.append(int(path.parent.name))
        return found


def _state(victim: Path, root: Path) -> dict[str, tuple[str, int, float]]:
    """What there is in the two folders but for what an analysis writes: content, mode, and time of files."""
    ours = ("module_db.json", "generated_modules", ".forwardbook", "diagnostics")
    found = {}
    for path in (*sorted(victim.rglob("*")), root / "hostile_layers.py", victim, *root.iterdir()):
        if path.name in ours and path.parent == root or path.name.endswith(".lock"):
            continue
        mode = path.stat().st_mode if path.exists() else 0
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path)] = (content, mode, path.stat().st_mtime if path.is_file() else 0.0)
    return found | ({} if (root / "module_db.json").exists() else {"no database": ("", 0, 0.0)})


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


if __name__ == "__main__":
    main()
