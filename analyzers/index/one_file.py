"""A file's path and bytes in, its facts out, by the reader for its language."""

from __future__ import annotations

import hashlib
from dataclasses import replace
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
_CONFIGURATION: Final = frozenset({"yaml", "json", "toml"})
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
        return marked(index_native(path, data), data)
    if spoken in _CONFIGURATION:
        from forwardbook.analyzers.index.config import index_config

        return index_config(path, data, spoken)
    if spoken == "notebook":
        from forwardbook.analyzers.index.notebook import index_notebook

        return index_notebook(path, data, module)
    return marked(plain_facts(path, data, spoken), data)


def marked(facts: FileFacts, data: bytes) -> FileFacts:
    """The facts with what the head of the file says: that it is generated, or experimental."""
    from forwardbook.analyzers.index.marks import marks

    said = marks(facts.path, data[:8_000].decode("utf-8", "replace"), facts.docstring)
    if not (said.generated_by or said.experimental):
        return facts
    return replace(
        facts,
        generated_by=facts.generated_by or said.generated_by,
        generated_from=facts.generated_from or said.generated_from,
        experimental=facts.experimental or said.experimental,
    )


def plain_facts(path: str, data: bytes, language: Language, *problems: Problem) -> FileFacts:
    """What holds of any file: its digest and how many lines it has."""
    lines = data.count(b"\n") + (bool(data) and not data.endswith(b"\n"))
    return FileFacts(path, language, hashlib.sha256(data).hexdigest(), lines, problems=problems)
