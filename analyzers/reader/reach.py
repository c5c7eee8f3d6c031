"""A class of one's own in; out one hash of all the code under its root that building and calling it reaches.

The source hash of a class covers its forward() and what that calls. What a constructor makes of its
arguments, the classes of submodules, module constants and what an import does on the side are the concern of
this one. It rather covers too much than too little: a name stands for every definition of it.
"""

from __future__ import annotations

import ast
import hashlib
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

WHOLE = "*"
"""In place of a name: everything that a module defines."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import binds a name to: an own module, or a name in one."""

    file: Path
    name: str = ""


@dataclass(frozen=True)
class Module:
    """The top level of a file: its statements by the names they bind, and those that only do something."""

    file: Path
    defined: dict[str, list[ast.stmt]] = field(default_factory=dict)
    imported: dict[str, list[Imported]] = field(default_factory=dict)
    stars: list[Path] = field(default_factory=list)
    loose: list[ast.stmt] = field(default_factory=list)
    imports: list[Path] = field(default_factory=list)


def code_hash(class_name: str, file: Path, root: Path) -> str:
    """The sha256 of every reached statement below `root`, layout, comments and docstrings left out.

    A file that cannot be parsed counts with its bytes.
    """
    root = root.resolve()
    reached = _reached(Imported(file.resolve(), class_name), root)
    digest = hashlib.sha256()
    for path in sorted(reached):
        digest.update(f"{path.relative_to(root).as_posix()}\0".encode())
        for text in sorted(reached[path]):
            digest.update(f"{text}\0".encode())
    return digest.hexdigest()


def _reached(start: Imported, root: Path) -> dict[Path, set[str]]:
    """The statements that are reached, as text, by file; what an import runs is reached by importing."""
    found: dict[Path, set[str]] = {}
    queue = deque([start])
    seen: set[Imported] = set()
    while queue:
        one = queue.popleft()
        if one in seen:
            continue
        seen.add(one)
        module = _module(one.file, root, _stamp(one.file))
        if module is None:
            found.setdefault(one.file, set()).add(hashlib.sha256(_bytes(one.file)).hexdigest())
            continue
        statements = list(_statements(module, one.name))
        if one.file not in found:
            found[one.file] = set()
            statements += module.loose
            queue.extend(Imported(path) for path in (*module.imports, *_packages(one.file, root)))
        for statement in statements:
            found[one.file].add(_text(statement))
            queue.extend(_references(module, statement))
        if one.name and one.name not in module.defined:
            queue.extend(module.imported.get(one.name, ()))
            queue.extend(Imported(path, one.name) for path in module.stars)
    return found


def _statements(module: Module, name: str) -> Iterator[ast.stmt]:
    if name == WHOLE:
        for statements in module.defined.values():
            yield from statements
    else:
        yield from module.defined.get(name, ())


def _references(module: Module, statement: ast.stmt) -> Iterator[Imported]:
    """What the names of a statement may stand for in its module; `a.b` of an own module is its `b`."""
    qualified: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            for target in module.imported.get(node.value.id, ()):
                if not target.name:
                    qualified.add(node.value.id)
                    yield Imported(target.file, node.attr)
    for node in ast.walk(statement):
        if isinstance(node, ast.Name):
            if node.id in module.defined:
                yield Imported(module.file, node.id)
            for target in module.imported.get(node.id, ()):
                if target.name:
                    yield target
                elif node.id not in qualified:
                    yield Imported(target.file, WHOLE)
            if node.id not in module.defined and node.id not in module.imported:
                yield from (Imported(path, node.id) for path in module.stars)


@lru_cache(maxsize=4096)
def _module(file: Path, root: Path, stamp: tuple[int, int]) -> Module | None:
    try:
        tree = ast.parse(_bytes(file))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    module = Module(file)
    for statement in tree.body:
        _place(module, statement, root)
    return module


