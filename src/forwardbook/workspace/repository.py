"""A folder in, the facts of every source file under it out: what did not change comes from the cache."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from forwardbook.analyzers.index import codec
from forwardbook.analyzers.index.facts import FileFacts, Repository
from forwardbook.analyzers.index.one_file import index_file
from forwardbook.errors import ForwardbookError
from forwardbook.workspace.index_cache import IndexCache, Row, compressed, now, text_of
from forwardbook.workspace.module_names import ModuleNames
from forwardbook.workspace.source_tree import SourceFile, SourceTree, source_tree


class LazyFiles(Mapping[str, FileFacts]):
    """Facts by path, each decoded when it is first asked for."""

    def __init__(self, rows: dict[str, bytes], again: Callable[[str], FileFacts]) -> None:
        self._rows = rows
        self._known: dict[str, FileFacts] = {}
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
    rows: dict[str, Row] = {}
    written: list[Row] = []
    skipped = list(tree.skipped)
    for file in tree.files:
        module = names.of(file.path)
        row = kept.get(file.path)
        if row is None or row.module != module or not row.unchanged(file.size, file.modified, file.changed):
            try:
                row = _read(tree, file, module, row)
            except ForwardbookError as error:
                skipped.append((file.path, str(error)))
                continue
            written.append(row)
        rows[file.path] = row
    gone = [path for path in kept if path not in rows]
    if written or gone:
        store.update(written, gone, fresh=not kept)

    def again(path: str) -> FileFacts:
        return index_file(path, tree.read(path), names.of(path))

    files = LazyFiles({path: row.facts for path, row in rows.items()}, again)
    return Repository(str(tree.root), files, tuple(sorted(skipped)))


def _read(tree: SourceTree, file: SourceFile, module: str, kept: Row | None) -> Row:
    """The row of a file as it is now; its facts are found anew only where its bytes differ."""
    read = now()
    data = tree.read(file.path)
    digest = hashlib.sha256(data).hexdigest()
    if kept is not None and (kept.digest, kept.module) == (digest, module):
        facts = kept.facts
    else:
        facts = compressed(codec.encoded(index_file(file.path, data, module)))
    return Row(file.path, file.size, file.modified, file.changed, read, digest, module, facts)
