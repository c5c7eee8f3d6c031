"""The site's scripts that need no page in a V8 of their own process: functions and cases in, answers out.

The product asks a V8 of its own in the process of the tests, from a thread of its own; two in one process,
started by two threads, end that process on some processors.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any


class Scripts:
    """The scripts in V8; values go in and come out as JSON."""

    def __init__(self, files: Sequence[Path]) -> None:
        command = [sys.executable, __file__, *map(str, files)]
        self._process = Popen(command, stdin=PIPE, stdout=PIPE, text=True)

    def each(self, function: str, cases: Sequence[object]) -> list[Any]:
        """What a function of driver.js answers to each case, `{"error": message}` where it throws."""
        asked, answered = self._process.stdin, self._process.stdout
        assert asked is not None
        assert answered is not None
        asked.write(json.dumps([function, json.dumps(cases)]) + "\n")
        asked.flush()
        return list(json.loads(json.loads(answered.readline())))

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def main(files: Sequence[str]) -> None:
    """Read the files; then a question from each line of the input, its answer on a line of the output."""
    from py_mini_racer import MiniRacer

    engine = MiniRacer()
    for name in files:
        engine.eval(Path(name).read_text(encoding="utf-8"))
    for line in sys.stdin:
        function, cases = json.loads(line)
        print(json.dumps(engine.eval(f"driver.each({function!r}, {json.dumps(cases)})")), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
