"""A file's text in, its statements as nodes of `ast` out, by tree-sitter: what is broken is passed over."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final

from forwardbook.analyzers.index.tree_nodes import DEEPEST, Place, annotated, bag, placed
from forwardbook.analyzers.index.tree_sitter_expressions import (
    arguments,
    expression,
    keyword,
    name_of,
    parts,
    place,
    text,
)
from forwardbook.analyzers.index.tree_sitter_imports import import_, import_from
from forwardbook.analyzers.index.tree_sitter_patterns import pattern

if TYPE_CHECKING:
    from tree_sitter import Node


def statements(nodes: Iterable[Node], depth: int = 0) -> Iterator[ast.stmt]:
    """The statements that nodes are, one at a time, so that a long file needs little memory."""
    for node in nodes:
        if depth > DEEPEST:
            return
        if node.type == "ERROR" or node.type == "block":
            yield from statements(node.named_children, depth + 1)
        elif node.type != "comment":
            made = _MAKERS.get(node.type)
            yield made(node, depth + 1) if made is not None else _other(node)


def _body(node: Node | None, depth: int) -> list[ast.stmt]:
    return list(statements([node], depth)) if node is not None else []


def _to_last(node: Node, *bodies: list[ast.stmt]) -> Place:
    """A node's place, ended by the last statement in it: comments after it are not its own."""
    where = place(node)
    ends = [
        (last.end_lineno or 0, last.end_col_offset or 0) for body in bodies if body for last in (body[-1],)
    ]
    if not ends:
        return where
    return Place(where.line, where.column, *max(ends))


def _other(node: Node) -> ast.stmt:
    return placed(
        ast.Expr(bag(place(node), [found for part in parts(node) if (found := expression(part))])),
        place(node),
    )


def _expression_statement(node: Node, _depth: int) -> ast.stmt:
    inner = parts(node)
    if len(inner) != 1:
        return _other(node)
    only = inner[0]
    if only.type == "assignment":
        return _assignment(only)
    if only.type == "augmented_assignment":
        target, value = (expression(only.child_by_field_name(name)) for name in ("left", "right"))
        if target is not None and value is not None:
            return placed(ast.AugAssign(target, ast.Add(), value), place(only))  # type: ignore[arg-type]
    return placed(ast.Expr(expression(only) or bag(place(only), ())), place(node))


def _assignment(node: Node) -> ast.stmt:
    where, targets = place(node), []
    annotation = node.child_by_field_name("type")
    value: Node | None = node
    while value is not None and value.type == "assignment":
        if (target := expression(value.child_by_field_name("left"))) is not None:
            targets.append(target)
        value = value.child_by_field_name("right")
    if not targets:
        return _other(node)
    found = expression(value)
    if annotation is not None:
        kind = expression(annotation) or bag(where, ())
        return placed(annotated(targets[0], kind, found), where)
    return placed(ast.Assign(targets, found or bag(where, ())), where)


def _function(node: Node, depth: int) -> ast.FunctionDef | ast.AsyncFunctionDef:
    body = _body(node.child_by_field_name("body"), depth)
    waits = bool(node.children) and node.children[0].type == "async"
    made: ast.FunctionDef | ast.AsyncFunctionDef = (ast.AsyncFunctionDef if waits else ast.FunctionDef)(
        name_of(node.child_by_field_name("name")),
        arguments(node.child_by_field_name("parameters")),
        body,
        [],
        expression(node.child_by_field_name("return_type")),
    )
    _type_parameters(made, node)
    return placed(made, _to_last(node, body))


def _class(node: Node, depth: int) -> ast.ClassDef:
    body = _body(node.child_by_field_name("body"), depth)
    made = ast.ClassDef(name_of(node.child_by_field_name("name")), [], [], body, [])
    above = node.child_by_field_name("superclasses")
    for part in parts(above) if above is not None else ():
        if part.type in ("keyword_argument", "dictionary_splat"):
            made.keywords.append(keyword(part))
        elif (base := expression(part)) is not None:
            made.bases.append(base)
    _type_parameters(made, node)
    return placed(made, _to_last(node, body))


def _type_parameters(made: ast.AST, node: Node) -> None:
    given = node.child_by_field_name("type_parameters")
    made.type_params = [bag(place(given), ())] if given is not None else []  # type: ignore[attr-defined]


def _decorated(node: Node, depth: int) -> ast.stmt:
    inner = node.child_by_field_name("definition")
    if inner is None:
        return _other(node)
    made = _class(inner, depth) if inner.type == "class_definition" else _function(inner, depth)
    marks = [part for part in node.named_children if part.type == "decorator"]
    found = (expression(shown[0]) for mark in marks if (shown := parts(mark)))
    made.decorator_list = [mark for mark in found if mark is not None]
    return made


def _return(node: Node, _depth: int) -> ast.stmt:
    inner = parts(node)
    return placed(ast.Return(expression(inner[0]) if inner else None), place(node))


def _raise(node: Node, _depth: int) -> ast.stmt:
    cause = node.child_by_field_name("cause")
    inner = [part for part in parts(node) if cause is None or part.id != cause.id]
    error = inner[0] if inner else None
    if error is not None and error.type == "expression_list":  # `raise A, "text"` of Python 2
        error = next(iter(parts(error)), None)
    return placed(ast.Raise(expression(error), expression(cause)), place(node))


def _if(node: Node, depth: int) -> ast.stmt:
    clauses = node.children_by_field_name("alternative")
    rest: list[ast.stmt] = []
    for clause in reversed(clauses):
        if clause.type == "elif_clause":
            rest = [_if_clause(clause, rest, depth)]
        else:
            rest = _body(clause.child_by_field_name("body"), depth)
    return _if_clause(node, rest, depth)


