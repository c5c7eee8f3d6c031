"""CPU time of commands that ask nobody: the libraries of analysts absent, installed, or imported anyway.

Run it with `python -m benchmarks.agent_imports`; it prints a table. Each figure is the least of seven runs.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

RUNS = 7
START = """\
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("anthropic", "claude_agent_sdk", "mcp", "httpx2"):
            raise ModuleNotFoundError(name)
if {absent}:
    sys.meta_path.insert(0, Absent())
if {imported}:
    import anthropic, claude_agent_sdk
from forwardbook.cli import main
sys.exit(main(sys.argv[1:]))
"""
STATES = {"absent": (True, False), "installed": (False, False), "imported": (False, True)}


def seconds(code: str, arguments: Sequence[str]) -> float:
    """The least CPU time of a command, its children included; each run has an empty cache and folder."""
    found = []
    for _ in range(RUNS):
        with tempfile.TemporaryDirectory() as folder:
            known = {"XDG_CACHE_HOME": folder, "PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join(sys.path)}
            typed = [argument.replace("OUT", folder) for argument in arguments]
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, "-c", code, *typed], env=known, capture_output=True, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


def main() -> None:
    """The table, a line for each command."""
    room = Path(__file__).resolve().parents[1] / "agents"
    commands = {
        "forwardbook --help": ["--help"],
        "explain agents/ledger.py": [
            *("explain", str(room / "ledger.py"), "--root", str(room), "--out", "OUT/pages")
        ],
    }
    print(f"| command | {' | '.join(STATES)} |\n|---|{'---|' * len(STATES)}")
    for name, arguments in commands.items():
        codes = [START.format(absent=absent, imported=imported) for absent, imported in STATES.values()]
        row = [f"{seconds(code, arguments):.2f} s" for code in codes]
        print(f"| `{name}` | {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
