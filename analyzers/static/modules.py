"""A source file as a module value: each name of its top level is interpreted when it is first asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import libcst as cst
from libcst.helpers import get_full_name_for_node

from forwardbook.analyzers.reader.bindings import Binding
from forwardbook.analyzers.reader.sources import SourceFile
from forwardbook.analyzers.static.stand_ins import stand_in
from forwardbook.analyzers.static.unresolved import Unresolved

if TYPE_CHECKING:
    from forwardbook.analyzers.static.interpreter import Interpreter

_MISSING = object()


class Deferred:
    """A name imported but not yet asked for."""

    __slots__ = ("module", "name")

    def __init__(self, module: SourceModule, name: str) -> None:
        self.module = module
        self.name = name


class SourceModule:
    """The lazily interpreted top level of one source file."""

    def __init__(self, interpreter: Interpreter, source: SourceFile) -> None:
        self.interpreter = interpreter
        self.source = source
        self.names: dict[str, Any] = {}
        self._running: set[str] = set()
        self._done: set[int] = set()

    def __repr__(self) -> str:
        return f"<interpreted module {self.source.module}>"

    def get(self, name: str) -> Any:
        """The value of a global or builtin name."""
        found = self.find(name)
        if found is not _MISSING:
            return found
        builtins = self.interpreter.builtins
        if name in builtins:
            return builtins[name]
        raise NameError(f"name {name!r} is not defined in {self.source.module}")

    def attribute(self, name: str) -> Any:
        """`module.name`, as `import` sees it: submodules of a package too."""
        found = self.find(name)
        if found is not _MISSING:
            return found
        if name == "__all__":
            return [key for key in self.source.bindings if not key.startswith("_") and key != "*"]
        if self.source.is_package:
            module = self.interpreter.imports.module(f"{self.source.module}.{name}", missing_ok=True)
            if module is not None:
                return module
        raise AttributeError(f"module {self.source.module!r} has no attribute {name!r}")

    def find(self, name: str) -> Any:
        """The value of a name of this module, `_MISSING` when nothing binds it."""
        if name in self.names:
            value = self.names[name]
            if isinstance(value, Deferred):
                value = value.module.attribute(value.name)
                self.names[name] = value
                return self._changed_here(name, value)
            return value
        if name == "__name__":
            return self.source.module
        if name == "__file__":
            return str(self.source.path)
        substitute = stand_in(f"{self.source.module}.{name}")
        if substitute is not None:
            self.names[name] = substitute
            return substitute
        bindings = self.source.bindings.get(name, ())
        if bindings:
            return self._evaluate(name, bindings)
        if (
            self.source.is_package
            and self.interpreter.sources.find(f"{self.source.module}.{name}") is not None
        ):
            return self.interpreter.imports.module(f"{self.source.module}.{name}")
        return self._starred(name)

    def _evaluate(self, name: str, bindings: Sequence[Binding]) -> Any:
        if name in self._running:
            raise Unresolved(
                f"{name} of {self.source.module} needs itself to be defined", str(self.source.path)
            )
        self._running.add(name)
        try:
            imports = all(binding.kind == "import" for binding in bindings)
            if imports and (len(bindings) == 1 or _checked_only(bindings[0].outer)):
                return self._changed_here(name, self._imported(name, bindings[0]))
            for binding in bindings:
                self._run(binding.outer)
            self._change(name)
        finally:
            self._running.discard(name)
        if name in self.names:
            return self.find(name)
        return self._starred(name)

    def _imported(self, name: str, binding: Binding) -> Any:
        value = self.interpreter.imports.name(binding.module, binding.attribute)
        self.names[name] = value
        return value

    def _changed_here(self, name: str, value: Any) -> Any:
        """A collection of another module, with what this one puts into it when it is imported."""
        if isinstance(value, dict | list | set):
            self._change(name)
        return value

    def _change(self, name: str) -> None:
        for statement in self.changes.get(name, ()):
            self._run(statement)

    def _run(self, statement: cst.CSTNode) -> None:
        """Interpret one statement of the top level, once."""
        if id(statement) not in self._done:
            self._done.add(id(statement))
            try:
                self.interpreter.run_module_statement(self, statement)
            except BaseException:
                self._done.discard(id(statement))
                raise

    def _starred(self, name: str) -> Any:
        for binding in self.source.bindings.get("*", ()):
            sources = self.interpreter.sources
            if sources.find(binding.module) is not None and not sources.mentions(binding.module, name):
                continue
            module = self.interpreter.imports.module(binding.module, missing_ok=True)
            if isinstance(module, SourceModule):
                value = module.find(name)
                if value is not _MISSING:
                    self.names[name] = value
                    return value
            elif module is not None and hasattr(module, name):
                return self.interpreter.imports.name(binding.module, name)
        return _MISSING

    @cached_property
    def changes(self) -> dict[str, list[cst.CSTNode]]:
        """For each name, the statements of the top level that change its value in place."""
        found: dict[str, list[cst.CSTNode]] = {}
        for statement in self.source.tree.body:
            for name in _changed(statement):
                found.setdefault(name, []).append(statement)
        return found


def _changed(statement: cst.CSTNode) -> Iterator[str]:
    if isinstance(statement, cst.SimpleStatementLine):
        for small in statement.body:
            if isinstance(small, cst.Expr) and isinstance(small.value, cst.Call):
                yield from _root(small.value.func)
            elif isinstance(small, cst.Assign):
                for target in small.targets:
                    if isinstance(target.target, cst.Subscript | cst.Attribute):
                        yield from _root(target.target)
    elif isinstance(statement, cst.FunctionDef | cst.ClassDef):
        for decorator in statement.decorators:
            expression = decorator.decorator
            called = expression.func if isinstance(expression, cst.Call) else expression
            if isinstance(called, cst.Attribute):
                yield from _root(called)


def _root(node: cst.CSTNode) -> Iterator[str]:
    """The name at the start of `name.x(...)` or `name[...]`."""
    while isinstance(node, cst.Attribute | cst.Subscript):
        node = node.value
    if isinstance(node, cst.Name):
        yield node.value


def _checked_only(outer: cst.CSTNode) -> bool:
    """True for `if TYPE_CHECKING:`, whose imports only name what lazy packages provide."""
    return isinstance(outer, cst.If) and (get_full_name_for_node(outer.test) or "").endswith("TYPE_CHECKING")
