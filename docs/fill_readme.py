"""README.md with its marked commands in, the same text with the real output of each command out."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

README: Final = Path(__file__).resolve().parent.parent / "README.md"
BLOCK: Final = re.compile(r"<!-- output: (?P<command>[^\n]+) -->\n(?P<body>.*?)<!-- /output -->", re.DOTALL)


def filled(text: str, run: Callable[[str], str]) -> str:
    """The text with the output of its command in each marked block."""
    return BLOCK.sub(lambda block: _block(block["command"], run(block["command"])), text)


def output(command: str) -> str:
    """What a forwardbook command prints, without colours, at a fixed width."""
    arguments = [sys.executable, "-P", "-m", *shlex.split(command)]
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "110", "TERM": "dumb"}
    result = subprocess.run(
        arguments, capture_output=True, text=True, env=environment, cwd=README.parent, check=False
    )
    if result.returncode:
        raise SystemExit(f"{command} ended with {result.returncode}:\n{result.stderr}")
    return result.stdout


def _block(command: str, printed: str) -> str:
    lines = "\n".join(line.rstrip() for line in printed.strip("\n").splitlines())
    return f"<!-- output: {command} -->\n```console\n$ {command}\n{lines}\n```\n<!-- /output -->"


if __name__ == "__main__":
    README.write_text(filled(README.read_text(encoding="utf-8"), output), encoding="utf-8")
