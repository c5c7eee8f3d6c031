"""Paths and module names on standard input, a line of facts each on standard output: one of several readers.

Run by `index_files` as a program of its own, so that no caller's main module is imported again, and so that a
parser that dies takes one file with it and not the run.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from forwardbook.analyzers.index import codec
from forwardbook.analyzers.index.facts import Problem
from forwardbook.analyzers.index.one_file import index_file, language_of, plain_facts
from forwardbook.errors import ForwardbookError
from forwardbook.workspace.source_tree import SourceTree

# -P: not even the folder that we stand in, which may be the one that is read, is imported from
COMMAND: list[str] = [sys.executable, "-P", "-m", "forwardbook.workspace.index_worker"]
Asked = tuple[str, str]
"""The path of a file below the root and its module's name."""


def index_files(tree: SourceTree, asked: Sequence[Asked], jobs: int) -> Iterator[tuple[str, str]]:
    """The digest and the encoded facts of each file, by that many readers, in the order of the files."""
    shares = [asked[start::jobs] for start in range(jobs)]
    with ThreadPoolExecutor(jobs) as pool:
        results = list(pool.map(lambda share: list(_read_apart(tree, share)), shares))
    for number in range(len(asked)):
        yield results[number % jobs][number // jobs]


def _read_apart(tree: SourceTree, asked: Sequence[Asked]) -> Iterator[tuple[str, str]]:
    """Have a reader read files; where it dies, the file it was at is given up and another goes on."""
    at = 0
    while at < len(asked):
        lines = "".join(json.dumps(each) + "\n" for each in asked[at:])
        done = subprocess.run(
            [*COMMAND, str(tree.root)], input=lines.encode(), stdout=subprocess.PIPE, check=False
        )
        found = done.stdout.decode().split("\n")[:-1]
        for line in found:
            digest, _, facts = line.partition(" ")
            yield digest, facts
        at += len(found)
        if at < len(asked):
            path = asked[at][0]
            problem = Problem(0, f"the process that read it ended with {done.returncode}")
            facts_ = plain_facts(path, tree.read(path), language_of(path), problem)
            yield facts_.digest, codec.encoded(facts_)
            at += 1


def main(root: str) -> None:
    """Read files until the input ends."""
    tree = SourceTree(Path(root))
    for line in sys.stdin.buffer:
        path, module = json.loads(line)
        try:
            facts = index_file(path, tree.read(path), module)
        except ForwardbookError as error:
            facts = plain_facts(path, b"", language_of(path), Problem(0, str(error)))
        sys.stdout.buffer.write(f"{facts.digest} {codec.encoded(facts)}\n".encode())
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(sys.argv[1])
