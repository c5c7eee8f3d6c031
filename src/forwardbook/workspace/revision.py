"""A name of a git revision in; out its commit, one file of it, or all its files in a folder.

Contents come from `git cat-file`: nothing which a checkout configures (filters, hooks, attributes) runs.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from forwardbook.errors import ForwardbookError
from forwardbook.workspace.checkout import Checkout, find_checkout


class RevisionError(ForwardbookError):
    """A revision that cannot be told or read; the message says which and what to do."""


def commit_of(folder: Path, revision: str) -> str:
    """The hash of the commit that a revision means in the checkout around a folder.

    Raises:
        RevisionError: where there is no checkout, no git, or no such commit.
    """
    if find_checkout(folder.resolve()) is None:
        raise RevisionError(
            f"looking for the revision {revision}: {folder} is in no git checkout with a commit"
        )
    asked = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"]
    done = _git(asked, folder)
    if done.returncode:
        raise RevisionError(
            f"looking for the revision {revision}: the checkout of {folder} has no such commit; "
            "a shallow clone lacks older ones: git fetch --unshallow"
        )
    return done.stdout.decode().strip()


def file_at(folder: Path, commit: str, name: str) -> str | None:
    """The text of a file as a commit has it, by its path from the folder; None where it has none.

    Raises:
        RevisionError: for a file that is not UTF-8.
    """
    path = _prefixed(_checkout(folder), name)
    done = _git(["cat-file", "blob", f"{commit}:{path}"], folder)
    if done.returncode:
        return None
    try:
        return done.stdout.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RevisionError(f"reading {name} of {commit[:12]}: it is not UTF-8") from error


def export(folder: Path, commit: str, into: Path) -> Path:
    """Write every file of a commit below `into`; what was the folder's place is given back."""
    checkout = _checkout(folder)
    listed = _git(["ls-tree", "-r", "-z", "--full-tree", commit], folder)
    if listed.returncode:
        raise RevisionError(f"listing the files of {commit[:12]}: {listed.stderr.decode(errors='replace')}")
    entries = list(_entries(listed.stdout))
    for (path, _), data in zip(entries, _blobs(folder, [blob for _, blob in entries]), strict=True):
        place = into / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    place = into / checkout.prefix
    place.mkdir(parents=True, exist_ok=True)
    return place


def _entries(listing: bytes) -> Iterator[tuple[str, str]]:
    """Path and object of each ordinary file; links and submodules are left out."""
    for row in filter(None, listing.split(b"\0")):
        about, _, path = row.partition(b"\t")
        mode, kind, blob = about.decode().split()
        name = os.fsdecode(path)
        parts = PurePosixPath(name).parts
        if kind == "blob" and mode in ("100644", "100755") and ".." not in parts and not name.startswith("/"):
            yield name, blob


def _blobs(folder: Path, names: Sequence[str]) -> Iterator[bytes]:
    with tempfile.TemporaryFile() as asked:
        asked.write("".join(f"{name}\n" for name in names).encode())
        asked.seek(0)
        with subprocess.Popen(
            ["git", "-C", str(folder), "cat-file", "--batch"],
            stdin=asked,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
        ) as process:
            assert process.stdout is not None
            for name in names:
                heading = process.stdout.readline().split()
                if len(heading) != 3:
                    raise RevisionError(f"reading the object {name}: git does not have it")
                yield process.stdout.read(int(heading[2]))
                process.stdout.read(1)


def _checkout(folder: Path) -> Checkout:
    found = find_checkout(folder.resolve())
    if found is None:
        raise RevisionError(f"reading revisions: {folder} is in no git checkout with a commit")
    return found


def _prefixed(checkout: Checkout, name: str) -> str:
    return f"{checkout.prefix}/{name}" if checkout.prefix else name


def _git(arguments: Sequence[str], folder: Path) -> subprocess.CompletedProcess[bytes]:
    command = ["git", "-C", str(folder), *arguments]
    try:
        return subprocess.run(command, capture_output=True, check=False, env=_environment())
    except OSError as error:
        raise RevisionError(f"running git: {error.strerror or error}; install git") from error


def _environment() -> dict[str, str]:
    """Ours without what would lead git to another repository, as it is set while a hook runs."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1"}
