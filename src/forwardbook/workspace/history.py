"""A folder in version control in, when and by which commit each file last changed out.

Git reads the objects of the checkout from an empty repository of our own, so that nothing the checkout
configures (programs, hooks, remotes, includes) is ever looked at.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Final, NamedTuple

from forwardbook.workspace.checkout import Checkout, find_checkout
from forwardbook.workspace.index_cache import cache_folder, cache_name
from forwardbook.workspace.storage import WorkspaceError, write_atomically

SECONDS: Final = 20.0  # histories of millions of commits are not read to their beginning
_COMMIT: Final = re.compile(r"\n?\x01([0-9a-f]{40})\x02(\d{4}-\d\d-\d\d)$")


class Change(NamedTuple):
    """The last commit that touched a file, and its date (`2025-01-31`)."""

    date: str
    commit: str


def last_changes(root: Path, wanted: Collection[str], cache: Path | None = None) -> dict[str, Change]:
    """The last change of each wanted file that is under version control; kept until the checkout moves on."""
    checkout = find_checkout(root.resolve())
    if checkout is None:
        return {}
    kept = (cache or cache_folder()) / "history" / f"{cache_name(root.resolve())}.json"
    known = _kept(kept, checkout.head)
    if known is None or not set(wanted) <= known.keys():
        asked = set(wanted) | set(known or ())
        found = _read(checkout, asked)
        known = {path: found.get(path) for path in asked}
        with suppress(WorkspaceError):
            write_atomically(kept, json.dumps({"head": checkout.head, "changes": known}))
    return {path: change for path in wanted if (change := known.get(path)) is not None}


def _kept(path: Path, head: str) -> dict[str, Change | None] | None:
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["head"] != head:
            return None
        return {name: Change(*change) if change else None for name, change in kept["changes"].items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def _read(checkout: Checkout, wanted: Collection[str]) -> dict[str, Change]:
    """Follow the history backwards until every file was met; empty where git is not installed."""
    command = ["git", "--no-pager", "log", "-z", "--format=%x01%H%x02%cs", "--name-only", "--no-renames"]
    command += ["--no-ext-diff", "--no-textconv", "--no-show-signature", checkout.head]
    command += ["--", checkout.prefix] if checkout.prefix else []
    with tempfile.TemporaryDirectory(prefix="forwardbook-") as folder:
        environment = _empty_repository(Path(folder), checkout)
        try:
            process = subprocess.Popen(
                command,
                env=environment,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError:
            return {}
        with process:
            assert process.stdout is not None
            try:
                return _changes(process.stdout, checkout.prefix, set(wanted))
            finally:
                process.kill()


def _empty_repository(folder: Path, checkout: Checkout) -> dict[str, str]:
    """A repository without settings that borrows the objects of a checkout: the environment to run git in."""
    for name in ("refs", "objects"):
        (folder / name).mkdir()
    (folder / "HEAD").write_text(checkout.head + "\n")
    (folder / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = true\n")
    with suppress(OSError):
        (folder / "shallow").write_bytes((checkout.common / "shallow").read_bytes())
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "GIT_DIR": str(folder),
        "GIT_OBJECT_DIRECTORY": str(checkout.common / "objects"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "HOME": str(folder),
    }


def _changes(output: IO[bytes], prefix: str, missing: set[str]) -> dict[str, Change]:
    found: dict[str, Change] = {}
    change: Change | None = None
    until = time.monotonic() + SECONDS
    for word in _words(output):
        if match := _COMMIT.match(word):
            change = Change(match[2], match[1])
            if not missing or time.monotonic() > until:
                break
        elif change is not None:
            path = word.lstrip("\n")
            path = path[len(prefix) + 1 :] if prefix else path
            if path in missing:
                missing.discard(path)
                found[path] = change
    return found


def _words(output: IO[bytes]) -> Iterator[str]:
    """What stands between NUL bytes."""
    rest = b""
    while block := output.read(1 << 16):
        *words, rest = (rest + block).split(b"\0")
        yield from (word.decode("utf-8", "surrogateescape") for word in words)
    if rest:
        yield rest.decode("utf-8", "surrogateescape")
