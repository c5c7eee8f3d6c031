"""Which pages a target gets: a target and its facts in; the name and subject of each page out, in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from forwardbook.analyzers.index.facts import Repository
from forwardbook.book.page import hyphenated
from forwardbook.book.repository.survey import is_below
from forwardbook.pipeline.explain.target import Target, TargetError, page_names

Kind = Literal["file", "overview", "components", "readme", "structure", "summary", "quick", "index"]
DOCUMENTED: Final = frozenset({"python", "c", "cpp", "cuda", "notebook", "cmake", "yaml", "json", "toml"})
SET: Final[dict[Kind, str]] = {
    "readme": "README.md",
    "structure": "STRUCTURE.md",
    "summary": "SUMMARY.md",
    "quick": "QUICK_REFERENCE.md",
    "index": "INDEX.md",
}


@dataclass(frozen=True, slots=True)
class Planned:
    """One page: `subject` is the file or folder that it is about."""

    name: str
    kind: Kind
    subject: str


@dataclass(frozen=True, slots=True)
class Plan:
    """The pages in the order they are written: those that build on others come last."""

    pages: tuple[Planned, ...]
    focus: str = ""

    @property
    def of_files(self) -> dict[str, str]:
        """Each documented file with the name of its page."""
        return {page.subject: page.name for page in self.pages if page.kind == "file"}


def plan(
    target: Target, repository: Repository, focus: str = "", taken: Mapping[str, str] | None = None
) -> Plan:
    """The pages of a target; where there is nothing to document that is said.

    `taken` are the names of pages that are there already, with the files that they are about.
    """
    taken = {name: path for name, path in (taken or {}).items() if path in repository.files}
    chosen = _chosen(target, repository)
    if not chosen:
        raise TargetError(
            f"explaining {', '.join(str(target.root / path) for path in target.paths)}: no source or "
            f"configuration file was found there{_skipped(repository)}. Give another path"
        )
    if target.kind == "repository":
        folder = find_focus(focus, repository, target.paths[0]) if focus else ""
        files = [path for path in chosen if folder and is_below(path, folder)]
        documents = (Planned(name, kind, target.paths[0]) for kind, name in SET.items())
        return Plan((*_file_pages(files, taken), *documents), folder)
    pages = _file_pages(chosen, taken)
    if target.kind == "folder":
        name = f"{hyphenated(target.name) or 'folder'}-overview.md"
        return Plan((*pages, Planned(name, "overview", target.paths[0])))
    if target.kind == "files":
        return Plan(
            (*pages, Planned(f"{hyphenated(target.name) or 'files'}-components.md", "components", ""))
        )
    return Plan(pages)


def find_focus(focus: str, repository: Repository, scope: str = ".") -> str:
    """The folder or file that a package, module or path names."""
    by_module: Mapping[str, str] = {
        facts.module: path for path, facts in repository.files.items() if facts.module
    }
    wanted = focus.strip().strip("/").removeprefix("./")
    path = by_module.get(wanted, "")
    if path:
        return path.rpartition("/")[0] or "." if path.endswith("__init__.py") else path
    as_path = wanted.replace(".", "/")
    prefix = "" if scope == "." else f"{scope}/"
    for candidate in (wanted, as_path, f"{prefix}{wanted}", f"{prefix}{as_path}"):
        if candidate and any(is_below(each, candidate) for each in repository.files):
            return candidate
    raise TargetError(
        f"explaining with --focus {focus}: no package, folder or file of that name is below "
        f"{repository.root}. Give a dotted module name or a path below it"
    )


def _chosen(target: Target, repository: Repository) -> tuple[str, ...]:
    return tuple(
        path
        for path in sorted(repository.files)
        if repository.files[path].language in DOCUMENTED
        and any(is_below(path, wanted) for wanted in target.paths)
    ) or tuple(path for path in target.paths if path in repository.files)


def _file_pages(paths: Sequence[str], taken: Mapping[str, str]) -> tuple[Planned, ...]:
    """A page for each file, none with the name of a document of the set."""
    own = {name.removesuffix(".md").lower() for name in SET.values()}
    names = page_names(tuple(paths), taken)
    return tuple(
        Planned(f"{name}-file.md" if name in own else f"{name}.md", "file", path)
        for path, name in names.items()
    )


def _skipped(repository: Repository) -> str:
    if not repository.skipped:
        return ""
    path, why = repository.skipped[0]
    more = f" and {len(repository.skipped) - 1} more" if len(repository.skipped) > 1 else ""
    return f" (not read: {path}: {why}{more})"
