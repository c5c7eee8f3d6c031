"""Expressions of a LibCST tree in, the same as nodes of `ast` out, as far as the index reads them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final
from unicodedata import normalize

import libcst as cst
from libcst.metadata import CodePosition, CodeRange

from forwardbook.analyzers.index.tree_nodes import Place, bag, constant, placed

_SEEN: Final = (
    *(cst.Call, cst.NamedExpr, cst.Lambda, cst.Yield, cst.Attribute, cst.CompFor),
    *(cst.MatchAs, cst.MatchStar, cst.MatchMapping),
)


class Expressions:
    """Turns the expressions of one parsed file, whose text and positions it knows."""

    def __init__(self, text: str, ranges: Mapping[cst.CSTNode, CodeRange]) -> None:
        self._lines = text.split("\n")
        self._ranges = ranges
        self._makers: dict[type[cst.CSTNode], Callable[..., ast.expr]] = {
            cst.Name: self._name,
            cst.Attribute: self._attribute,
            cst.Call: self._call,
            cst.Subscript: self._subscript,
            cst.SimpleString: self._string,
            cst.ConcatenatedString: self._string,
            cst.Tuple: self._sequence,
            cst.List: self._sequence,
            cst.NamedExpr: self._walrus,
            cst.Lambda: self._lambda,
            cst.Yield: self._yield,
            cst.CompFor: self._comprehension,
            cst.Comparison: self._comparison,
            cst.BinaryOperation: self._sum,
            cst.StarredElement: self._starred,
            cst.MatchAs: self._capture,
            cst.MatchStar: self._capture,
            cst.MatchMapping: self._mapping,
            cst.Annotation: lambda node: self.some(node.annotation),
            cst.Element: lambda node: self.some(node.value),
        }

    def place(self, node: cst.CSTNode) -> Place:
        """Where a node stands, without the brackets around it, as `ast` has it."""
        found = self._ranges[node]
        start, end = found.start, found.end
        if isinstance(node, cst.Tuple | cst.GeneratorExp) and node.lpar:  # those brackets are their own
            start, end = self._ranges[node.lpar[-1]].start, self._ranges[node.rpar[0]].end
        return Place(start.line, self._column(start), end.line, self._column(end))

    def _column(self, position: CodePosition) -> int:
        line = self._lines[position.line - 1]
        return position.column if line.isascii() else len(line[: position.column].encode("utf-8", "replace"))

    def expression(self, node: cst.CSTNode | None) -> ast.expr | None:
        """The expression that a node is, None where there is no node."""
        if node is None:
            return None
        made = self._makers.get(type(node))
        return made(node) if made is not None else bag(self.place(node), self.all(self._inner(node)))

    def some(self, node: cst.CSTNode) -> ast.expr:
        """The expression that a node is."""
        return self.expression(node) or bag(self.place(node), ())

    def all(self, nodes: Iterable[cst.CSTNode]) -> list[ast.expr]:
        """The expressions that nodes are."""
        return [self.some(node) for node in nodes]

    def _inner(self, top: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The calls, lambdas, yields, attributes and patterns nearest below a node."""
        stack = [*reversed(top.children)]
        while stack:
            node = stack.pop()
            if isinstance(node, _SEEN):
                yield node
            elif not isinstance(node, cst.BaseParenthesizableWhitespace):
                stack.extend(reversed(node.children))

    def _name(self, node: cst.Name) -> ast.expr:
        if node.value in ("None", "True", "False"):
            return constant(self.place(node), None)
        return placed(ast.Name(identifier(node), ast.Load()), self.place(node))

    def _attribute(self, node: cst.Attribute) -> ast.expr:
        made = ast.Attribute(self.some(node.value), identifier(node.attr), ast.Load())
        return placed(made, self.place(node))

    def _call(self, node: cst.Call) -> ast.expr:
        made = ast.Call(self.some(node.func), [], [])
        for given in node.args:
            if given.star == "**" or given.keyword is not None:
                made.keywords.append(self.keyword(given))
            else:
                made.args.append(self.argument(given))
        where = self.place(node)
        if len(node.args) == 1 and isinstance(only := node.args[0].value, cst.GeneratorExp) and not only.lpar:
            start = self._ranges[node.whitespace_before_args].start  # the call's brackets are its own
            placed(made.args[0], Place(start.line, self._column(start) - 1, *where[2:]))
        return placed(made, where)

    def argument(self, given: cst.Arg) -> ast.expr:
        """A positional argument of a call or of a class's header."""
        value = self.some(given.value)
        if not given.star:
            return value
        where = Place(*self.place(given)[:2], value.end_lineno or 0, value.end_col_offset or 0)
        if given.value.rpar:  # `*(a + b)` ends with its bracket
            end = self._ranges[given.value.rpar[-1]].end
            where = Place(*where[:2], end.line, self._column(end))
        return placed(ast.Starred(value, ast.Load()), where)

    def keyword(self, given: cst.Arg) -> ast.keyword:
        """A `name=value` or `**value` of a call or of a class's header."""
        value = self.some(given.value)
        named = identifier(given.keyword) if given.keyword else None
        where = Place(*self.place(given)[:2], value.end_lineno or 0, value.end_col_offset or 0)
        return placed(ast.keyword(named, value), where)

    def _subscript(self, node: cst.Subscript) -> ast.expr:
        keys = [part.slice for part in node.slice]
        first = keys[0]
        if len(keys) == 1 and isinstance(first, cst.Index) and not first.star:
            key = self.some(first.value)
        else:
            start, end = self.place(node.slice[0].slice), self.place(keys[-1])
            key = bag(Place(*start[:2], *end[2:]), self.all(keys))
        return placed(ast.Subscript(self.some(node.value), key, ast.Load()), self.place(node))

    def _string(self, node: cst.SimpleString | cst.ConcatenatedString) -> ast.expr:
        if any(isinstance(part, cst.FormattedString) for part in (node, *_pieces(node))):
            return bag(self.place(node), self.all(self._inner(node)))
        value = node.evaluated_value
        return constant(self.place(node), value if isinstance(value, str) else None)

    def _sequence(self, node: cst.Tuple | cst.List) -> ast.expr:
        kind = ast.Tuple if isinstance(node, cst.Tuple) else ast.List
        return placed(kind(self.all(node.elements), ast.Load()), self.place(node))

    def _starred(self, node: cst.StarredElement) -> ast.expr:
        return placed(ast.Starred(self.some(node.value), ast.Load()), self.place(node))

    def _walrus(self, node: cst.NamedExpr) -> ast.expr:
        target = ast.Name(identifier(node.target), ast.Store())
        return placed(
            ast.NamedExpr(placed(target, self.place(node.target)), self.some(node.value)), self.place(node)
        )

    def _lambda(self, node: cst.Lambda) -> ast.expr:
        return placed(ast.Lambda(self.arguments(node.params), self.some(node.body)), self.place(node))

    def _yield(self, node: cst.Yield) -> ast.expr:
        return placed(ast.Yield(bag(self.place(node), self.all(self._inner(node)))), self.place(node))

    def _comprehension(self, node: cst.CompFor) -> ast.expr:
        inner = self.all([*node.ifs, *([node.inner_for_in] if node.inner_for_in else [])])
        made = ast.comprehension(self.some(node.target), self.some(node.iter), inner, 0)
        return bag(self.place(node), [made])

    def _comparison(self, node: cst.Comparison) -> ast.expr:
        sides = [self.some(node.left), *(self.some(part.comparator) for part in node.comparisons)]
        made = ast.Compare(sides[0], [ast.Eq()] * (len(sides) - 1), sides[1:])
        return placed(made, self.place(node))

    def _sum(self, node: cst.BinaryOperation) -> ast.expr:
        made = ast.BinOp(self.some(node.left), ast.Add(), self.some(node.right))
        return placed(made, self.place(node))

    def _mapping(self, node: cst.MatchMapping) -> ast.expr:
        inner: list[ast.AST] = [*self.all(self._inner(node))]
        if node.rest is not None:
            inner.append(placed(ast.MatchAs(None, identifier(node.rest)), self.place(node)))
        return bag(self.place(node), inner)

    def _capture(self, node: cst.MatchAs | cst.MatchStar) -> ast.expr:
        made = ast.MatchAs(None, identifier(node.name) if node.name else None)
        pattern = getattr(node, "pattern", None)
        inner = self.all([pattern] if pattern is not None else [])
        return bag(self.place(node), [placed(made, self.place(node)), *inner])

    def arguments(self, given: cst.Parameters) -> ast.arguments:
        """The parameters of a function or a lambda."""
        star = given.star_arg
        ordinary = [*given.posonly_params, *given.params]
        return ast.arguments(
            [self._parameter(part) for part in given.posonly_params],
            [self._parameter(part) for part in given.params],
            self._parameter(star) if isinstance(star, cst.Param) else None,
            [self._parameter(part) for part in given.kwonly_params],
            [self.expression(part.default) for part in given.kwonly_params],
            self._parameter(given.star_kwarg) if given.star_kwarg else None,
            [self.some(part.default) for part in ordinary if part.default is not None],
        )

    def _parameter(self, part: cst.Param) -> ast.arg:
        annotation = self.expression(part.annotation)
        where = self.place(part.name)
        if annotation is not None:
            where = Place(*where[:2], annotation.end_lineno or 0, annotation.end_col_offset or 0)
        return placed(ast.arg(identifier(part.name), annotation), where)


def _pieces(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    if isinstance(node, cst.ConcatenatedString):
        yield from (node.left, *_pieces(node.right), node.right)


def identifier(node: cst.CSTNode) -> str:
    """A name as Python itself spells it."""
    name = node.value if isinstance(node, cst.Name) else ""
    return name if name.isascii() else normalize("NFKC", name)
