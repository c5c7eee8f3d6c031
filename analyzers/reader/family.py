"""A class in, a hash out that its copies in other families share: names of the family's own are taken out.

Each name of the module's own, or of one that it imports from its folder, stands for the hash of what it
names. A copy that calls another helper, another base or another submodule has another hash.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from forwardbook.analyzers.index.quiet import imported_module, package_of, quiet_tree
from forwardbook.analyzers.reader.sources import Sources

_SELF = "<itself>"


@dataclass(frozen=True)
class _Names:
    """What the top level of a module binds: statements of its own, and imports as dotted names."""

    package: str
    own: Mapping[str, ast.stmt] = field(default_factory=dict)
    imported: Mapping[str, str] = field(default_factory=dict)


def family_digest(full_name: str, sources: Sources | None = None) -> str:
    """The hash of a class's code, docstrings, annotations and names of its family taken out.

    Empty where its source cannot be found or parsed: such a class shares with none.
    """
    module, _, name = full_name.rpartition(".")
    return _digest(module, name, sources or Sources(), (), {}) or ""


def _digest(
    module: str, name: str, sources: Sources, above: tuple[str, ...], known: dict[str, str | None]
) -> str | None:
    """The hash of one definition of a module; None where the module does not define it."""
    full = f"{module}.{name}"
    if full in known:
        return known[full]
    names = _names_of(module, sources)
    if names is None or name not in names.own:
        return None
    if full in above:  # two that need each other share with nobody but themselves
        return full
    reader = _Reader(module, name, names, sources, (*above, full), known)
    text = reader.text(names.own[name])
    known[full] = hashlib.sha256(text.encode()).hexdigest()
    return known[full]


class _Reader:
    """Says a statement as text in which names of the family are hashes."""

    def __init__(
        self,
        module: str,
        name: str,
        names: _Names,
        sources: Sources,
        above: tuple[str, ...],
        known: dict[str, str | None],
    ) -> None:
        self._module, self._name, self._names = module, name, names
        self._sources, self._above, self._known = sources, above, known

    def text(self, node: ast.AST) -> str:
        """The node and all within, positions left out."""
        if isinstance(node, ast.Name):
            return self._meaning(node.id)
        parts = [type(node).__name__]
        for key, value in kept_fields(node):
            if key == "name" and value == self._name:
                value = _SELF
            parts.append(f"{key}={self._value(value)}")
        return f"{parts[0]}({', '.join(parts[1:])})"

    def _value(self, value: object) -> str:
        if isinstance(value, ast.AST):
            return self.text(value)
        if isinstance(value, list):
            return f"[{', '.join(self._value(one) for one in value)}]"
        return repr(value)

    def _meaning(self, name: str) -> str:
        if name == self._name:
            return _SELF
        if name in self._names.own:
            return self._of(self._module, name) or name
        if name in self._names.imported:
            return self._imported(self._names.imported[name])
        return f"name {name}"

    def _imported(self, dotted: str) -> str:
        """What another module of the same folder defines, as its hash; anything else by its dotted name."""
        module, _, name = dotted.rpartition(".")
        if module.rpartition(".")[0] == self._module.rpartition(".")[0]:
            return self._of(module, name) or dotted
        return dotted

    def _of(self, module: str, name: str) -> str | None:
        return _digest(module, name, self._sources, self._above, self._known)


def kept_fields(node: ast.AST) -> Iterator[tuple[str, object]]:
    """The fields of a node that say what it does: no annotation, and no docstring among its statements."""
    for key, value in ast.iter_fields(node):
        if key in ("annotation", "returns", "type_comment", "type_params", "ctx", "kind"):
            continue
        if key == "body" and isinstance(value, list):
            yield key, [one for one in value if not _is_docstring(one)]
        else:
            yield key, value


def definition_of(full_name: str, sources: Sources) -> ast.stmt | None:
    """The statement by which a module binds a name; nothing where its source is not had."""
    module, _, name = full_name.rpartition(".")
    names = _names_of(module, sources)
    return names.own.get(name) if names is not None else None


def is_of_family(full_name: str, sources: Sources) -> bool:
    """Whether what a module knows by a name is its own, or of another file of its folder."""
    module, _, name = full_name.rpartition(".")
    names = _names_of(module, sources)
    if names is None or name in names.own:
        return names is not None
    return names.imported.get(name, "").rpartition(".")[0].rpartition(".")[0] == module.rpartition(".")[0]


def _is_docstring(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _names_of(module: str, sources: Sources) -> _Names | None:
    path = sources.find(module)
    return _names(module, path, path.stat().st_mtime_ns) if path is not None else None


@lru_cache(maxsize=2048)
def _names(module: str, path: Path, modified: int) -> _Names | None:
    tree = quiet_tree(path)
    if tree is None:
        return None
    package = package_of(module, path)
    own: dict[str, ast.stmt] = {}
    imported: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            own[node.name] = node
        elif isinstance(node, ast.Assign):
            own.update({target.id: node for target in node.targets if isinstance(target, ast.Name)})
        elif isinstance(node, ast.ImportFrom):
            imported.update(_imports(node, package))
        elif isinstance(node, ast.Import):
            imported.update({a.asname or a.name.partition(".")[0]: a.name for a in node.names})
    return _Names(package, own, imported)


def _imports(node: ast.ImportFrom, package: str) -> dict[str, str]:
    source = imported_module(node, package)
    return {alias.asname or alias.name: f"{source}.{alias.name}" for alias in node.names}
