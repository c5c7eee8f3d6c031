"""A file's path and bytes in, its facts out, by the reader for its language."""

from __future__ import annotations

import hashlib
from typing import Final

from forwardbook.analyzers.index.facts import FileFacts, Language, Problem

_SUFFIXES: Final[dict[str, Language]] = {
    ".py": "python",
    ".pyi": "python",
    ".pyw": "python",
    ".ipynb": "notebook",
    ".c": "c",
    ".h": "cpp",
    ".hh": "cpp",
    ".hpp": "cpp",
    ".hxx": "cpp",
    ".inl": "cpp",
    ".cc": "cpp",
    ".cpp": "cpp",
    ".cxx": "cpp",
    ".cu": "cuda",
    ".cuh": "cuda",
    ".cmake": "cmake",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".json": "json",
    ".toml": "toml",
    ".md": "markdown",
}
_NATIVE: Final = frozenset({"c", "cpp", "cuda", "cmake"})


def language_of(path: str) -> Language:
    """The language a file's name promises, `other` where it promises none."""
    name = path.rpartition("/")[2]
    if name == "CMakeLists.txt":
        return "cmake"
    dot = name.rfind(".")
    return _SUFFIXES.get(name[dot:].lower(), "other") if dot > 0 else "other"


def index_file(path: str, data: bytes, module: str = "", language: Language | None = None) -> FileFacts:
    """The facts of a file; what cannot be read of it is a problem among them, never an error."""
    spoken = language or language_of(path)
    if spoken == "python":
        from forwardbook.analyzers.index.python import index_python

        return index_python(path, data, module)
    if spoken in _NATIVE:
        try:
            from forwardbook.analyzers.native import index_native
        except ImportError:
            return plain_facts(path, data, spoken, Problem(0, "no reader for this language"))
        return index_native(path, data)
    return plain_facts(path, data, spoken)


def plain_facts(path: str, data: bytes, language: Language, *problems: Problem) -> FileFacts:
    """What holds of any file: its digest and how many lines it has."""
    lines = data.count(b"\n") + (bool(data) and not data.endswith(b"\n"))
    return FileFacts(path, language, hashlib.sha256(data).hexdigest(), lines, problems=problems)
