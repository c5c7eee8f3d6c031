"""A file's text in, its statements as nodes of `ast` out, by LibCST, which knows newer syntax."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from forwardbook.analyzers.index.libcst_expressions import Expressions, identifier
from forwardbook.analyzers.index.tree_nodes import Place, annotated, bag, placed

NOT_TAKEN: Final = (cst.ParserSyntaxError, cst.CSTValidationError)
"""What LibCST raises of text that it does not take: its parser takes letters of a newer Unicode than Python's
in names, the nodes that it makes of them do not."""


def statements(text: str) -> list[ast.stmt]:
    """The statements of a file; an error of NOT_TAKEN where LibCST does not take it."""
    wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
    return _Statements(Expressions(text, wrapper.resolve(PositionProvider))).body(wrapper.module)


class _Statements:
    def __init__(self, made: Expressions) -> None:
        self._made = made
        self._place = made.place
        self._expression = made.expression
        self._some = made.some
        self._makers: dict[type[cst.CSTNode], Callable[..., ast.stmt]] = {
            cst.FunctionDef: self._function,
            cst.ClassDef: self._class,
            cst.Import: self._import,
            cst.ImportFrom: self._import_from,
            cst.Assign: self._assign,
            cst.AnnAssign: self._annotated,
            cst.AugAssign: self._augmented,
            cst.TypeAlias: self._type_alias,
            cst.Expr: lambda node: ast.Expr(self._some(node.value)),
            cst.Return: lambda node: ast.Return(self._expression(node.value)),
            cst.Raise: lambda node: ast.Raise(
                self._expression(node.exc), self._expression(node.cause.item if node.cause else None)
            ),
            cst.If: self._if,
            cst.For: self._for,
            cst.While: self._while,
            cst.With: self._with,
            cst.Try: self._try,
            cst.TryStar: self._try,
            cst.Match: self._match,
            cst.Global: lambda node: ast.Global([identifier(item.name) for item in node.names]),
            **{
                kind: reader  # syntax that only newer releases of LibCST know
                for name, reader in (("LazyImport", self._import), ("LazyImportFrom", self._import_from))
                if (kind := getattr(cst, name, None)) is not None
            },
            cst.Nonlocal: lambda node: ast.Nonlocal([identifier(item.name) for item in node.names]),
        }

    def body(self, block: cst.CSTNode | None) -> list[ast.stmt]:
        """The statements of a block; of an `else` or `finally` those in it."""
        inner = getattr(block, "body", ())
        if isinstance(inner, cst.BaseSuite):
            return self.body(inner)
        found: list[ast.stmt] = []
        for node in inner:
            if isinstance(node, cst.SimpleStatementLine):
                found.extend(self._statement(part) for part in node.body)
            else:
                found.append(self._statement(node))
        return found

    def _statement(self, node: cst.CSTNode) -> ast.stmt:
        made = self._makers.get(type(node))
        if made is None:
            return placed(ast.Expr(bag(self._place(node), self._made.all(node.children))), self._place(node))
        where, found = self._place(node), made(node)
        ends = [(last.end_lineno or 0, last.end_col_offset or 0) for last in _last_ones(found)]
        if ends:
            where = Place(where.line, where.column, *max(ends))
        return placed(found, where)

    def _function(self, node: cst.FunctionDef) -> ast.stmt:
        kind = ast.AsyncFunctionDef if node.asynchronous else ast.FunctionDef
        made = kind(
            identifier(node.name),
            self._made.arguments(node.params),
            self.body(node.body),
            [self._some(mark.decorator) for mark in node.decorators],
            self._expression(node.returns),
        )
        return self._with_type_parameters(made, node.type_parameters)

    def _class(self, node: cst.ClassDef) -> ast.stmt:
        made = ast.ClassDef(
            identifier(node.name),
            [self._made.argument(base) for base in node.bases],
            [self._made.keyword(given) for given in node.keywords],
            self.body(node.body),
            [self._some(mark.decorator) for mark in node.decorators],
        )
        return self._with_type_parameters(made, node.type_parameters)

    def _with_type_parameters(self, made: ast.stmt, given: cst.TypeParameters | None) -> ast.stmt:
        made.type_params = [bag(self._place(given), ())] if given else []  # type: ignore[attr-defined]
        return made

    def _import(self, node: cst.Import) -> ast.stmt:
        return ast.Import([self._alias(item) for item in node.names])

    def _import_from(self, node: cst.ImportFrom) -> ast.stmt:
        names = (
            [ast.alias("*")]
            if isinstance(node.names, cst.ImportStar)
            else [self._alias(item) for item in node.names]
        )
        return ast.ImportFrom(_dotted(node.module) or None, names, len(node.relative))

    def _alias(self, item: cst.ImportAlias) -> ast.alias:
        name = item.asname.name if item.asname else None
        return ast.alias(_dotted(item.name), identifier(name) if name else None)

    def _assign(self, node: cst.Assign) -> ast.stmt:
        return ast.Assign([self._some(part.target) for part in node.targets], self._some(node.value))

    def _annotated(self, node: cst.AnnAssign) -> ast.stmt:
        target = self._some(node.target)
        return annotated(target, self._some(node.annotation), self._expression(node.value))

    def _augmented(self, node: cst.AugAssign) -> ast.stmt:
        return ast.AugAssign(self._some(node.target), ast.Add(), self._some(node.value))  # type: ignore[arg-type]

    def _type_alias(self, node: cst.TypeAlias) -> ast.stmt:
        where = self._place(node)
        kind = placed(
            ast.Name("type", ast.Load()), Place(where.line, where.column, where.line, where.column + 4)
        )
        return annotated(self._some(node.name), kind, self._some(node.value))

    def _if(self, node: cst.If) -> ast.stmt:
        rest = node.orelse
        after = [self._statement(rest)] if isinstance(rest, cst.If) else self.body(rest)
        return ast.If(self._some(node.test), self.body(node.body), after)

    def _for(self, node: cst.For) -> ast.stmt:
        target, over = self._some(node.target), self._some(node.iter)
        return ast.For(target, over, self.body(node.body), self.body(node.orelse))

    def _while(self, node: cst.While) -> ast.stmt:
        return ast.While(self._some(node.test), self.body(node.body), self.body(node.orelse))

    def _with(self, node: cst.With) -> ast.stmt:
        items = [
            ast.withitem(self._some(item.item), self._expression(item.asname.name if item.asname else None))
            for item in node.items
        ]
        return ast.With(items, self.body(node.body))

    def _try(self, node: cst.Try | cst.TryStar) -> ast.stmt:
        handlers: Sequence[cst.ExceptHandler | cst.ExceptStarHandler] = node.handlers
        return ast.Try(
            self.body(node.body),
            [self._handler(part) for part in handlers],
            self.body(node.orelse),
            self.body(node.finalbody),
        )

    def _handler(self, node: cst.ExceptHandler | cst.ExceptStarHandler) -> ast.ExceptHandler:
        name = identifier(node.name.name) if node.name else None
        made = ast.ExceptHandler(self._expression(node.type), name, self.body(node.body))
        return placed(made, self._place(node))

    def _match(self, node: cst.Match) -> ast.stmt:
        return ast.Match(self._some(node.subject), [self._case(part) for part in node.cases])

    def _case(self, node: cst.MatchCase) -> ast.match_case:
        where = self._place(node.pattern)
        pattern = placed(ast.MatchValue(self._some(node.pattern)), where)
        return ast.match_case(pattern, self._expression(node.guard), self.body(node.body))


def _last_ones(node: ast.stmt) -> Iterable[ast.stmt | ast.ExceptHandler]:
    """The last statement of every block of a statement."""
    for name in ("body", "orelse", "finalbody", "handlers"):
        block = getattr(node, name, None)
        if block:
            last = block[-1]
            yield from [last.body[-1]] if isinstance(last, ast.ExceptHandler) and last.body else [last]
    for case in getattr(node, "cases", ()):
        yield from case.body[-1:]


def _dotted(node: cst.CSTNode | None) -> str:
    if isinstance(node, cst.Attribute):
        return f"{_dotted(node.value)}.{identifier(node.attr)}"
    return identifier(node) if node is not None else ""
