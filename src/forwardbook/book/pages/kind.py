"""The facts of a file in, in a few words what kind of file it is out."""

from __future__ import annotations

import re

from forwardbook.analyzers.index.facts import FileFacts
from forwardbook.book.pages.section import SectionFacts

LANGUAGES = {
    "python": "Python", "c": "C", "cpp": "C++", "cuda": "CUDA C++", "cmake": "CMake", "yaml": "YAML",
    "json": "JSON", "toml": "TOML", "markdown": "Markdown", "notebook": "Jupyter notebook", "other": "other",
}  # fmt: skip
_TEST = re.compile(r"(^|/)(tests?|testing)/|(^|/)(test_[^/]*|[^/]*_test|conftest)\.py$")
_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".cuh", ".inl")


def is_test(path: str) -> bool:
    """Whether a file belongs to the tests, by its folder or name."""
    return _TEST.search(path) is not None


def kind(facts: SectionFacts) -> str:
    """What kind of Python file it is."""
    path, detail = facts.path, facts.detail
    if is_test(path):
        return "test module"
    if detail.commands:
        frameworks = ", ".join(dict.fromkeys(each.framework for each in detail.commands))
        return f"command-line program ({frameworks})"
    if detail.entry is not None:
        return "script"
    if path.rpartition("/")[2] == "__init__.py":
        return "package"
    classes = [each for each in facts.top if each.kind == "class"]
    if len(classes) == 1 and len(facts.top) == 1:
        return "module of one class"
    if facts.facts.definitions:
        return "library module"
    return "module of constants" if facts.facts.constants else "module without definitions"


def native_kind(facts: FileFacts) -> str:
    """What kind of C, C++ or CUDA file it is."""
    words = "header" if facts.path.endswith(_HEADERS) else "source file"
    kernels = any(each.kind == "kernel" for each in facts.definitions)
    extras = [" with kernels"] * kernels + [" with Python bindings"] * bool(facts.bindings)
    return words + " and".join(extras)


def status(facts: FileFacts) -> str:
    """How far the file can be relied on, as far as it says so itself."""
    if facts.parser == "none" and facts.language in ("python", "c", "cpp", "cuda"):
        return "Unreadable"
    if facts.parser == "tree-sitter" and facts.language == "python":
        return "Broken"
    if facts.generated_by:
        return "Generated"
    return "Experimental" if facts.experimental else "Stable"
