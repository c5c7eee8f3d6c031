"""A package's files in, out every class of modules that can be called; nothing is imported."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from forwardbook.analyzers.index.quiet import imported_module, package_of, quiet_tree, top_level

MODULE = "torch.nn.modules.module.Module"
_UNTOLD = frozenset({"ModuleList", "ModuleDict", "ParameterList", "ParameterDict"})
"""Containers of torch.nn that are never called."""


@dataclass(frozen=True, slots=True)
class ModuleClass:
    """A class that derives from torch.nn.Module and has a forward(), its own or inherited."""

    module: str
    name: str
    file: Path
    line: int
    defines: bool
    """Whether forward() is written in its own body."""

    @property
    def full_name(self) -> str:
        """The dotted name under which it is defined."""
        return f"{self.module}.{self.name}"


@dataclass(frozen=True, slots=True)
class _Class:
    name: str
    bases: tuple[str, ...]
    line: int
    forward: bool
    abstract: bool


@dataclass(slots=True)
class _File:
    module: str
    path: Path
    classes: dict[str, _Class] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)


class ClassTable:
    """Classes of installed packages by dotted name, read file by file as they are asked for.

    `place` finds a top-level package: its folder, or the file of a module; None where it is not installed.
    """

    def __init__(self, place: Callable[[str], Path | None]) -> None:
        self._place = place
        self._files: dict[str, _File | None] = {}
        self._kinds: dict[str, bool] = {}

    def callable_classes(self, package: str, reads: Callable[[str], bool]) -> list[ModuleClass]:
        """The classes of a package, in order of file and line; `reads` says which modules to look into."""
        found: list[ModuleClass] = []
        for module in self.modules(package):
            if not reads(module) or (file := self._file(module)) is None:
                continue
            for one in file.classes.values():
                full = f"{module}.{one.name}"
                if not one.abstract and self._is_module(full) and self._has_forward(full):
                    found.append(ModuleClass(module, one.name, file.path, one.line, one.forward))
        return found

    def modules(self, package: str) -> list[str]:
        """The dotted names of the Python files of a package, sorted."""
        top = self._place(package)
        if top is None:
            return []
        if top.is_file():
            return [package]
        names = []
        for path in top.rglob("*.py"):
            parts = path.relative_to(top).with_suffix("").parts
            if all(part.isidentifier() for part in parts):
                names.append(".".join([package, *(parts[:-1] if parts[-1] == "__init__" else parts)]))
        return sorted(names)

    def ancestors(self, full_name: str) -> list[str]:
        """The class and its bases as dotted names, depth first, as far as there is source."""
        seen: dict[str, None] = {}
        self._collect(full_name, seen)
        return list(seen)

    def _collect(self, full_name: str, seen: dict[str, None]) -> None:
        if full_name in seen:
            return
        seen[full_name] = None
        if (found := self._class(full_name)) is not None:
            file, one = found
            for base in one.bases:
                self._collect(self._named(file, base), seen)

    def _is_module(self, full_name: str) -> bool:
        if full_name not in self._kinds:
            self._kinds[full_name] = MODULE in self.ancestors(full_name)
        return self._kinds[full_name]

    def _has_forward(self, full_name: str) -> bool:
        """Whether the first class on the way to Module that says what forward() is implements it."""
        for name in self.ancestors(full_name):
            if name == MODULE:
                continue
            found = self._class(name)
            if found is None:
                continue
            if name.startswith("torch.nn.modules.container.") and found[1].name in _UNTOLD:
                return False
            if found[1].forward:
                return True
            if found[1].abstract:
                return False
        return False

    def _class(self, full_name: str) -> tuple[_File, _Class] | None:
        module, _, name = full_name.rpartition(".")
        file = self._file(module) if module else None
        one = file.classes.get(name) if file is not None else None
        return (file, one) if file is not None and one is not None else None

    def _named(self, file: _File, name: str) -> str:
        """The dotted name of the class that a name of a file means."""
        head, dot, rest = name.partition(".")
        if not dot and name in file.classes:
            return f"{file.module}.{name}"
        if head in file.imports:
            return self._followed(file.imports[head] + dot + rest)
        for module in file.stars:
            target = self._followed(f"{module}.{name}")
            if self._class(target) is not None:
                return target
        return name

    def _followed(self, dotted: str, depth: int = 8) -> str:
        """Through re-exports to where a name is defined."""
        module, _, name = dotted.rpartition(".")
        if not module or depth == 0:
            return dotted
        if self._file(module) is None:
            owner = self._followed(module, depth - 1)  # `nn.Module`, where nn is a package or an alias of one
            if owner == module or self._file(owner) is None:
                return dotted
            module = owner
        file = self._file(module)
        assert file is not None
        if name in file.classes:
            return f"{module}.{name}"
        if name in file.imports:
            return self._followed(file.imports[name], depth - 1)
        for star in file.stars:
            target = self._followed(f"{star}.{name}", depth - 1)
            if self._class(target) is not None:
                return target
        return dotted

    def _file(self, module: str) -> _File | None:
        if module not in self._files:
            path = self._path(module)
            self._files[module] = _read(module, path) if path is not None else None
        return self._files[module]

    def _path(self, module: str) -> Path | None:
        head, _, rest = module.partition(".")
        top = self._place(head)
        if top is None:
            return None
        if top.is_file():
            return None if rest else top
        place = top.joinpath(*rest.split(".")) if rest else top
        inside = place / "__init__.py"
        if inside.is_file():
            return inside
        return place.with_suffix(".py") if place.with_suffix(".py").is_file() else None


def _read(module: str, path: Path) -> _File | None:
    """What the top level of a file defines and imports; None where it is not Python that can be parsed."""
    tree = quiet_tree(path)
    if tree is None:
        return None
    file = _File(module, path)
    package = package_of(module, path)
    for node in top_level(tree.body):
        if isinstance(node, ast.ClassDef):
            file.classes[node.name] = _class_of(node)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                file.imports[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom):
            _take_names(file, node, package)
        elif isinstance(node, ast.Assign):
            _take_alias(file, node)
    return file


def _take_names(file: _File, node: ast.ImportFrom, package: str) -> None:
    source = imported_module(node, package)
    for alias in node.names:
        if alias.name == "*":
            file.stars.append(source)
        else:
            file.imports[alias.asname or alias.name] = f"{source}.{alias.name}"


def _take_alias(file: _File, node: ast.Assign) -> None:
    """`Old = New` at the top level, where New is a class of the file or an import of it."""
    if isinstance(node.value, ast.Name) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        target = node.targets[0].id
        if node.value.id in file.classes:
            file.imports.setdefault(target, f"{file.module}.{node.value.id}")
        elif node.value.id in file.imports:
            file.imports.setdefault(target, file.imports[node.value.id])


def _class_of(node: ast.ClassDef) -> _Class:
    own = {one.name: one for one in node.body if isinstance(one, ast.FunctionDef)}
    assigned = {
        target.id
        for one in node.body
        if isinstance(one, ast.Assign)
        for target in one.targets
        if isinstance(target, ast.Name)
    }
    forward = own.get("forward")
    refuses = forward is not None and _only_raises(forward)
    return _Class(
        name=node.name,
        bases=tuple(text for base in node.bases if (text := _dotted(base))),
        line=node.lineno,
        forward=(forward is not None and not refuses) or "forward" in assigned,
        abstract=refuses,
    )


def _only_raises(function: ast.FunctionDef) -> bool:
    """Whether all that a method does is to say that it is not implemented."""
    if any(_dotted(one).rpartition(".")[2] == "abstractmethod" for one in function.decorator_list):
        return True
    body = [s for s in function.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    if len(body) != 1 or not isinstance(body[0], ast.Raise) or body[0].exc is None:
        return False
    return "NotImplemented" in ast.unparse(body[0].exc)


def _dotted(node: ast.expr) -> str:
    """A base class as dotted text; `Generic[T]` counts as Generic."""
    if isinstance(node, ast.Subscript):
        return _dotted(node.value)
    if isinstance(node, ast.Attribute):
        owner = _dotted(node.value)
        return f"{owner}.{node.attr}" if owner else ""
    return node.id if isinstance(node, ast.Name) else ""


def by_module(classes: Iterable[ModuleClass]) -> Mapping[str, list[ModuleClass]]:
    """The classes by the module that defines them."""
    found: dict[str, list[ModuleClass]] = {}
    for one in classes:
        found.setdefault(one.module, []).append(one)
    return found