def _if_clause(node: Node, rest: list[ast.stmt], depth: int) -> ast.stmt:
    body = _body(node.child_by_field_name("consequence"), depth)
    test = expression(node.child_by_field_name("condition")) or bag(place(node), ())
    return placed(ast.If(test, body, rest), _to_last(node, body, rest))


def _else(node: Node, depth: int) -> list[ast.stmt]:
    for clause in node.named_children:
        if clause.type == "else_clause":
            return _body(clause.child_by_field_name("body"), depth)
    return []


def _for(node: Node, depth: int) -> ast.stmt:
    body, rest = _body(node.child_by_field_name("body"), depth), _else(node, depth)
    target, over = (
        expression(node.child_by_field_name(name)) or bag(place(node), ()) for name in ("left", "right")
    )
    return placed(ast.For(target, over, body, rest), _to_last(node, body, rest))


def _while(node: Node, depth: int) -> ast.stmt:
    body, rest = _body(node.child_by_field_name("body"), depth), _else(node, depth)
    test = expression(node.child_by_field_name("condition")) or bag(place(node), ())
    return placed(ast.While(test, body, rest), _to_last(node, body, rest))


def _with(node: Node, depth: int) -> ast.stmt:
    body = _body(node.child_by_field_name("body"), depth)
    items: list[ast.withitem] = []
    for clause in node.named_children:
        if clause.type == "with_clause":
            items.extend(_with_item(item) for item in parts(clause) if item.type == "with_item")
    return placed(ast.With(items, body), _to_last(node, body))


def _with_item(node: Node) -> ast.withitem:
    value = node.child_by_field_name("value") or node
    inner = parts(value)
    if value.type == "as_pattern" and len(inner) == 2 and (target := parts(inner[1])):
        given = expression(inner[0]) or bag(place(value), ())
        return ast.withitem(given, expression(target[0]))
    return ast.withitem(expression(value) or bag(place(value), ()))


def _try(node: Node, depth: int) -> ast.stmt:
    body = _body(node.child_by_field_name("body"), depth)
    handlers, last = [], []
    for clause in node.named_children:
        if clause.type in ("except_clause", "except_group_clause"):
            handlers.append(_handler(clause, depth))
        elif clause.type == "finally_clause":
            last = _body(next((part for part in clause.named_children if part.type == "block"), None), depth)
    rest = _else(node, depth)
    bodies = (body, *(handler.body for handler in handlers), rest, last)
    return placed(ast.Try(body, handlers, rest, last), _to_last(node, *bodies))


def _handler(node: Node, depth: int) -> ast.ExceptHandler:
    inner = parts(node)
    body = _body(next((part for part in inner if part.type == "block"), None), depth)
    caught = next((part for part in inner if part.type != "block"), None)
    name = None
    if caught is not None and caught.type == "as_pattern" and len(both := parts(caught)) == 2:
        caught, name = both[0], name_of(both[1])
    return placed(ast.ExceptHandler(expression(caught), name, body), place(node))


def _match(node: Node, depth: int) -> ast.stmt:
    cases = []
    block = node.child_by_field_name("body")
    for clause in block.named_children if block is not None else ():
        if clause.type == "case_clause":
            cases.append(_case(clause, depth))
    subject = expression(node.child_by_field_name("subject")) or bag(place(node), ())
    return placed(ast.Match(subject, cases), _to_last(node, *(case.body for case in cases)))


def _case(node: Node, depth: int) -> ast.match_case:
    patterns = [part for part in node.named_children if part.type == "case_pattern"]
    where = place(node)
    if patterns:
        first, last = place(patterns[0]), place(patterns[-1])
        where = Place(first.line, first.column, last.end_line, last.end_column)
    guard = node.child_by_field_name("guard")
    test = expression(parts(guard)[0]) if guard is not None and parts(guard) else None
    body = _body(node.child_by_field_name("consequence"), depth)
    return ast.match_case(
        placed(ast.MatchValue(bag(where, [pattern(part) for part in patterns])), where), test, body
    )


def _outer_names(node: Node, _depth: int) -> ast.stmt:
    names = [name_of(part) for part in parts(node)]
    kind = ast.Global if node.type == "global_statement" else ast.Nonlocal
    return placed(kind(names), place(node))


def _type_alias(node: Node, _depth: int) -> ast.stmt:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    named = left
    while named is not None and named.type != "identifier":
        named = next(iter(parts(named)), None)
    if named is None or right is None:
        return _other(node)
    where = place(node)
    if text(left).startswith("("):  # `type(x).y = ...` is read as an alias
        made = placed(ast.Name("type", ast.Load()), where)
        call = placed(ast.Call(made, [expression(named) or bag(where, ())], []), where)
        return placed(ast.Expr(bag(where, [call, expression(right) or bag(where, ())])), where)
    target = placed(ast.Name(name_of(named), ast.Store()), place(named))
    word = Place(where.line, where.column, where.line, where.column + len("type"))
    kind = placed(ast.Name("type", ast.Load()), word)
    return placed(annotated(target, kind, expression(right)), where)


_MAKERS: Final[dict[str, Callable[[Node, int], ast.stmt]]] = {
    "expression_statement": _expression_statement,
    "function_definition": _function,
    "class_definition": _class,
    "decorated_definition": _decorated,
    "import_statement": import_,
    "import_from_statement": import_from,
    "future_import_statement": import_from,
    "return_statement": _return,
    "raise_statement": _raise,
    "if_statement": _if,
    "for_statement": _for,
    "while_statement": _while,
    "with_statement": _with,
    "try_statement": _try,
    "match_statement": _match,
    "global_statement": _outer_names,
    "nonlocal_statement": _outer_names,
    "type_alias_statement": _type_alias,
}
