"""A folder in, the facts of every source file under it out: what did not change comes from the cache."""

from __future__ import annotations

import hashlib
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from forwardbook.analyzers.index import codec
from forwardbook.analyzers.index.facts import FileFacts, Repository
from forwardbook.analyzers.index.one_file import index_file
from forwardbook.errors import ForwardbookError
from forwardbook.workspace.index_cache import IndexCache, Row, compressed, now, text_of
from forwardbook.workspace.index_worker import index_files
from forwardbook.workspace.module_names import ModuleNames
from forwardbook.workspace.source_tree import SourceFile, SourceTree, source_tree

WORTH: Final = 600_000  # bytes of source for which a reader of its own is worth its start


class LazyFiles(Mapping[str, FileFacts]):
    """Facts by path, each decoded when it is first asked for."""

    def __init__(
        self, rows: dict[str, bytes], known: dict[str, FileFacts], again: Callable[[str], FileFacts]
    ) -> None:
        self._rows = rows
        self._known = known
        self._again = again

    def __getitem__(self, path: str) -> FileFacts:
        found = self._known.get(path)
        if found is None:
            try:
                found = codec.decoded(text_of(self._rows[path]))
            except (ValueError, TypeError, IndexError, zlib.error):
                found = self._again(path)  # the row is damaged
            self._known[path] = found
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def build_repository(root: Path | str, jobs: int = 1, cache: Path | None = None) -> Repository:
    """The facts of every source file under a root; only files that changed since the last time are read."""
    return repository_of(source_tree(Path(root)), jobs, cache)


def repository_of(tree: SourceTree, jobs: int = 1, cache: Path | None = None) -> Repository:
    """The facts of every file of a tree."""
    names = ModuleNames(tree)
    store = IndexCache(tree.root, cache)
    kept = store.rows()
    skipped = list(tree.skipped)
    rows: dict[str, Row] = {}
    new: list[_New] = []
    known: dict[str, FileFacts] = {}
    for file in tree.files:
        module = names.of(file.path)
        row = kept.get(file.path)
        if row is not None and row.module == module and row.unchanged(file.size, file.modified, file.changed):
            rows[file.path] = row
            continue
        try:
            new.append(_looked_at(tree, file, module, row))
        except ForwardbookError as error:
            skipped.append((file.path, str(error)))
    for row in _indexed(tree, new, jobs, known):
        rows[row.path] = row
    gone = [path for path in kept if path not in rows and tree.looked_into(path)]
    if new or gone:
        store.update([rows[each.file.path] for each in new], gone, fresh=not kept)

    def again(path: str) -> FileFacts:
        return index_file(path, tree.read(path), names.of(path))

    kept_facts = {file.path: rows[file.path].facts for file in tree.files if file.path in rows}
    files = LazyFiles(kept_facts, known, again)
    return Repository(str(tree.root), files, tuple(sorted(skipped)))


@dataclass(frozen=True, slots=True)
class _New:
    """A file that is not surely the one that was read before."""

    file: SourceFile
    module: str
    read: int  # when
    digest: str
    facts: bytes | None  # those kept, where its bytes turn out to be the same


def _looked_at(tree: SourceTree, file: SourceFile, module: str, kept: Row | None) -> _New:
    """Whether the bytes of a file are those that were read before."""
    read = now()
    digest = hashlib.sha256(tree.read(file.path)).hexdigest()
    same = kept is not None and (kept.digest, kept.module) == (digest, module)
    return _New(file, module, read, digest, kept.facts if same and kept else None)


def _indexed(tree: SourceTree, new: list[_New], jobs: int, known: dict[str, FileFacts]) -> Iterator[Row]:
    """The rows of files as they are now; facts found in this process are entered in `known`."""
    unread = [each for each in new if each.facts is None]
    size = sum(each.file.size for each in unread)
    readers = min(jobs, len(unread), size // WORTH) if sys.executable else 1
    texts: dict[str, tuple[str, str]] = {}
    if readers > 1:
        asked = [(each.file.path, each.module) for each in unread]
        texts = dict(zip((path for path, _ in asked), index_files(tree, asked, readers), strict=True))
    for each in new:
        path, digest, facts = each.file.path, each.digest, each.facts
        if facts is None and path in texts:
            digest, text = texts[path]
            facts = compressed(text)
        elif facts is None:
            found = known[path] = index_file(path, tree.read(path), each.module)
            digest, facts = found.digest, compressed(codec.encoded(found))
        marks = each.file.size, each.file.modified, each.file.changed
        yield Row(path, *marks, each.read, digest, each.module, facts)
