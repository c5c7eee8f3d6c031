"""Markdown files and a root in; every claim of these pages, held against the sources below the root, out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from forwardbook.errors import ForwardbookError

if TYPE_CHECKING:
    from forwardbook.book.verify import Claim
    from forwardbook.pipeline.explain.sources import Resolver


class PageError(ForwardbookError):
    """A page that is not there or cannot be read."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One page, its number of lines and its claims."""

    page: str
    lines: int
    claims: tuple[Claim, ...]


def verify_pages(
    pages: tuple[Path, ...], root: Path | None = None, resolver: Resolver = "own"
) -> Iterator[Judged]:
    """The claims of each page, page after page; folders stand for the Markdown files below them.

    Without a root it is this folder or one above a page: the one that has most of the files they tell of.

    Raises:
        PageError: where a page cannot be read, the root is no folder, or no folder has any of those files.
    """
    from forwardbook.book.verify import Sources, Verifier
    from forwardbook.pipeline.explain.diagram_verdicts import kept_grammar
    from forwardbook.pipeline.explain.sources import read_sources
    from forwardbook.pipeline.explain.state import own_pages
    from forwardbook.workspace.source_tree import source_tree

    if root is not None and not root.is_dir():
        raise PageError(f"verifying pages: --root {root} is no folder. Give the folder that they speak of")
    read = {path: _text(path) for path in _files(pages)}
    root = root.resolve() if root is not None else _root_of(read)
    texts = {_place(path, root): text for path, text in read.items()}
    tree = source_tree(root)
    ours = {own for page in pages for own in own_pages(tree, page if page.is_dir() else page.parent)}
    sources = read_sources(tree, frozenset(ours), resolver, 1)
    held = Sources(sources.repository, sources.graph, sources.read, texts, _exists(root, pages))
    verifier = Verifier(held, kept_grammar())
    for place, text in texts.items():
        yield Judged(place, text.count("\n") + 1, verifier.verify(text, place))


def _root_of(pages: Mapping[Path, str]) -> Path:
    """The folder with most of the files that the front matter of pages names; this one before others."""
    from forwardbook.book.verify.reading import read_page

    named = sorted({source for text in pages.values() for source in read_page(text).sources})
    if not named:
        return Path.cwd()
    above = (folder for path in pages for folder in path.resolve().parents)
    has = {
        folder: sum((folder / name).is_file() for name in named)
        for folder in dict.fromkeys((Path.cwd(), *above))
    }
    found = max(has, key=lambda folder: has[folder])
    if not has[found]:
        raise PageError(
            f"verifying pages: they tell of {', '.join(named[:3])}{', ...' if named[3:] else ''}, of which "
            f"nothing is in {Path.cwd()} or above the pages. Give the folder that they speak of: --root DIR"
        )
    return found


def _exists(root: Path, pages: tuple[Path, ...]) -> Callable[[str], bool]:
    """Whether there is a file or folder below the root, or beside a page that lies elsewhere."""
    tops = (root, *dict.fromkeys((page if page.is_dir() else page.parent).resolve() for page in pages))

    def exists(path: str) -> bool:
        try:
            whole = (root / path).resolve()
            return any(whole.is_relative_to(top) for top in tops) and whole.exists()
        except (OSError, ValueError, RuntimeError):
            return False

    return exists


def _files(pages: tuple[Path, ...]) -> Iterator[Path]:
    for page in pages:
        if page.is_dir():
            found = sorted(path for path in page.rglob("*.md") if path.is_file())
            if not found:
                raise PageError(f"verifying the pages in {page}: no .md file was found there")
            yield from found
        elif page.is_file():
            yield page
        else:
            raise PageError(f"verifying {page}: there is no such file. Check the spelling")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        return path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise PageError(f"verifying {path}: {error.strerror}. Make it readable") from error


def _place(path: Path, root: Path) -> str:
    whole = path.resolve()
    return whole.relative_to(root).as_posix() if whole.is_relative_to(root) else str(whole)
