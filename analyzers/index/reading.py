"""A syntax tree and its source text in, definitions, imports, calls and module-level names out."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from forwardbook.analyzers.index.callee import callee
from forwardbook.analyzers.index.expression_reading import VALUE, ExpressionReading
from forwardbook.analyzers.index.facts import Definition, Import, Raised
from forwardbook.analyzers.index.header import Function, brief, docstring, words
from forwardbook.analyzers.index.scope import Scope, closed, opened
from forwardbook.analyzers.index.source_text import SourceText

Branch = tuple[str, ast.expr | ast.pattern | None, ast.expr | None]


class Reading(ExpressionReading):
    """One pass over a module's tree; afterwards its fields hold what the module contains."""

    def __init__(self, source: SourceText, tree: ast.Module) -> None:
        super().__init__(source)
        self.module = Scope()
        self.docstring = docstring(tree.body)
        self.definitions: list[Definition] = []
        self.imports: list[Import] = []
        self.exports: list[str] | None = None
        self.has_main = False
        self._guards = 0
        self._branch: Branch = ("", None, None)
        self._readers: dict[type[ast.AST], Callable[..., None]] = {
            ast.FunctionDef: self._definition,
            ast.AsyncFunctionDef: self._definition,
            ast.ClassDef: self._definition,
            ast.Import: self._import,
            ast.ImportFrom: self._import_from,
            ast.Assign: self._assign,
            ast.AnnAssign: self._annotated,
            ast.AugAssign: self._augmented,
            ast.Expr: self._expression_statement,
            ast.Return: self._return,
            ast.Raise: self._raise,
            ast.If: self._if,
            ast.For: self._for,
            ast.AsyncFor: self._for,
            ast.While: self._while,
            ast.With: self._with,
            ast.AsyncWith: self._with,
            ast.Try: self._try,
            ast.Match: self._match,
            ast.Global: self._outer_names,
            ast.Nonlocal: self._outer_names,
        }
        for newer, reader in (("TryStar", self._try), ("TypeAlias", self._type_alias)):
            if hasattr(ast, newer):
                self._readers[getattr(ast, newer)] = reader
        self._block(tree.body, self.module)
        self.definitions.sort(key=lambda found: (found.decorated.start, -found.decorated.end))

    def _block(self, body: Sequence[ast.stmt], scope: Scope) -> None:
        readers = self._readers
        for statement in body:
            reader = readers.get(statement.__class__)
            if reader is not None:
                reader(statement, scope)
            else:
                self._expression(statement, scope)

    # Statements that define

    def _definition(self, node: Function | ast.ClassDef, scope: Scope) -> None:
        for mark in node.decorator_list:
            self._expression(mark, scope)
        inner = opened(node, scope)
        branch, self._branch = self._branch, ("", None, None)
        if isinstance(node, ast.ClassDef):
            for base in (*node.bases, *node.keywords):
                self._expression(base, scope)
            self._block(node.body, inner)
        else:
            self._expression(node.args, scope)
            self._expression(node.returns, scope)
            self._guards += 1
            self._block(node.body, inner)
            self._guards -= 1
        self._branch = branch
        self.definitions.append(closed(inner, self.source))

    def _import(self, node: ast.Import, _scope: Scope) -> None:
        guarded = self._guards > 0
        for alias in node.names:
            self.imports.append(Import(node.lineno, alias.name, alias=alias.asname or "", guarded=guarded))

    def _import_from(self, node: ast.ImportFrom, _scope: Scope) -> None:
        guarded = self._guards > 0
        for alias in node.names:
            self.imports.append(
                Import(node.lineno, node.module or "", alias.name, alias.asname or "", node.level, guarded)
            )

    # Statements that bind

    def _assign(self, node: ast.Assign, scope: Scope) -> None:
        for target in node.targets:
            self._bind(target, scope, node.value)
            if scope.around is None and isinstance(target, ast.Name) and target.id == "__all__":
                self.exports = _strings(node.value)
        self._expression(node.value, scope)

    def _annotated(self, node: ast.AnnAssign, scope: Scope) -> None:
        self._bind(node.target, scope, node.value, words(self.source, node.annotation))
        if scope.around is None and isinstance(node.target, ast.Name) and node.target.id == "__all__":
            self.exports = _strings(node.value)
        self._expression(node.annotation, scope)
        self._expression(node.value, scope)

    def _augmented(self, node: ast.AugAssign, scope: Scope) -> None:
        if scope.around is None and isinstance(node.target, ast.Name) and node.target.id == "__all__":
            self.exports = [*(self.exports or ()), *_strings(node.value)]
        self._expression(node.target, scope)
        self._expression(node.value, scope)

    def _type_alias(self, node: ast.Assign, scope: Scope) -> None:
        self._bind(node.name, scope, node.value, "type")  # type: ignore[attr-defined]
        self._expression(node.value, scope)

    def _outer_names(self, node: ast.Global | ast.Nonlocal, scope: Scope) -> None:
        scope.outer_names.update(node.names)

    def _expression_statement(self, node: ast.Expr, scope: Scope) -> None:
        value = node.value
        if scope.around is None and isinstance(value, ast.Call) and len(value.args) == 1:
            target = callee(value.func)
            if target == "__all__.extend":
                self.exports = [*(self.exports or ()), *_strings(value.args[0])]
            elif target == "__all__.append":
                self.exports = [*(self.exports or ()), *_strings(ast.List([value.args[0]]))]
        self._expression(value, scope)

    # Statements that leave or branch

    def _return(self, node: ast.Return, scope: Scope) -> None:
        if node.value is not None:
            scope.returned.append(brief(self.source, node.value, VALUE))
            self._expression(node.value, scope)

    def _raise(self, node: ast.Raise, scope: Scope) -> None:
        error = node.exc
        if isinstance(error, ast.Call) and (name := callee(error.func)).strip("()"):
            exception = name
        else:
            exception = brief(self.source, error, VALUE) if error is not None else ""
        scope.raised.append(Raised(node.lineno, exception, self._condition()))
        self._expression(node.exc, scope)
        self._expression(node.cause, scope)

    def _condition(self) -> str:
        how, test, guard = self._branch
        text = words(self.source, test) if test is not None else ""
        text = f"not ({text})" if how == "else" else f"{how} {text}".strip()
        return f"{text} if {words(self.source, guard)}" if guard is not None else text

    def _under(
        self,
        body: Sequence[ast.stmt],
        scope: Scope,
        how: str,
        test: ast.expr | ast.pattern | None,
        guard: ast.expr | None = None,
    ) -> None:
        branch, self._branch = self._branch, (how, test, guard)
        self._block(body, scope)
        self._branch = branch

    def _if(self, node: ast.If, scope: Scope) -> None:
        self._guards += 1
        while True:  # `elif` nests in the tree and may do so a thousand deep
            self.has_main = self.has_main or (scope.around is None and _is_main(node.test))
            self._expression(node.test, scope)
            self._under(node.body, scope, "", node.test)
            rest = node.orelse
            if len(rest) != 1 or not isinstance(rest[0], ast.If) or rest[0].col_offset != node.col_offset:
                break
            node = rest[0]
        self._under(rest, scope, "else", node.test)
        self._guards -= 1

    def _for(self, node: ast.For | ast.AsyncFor, scope: Scope) -> None:
        self._bind(node.target, scope, node.iter, how="for ")
        self._expression(node.iter, scope)
        self._block(node.body, scope)
        self._block(node.orelse, scope)

    def _while(self, node: ast.While, scope: Scope) -> None:
        self._expression(node.test, scope)
        self._under(node.body, scope, "while", node.test)
        self._block(node.orelse, scope)

    def _with(self, node: ast.With | ast.AsyncWith, scope: Scope) -> None:
        for item in node.items:
            if item.optional_vars is not None:
                self._bind(item.optional_vars, scope, item.context_expr, how="with ")
            self._expression(item.context_expr, scope)
        self._block(node.body, scope)

    def _try(self, node: ast.Try, scope: Scope) -> None:
        self._guards += 1
        self._block(node.body, scope)
        for handler in node.handlers:
            self._expression(handler.type, scope)
            if handler.name:
                scope.bind(handler.name, handler.lineno, "", "")
            self._under(handler.body, scope, "except", handler.type)
        self._block(node.orelse, scope)
        self._guards -= 1
        self._block(node.finalbody, scope)

    def _match(self, node: ast.Match, scope: Scope) -> None:
        self._expression(node.subject, scope)
        for case in node.cases:
            self._expression(case.pattern, scope)
            self._expression(case.guard, scope)
            self._under(case.body, scope, "case", case.pattern, case.guard)


def _strings(value: ast.expr | None) -> list[str]:
    """The strings of a list, a tuple or a sum of such; what is no literal is left out."""
    if isinstance(value, ast.List | ast.Tuple | ast.Set):
        parts = (part.value for part in value.elts if isinstance(part, ast.Constant))
        return [part for part in parts if isinstance(part, str)]
    if isinstance(value, ast.BinOp):
        return [*_strings(value.left), *_strings(value.right)]
    return []


def _is_main(test: ast.expr) -> bool:
    """Whether a condition compares `__name__` with `"__main__"`."""
    if not isinstance(test, ast.Compare) or len(test.comparators) != 1:
        return False
    sides = (test.left, test.comparators[0])
    names = {side.id for side in sides if isinstance(side, ast.Name)}
    return names == {"__name__"} and any(
        isinstance(side, ast.Constant) and side.value == "__main__" for side in sides
    )