def _place(module: Module, statement: ast.stmt, root: Path) -> None:
    match statement:
        case ast.Import() | ast.ImportFrom():
            _import(module, statement, root)
        case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
            module.defined.setdefault(statement.name, []).append(statement)
        case ast.Assign() | ast.AnnAssign() if names := _plain_names(statement):
            for name in names:
                module.defined.setdefault(name, []).append(statement)
        case ast.Expr(value=ast.Constant()):
            pass
        case _:  # `if`, `try`, calls, changes of what is there: they run when the module is imported
            module.loose.append(statement)
            for node in ast.walk(statement):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    _import(module, node, root)
                elif isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                    module.defined.setdefault(node.name, []).append(statement)
                elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    module.defined.setdefault(node.id, []).append(statement)
            return
    for node in ast.walk(statement):  # imports inside functions bind their names wherever they stand
        if node is not statement and isinstance(node, ast.Import | ast.ImportFrom):
            _import(module, node, root, runs=False)


def _plain_names(statement: ast.Assign | ast.AnnAssign) -> list[str]:
    """The names that are bound; nothing where an attribute or an element is changed."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    inner = [node for target in targets for node in ast.walk(target)]
    if any(isinstance(node, ast.Attribute | ast.Subscript) for node in inner):
        return []
    return [node.id for node in inner if isinstance(node, ast.Name)]


def _import(module: Module, node: ast.Import | ast.ImportFrom, root: Path, runs: bool = True) -> None:
    if isinstance(node, ast.Import):
        for alias in node.names:
            name = alias.name if alias.asname else alias.name.partition(".")[0]
            for path in _files(name, root):
                module.imported.setdefault(alias.asname or name, []).append(Imported(path))
            paths = _files(alias.name, root)
            if alias.name != name:  # `import a.b` binds `a`, and `a.b.c` is then used through it
                for path in paths:
                    module.imported.setdefault(name, []).append(Imported(path, WHOLE))
            module.imports.extend(paths if runs else ())
        return
    base = _base(module.file, node, root)
    if base is None:
        return
    for alias in node.names:
        inner = _files(f"{base}.{alias.name}" if base else alias.name, root) if alias.name != "*" else []
        for path in inner:
            module.imported.setdefault(alias.asname or alias.name, []).append(Imported(path))
            module.imports.extend([path] if runs else ())
        for path in _files(base, root):
            module.imports.extend([path] if runs else ())
            if alias.name == "*":
                module.stars.append(path)
            elif not inner or path.name == "__init__.py":
                bound = Imported(path, alias.name)
                module.imported.setdefault(alias.asname or alias.name, []).append(bound)


def _base(file: Path, node: ast.ImportFrom, root: Path) -> str | None:
    """The dotted module of a from-import, None where it leads out of the root."""
    if not node.level:
        return node.module or ""
    parts = list(file.relative_to(root).with_suffix("").parts)
    drop = node.level - (file.name == "__init__.py")
    parts = parts[:-1] if file.name == "__init__.py" else parts
    if drop > len(parts):
        return None
    kept = parts[: len(parts) - drop] if drop else parts
    return ".".join([*kept, *([node.module] if node.module else [])])


def _files(dotted: str, root: Path) -> list[Path]:
    """The own file of a module; none for what is installed."""
    if not dotted:
        return []
    place = root.joinpath(*dotted.split("."))
    for path in (place / "__init__.py", place.with_name(f"{place.name}.py")):
        if path.is_file():
            return [path]
    return []


def _packages(file: Path, root: Path) -> Iterator[Path]:
    """The files that importing a module runs before it."""
    for folder in file.parents:
        if folder == root or not folder.is_relative_to(root):
            return
        if (folder / "__init__.py").is_file() and folder / "__init__.py" != file:
            yield folder / "__init__.py"


def _text(statement: ast.stmt) -> str:
    return ast.dump(_Bare().visit(ast.parse(ast.unparse(statement))))


class _Bare(ast.NodeTransformer):
    """Takes docstrings, and comments written as strings, out of bodies."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        body = getattr(node, "body", None)
        if isinstance(body, list):
            kept = [one for one in body if not _is_string(one)]
            node.body = kept or [ast.Pass()]  # type: ignore[attr-defined]
        return node


def _is_string(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _stamp(file: Path) -> tuple[int, int]:
    try:
        status = file.stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""
