"""Expressions of a tree-sitter tree in, the same as nodes of `ast` out, as far as the index reads them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final
from unicodedata import normalize

from forwardbook.analyzers.index.tree_nodes import DEEPEST, Place, bag, constant, placed, string_value

if TYPE_CHECKING:
    from tree_sitter import Node

_SEQUENCES: Final = {
    "tuple": ast.Tuple,
    "expression_list": ast.Tuple,
    "pattern_list": ast.Tuple,
    "tuple_pattern": ast.Tuple,
    "list": ast.List,
    "list_pattern": ast.List,
}
_SEEN: Final = frozenset(  # what a bag looks for in what it holds
    {"call", "named_expression", "lambda", "yield", "attribute", "for_in_clause"}
)


def place(node: Node) -> Place:
    """Where a node of tree-sitter stands."""
    (row, column), (end_row, end_column) = node.start_point, node.end_point
    return Place(row + 1, column, end_row + 1, end_column)


def text(node: Node | None) -> str:
    """The source text of a node."""
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


def name_of(node: Node | None) -> str:
    """An identifier as Python itself spells it."""
    name = text(node)
    return name if name.isascii() else normalize("NFKC", name)


def parts(node: Node) -> list[Node]:
    """The named children of a node, comments left out."""
    return [child for child in node.named_children if child.type not in ("comment", "line_continuation")]


def expression(node: Node | None, depth: int = 0) -> ast.expr | None:
    """The expression that a node is, None where there is no node."""
    if node is None:
        return None
    if depth > DEEPEST:
        return bag(place(node), ())
    made = _MAKERS.get(node.type)
    if made is not None:
        return made(node, depth + 1)
    sequence = _SEQUENCES.get(node.type)
    if sequence is not None:
        return placed(sequence(_all(parts(node), depth + 1)), place(node))
    return bag(place(node), _all(_inner(node), depth + 1))


def _all(nodes: Iterable[Node], depth: int) -> list[ast.expr]:
    return [found for node in nodes if (found := expression(node, depth)) is not None]


def _inner(top: Node) -> Iterator[Node]:
    """The calls, lambdas, yields and attributes nearest below a node, in the order of the source."""
    stack = [*reversed(top.named_children)]
    while stack:
        node = stack.pop()
        if node.type in _SEEN:
            yield node
        else:
            stack.extend(reversed(node.named_children))


def _name(node: Node, _depth: int) -> ast.expr:
    return placed(ast.Name(name_of(node), ast.Load()), place(node))


_BASES: Final = {"attribute": "object", "call": "function", "subscript": "value"}


def _starred_base(node: Node) -> Node | None:
    """The `*x` that a chain begins with: `[*x.y(z)]` is read as the call of an attribute of `*x`."""
    inner: Node | None = node
    while inner is not None and inner.type in _BASES:
        inner = inner.child_by_field_name(_BASES[inner.type])
    return inner if inner is not None and inner.type == "list_splat" else None


def _base(node: Node, depth: int) -> ast.expr:
    """What stands left of the last dot or bracket of a chain."""
    inner = node.child_by_field_name(_BASES[node.type])
    if inner is not None and inner.type == "list_splat":
        inner = next(iter(parts(inner)), None)
    return expression(inner, depth) or bag(place(node), ())


def _unstarred(node: Node, made: ast.expr) -> ast.expr:
    """A link of a chain without the star before it, which goes around the whole chain."""
    where, star = place(node), _starred_base(node)
    if star is None:
        return placed(made, where)
    begin = place(star)
    made = placed(made, Place(begin.line, begin.column + 1, where.end_line, where.end_column))
    outermost = node.parent is None or node.parent.type not in _BASES
    return placed(ast.Starred(made, ast.Load()), where) if outermost else made


def _attribute(node: Node, depth: int) -> ast.expr:
    name = name_of(node.child_by_field_name("attribute"))
    return _unstarred(node, ast.Attribute(_base(node, depth), name, ast.Load()))


def _subscript(node: Node, depth: int) -> ast.expr:
    keys = node.children_by_field_name("subscript")
    first = expression(keys[0], depth) if len(keys) == 1 else None
    if first is None and keys:
        start, end = place(keys[0]), place(keys[-1])
        first = bag(Place(start.line, start.column, end.end_line, end.end_column), _all(keys, depth))
    return _unstarred(node, ast.Subscript(_base(node, depth), first or bag(place(node), ()), ast.Load()))


def _comprehension(node: Node, depth: int) -> ast.expr:
    target = expression(node.child_by_field_name("left"), depth) or bag(place(node), ())
    over = expression(node.child_by_field_name("right"), depth) or bag(place(node), ())
    return bag(place(node), [ast.comprehension(target, over, [], 0)])


def _call(node: Node, depth: int) -> ast.expr:
    given = node.child_by_field_name("arguments")
    made = ast.Call(_base(node, depth), [], [])
    if given is not None and given.type == "generator_expression":
        made.args.append(bag(place(given), _all(_inner(given), depth)))
    elif given is not None:
        for part in parts(given):
            if part.type in ("keyword_argument", "dictionary_splat"):
                made.keywords.append(keyword(part, depth))
            elif (value := expression(part, depth)) is not None:
                made.args.append(value)
    return _unstarred(node, made)


def keyword(node: Node, depth: int = 0) -> ast.keyword:
    """A `name=value` or `**value` of a call or of a class's header."""
    inner = parts(node)
    value = expression(inner[-1], depth) if inner else None
    name = name_of(inner[0]) if node.type == "keyword_argument" and len(inner) > 1 else None
    return placed(ast.keyword(name, value or bag(place(node), ())), place(node))


def _starred(node: Node, depth: int) -> ast.expr:
    inner = parts(node)
    value = expression(inner[0], depth) if inner else None
    return placed(ast.Starred(value or bag(place(node), ()), ast.Load()), place(node))


def _parenthesized(node: Node, depth: int) -> ast.expr:
    inner = parts(node)
    found = expression(inner[0], depth) if len(inner) == 1 else None
    return found if found is not None else bag(place(node), _all(inner, depth))


def _string(node: Node, depth: int) -> ast.expr:
    if any(child.type == "interpolation" for child in node.children):
        return bag(place(node), _all(_inner(node), depth))
    return constant(place(node), string_value(text(node)))


def _strings(node: Node, depth: int) -> ast.expr:
    pieces = [expression(part, depth) for part in parts(node)]
    values = [piece.value for piece in pieces if isinstance(piece, ast.Constant)]
    if len(values) == len(pieces) and all(isinstance(value, str) for value in values):
        return constant(place(node), "".join(map(str, values)))
    return bag(place(node), _all(_inner(node), depth))


def _walrus(node: Node, depth: int) -> ast.expr:
    name = expression(node.child_by_field_name("name"), depth)
    value = expression(node.child_by_field_name("value"), depth)
    if not isinstance(name, ast.Name) or value is None:
        return bag(place(node), _all(_inner(node), depth))
    return placed(ast.NamedExpr(name, value), place(node))


def _lambda(node: Node, depth: int) -> ast.expr:
    given = node.child_by_field_name("parameters")
    body = expression(node.child_by_field_name("body"), depth) or bag(place(node), ())
    return placed(ast.Lambda(arguments(given, depth), body), place(node))


def _yield(node: Node, depth: int) -> ast.expr:
    return placed(ast.Yield(bag(place(node), _all(parts(node), depth))), place(node))


def _comparison(node: Node, depth: int) -> ast.expr:
    sides = parts(node)
    if len(sides) != 2:
        return bag(place(node), _all(_inner(node), depth))
    left, *rest = _all(sides, depth)
    return placed(ast.Compare(left, [ast.Eq()], rest), place(node))


def _sum(node: Node, depth: int) -> ast.expr:
    left = node.child_by_field_name("left")
    if left is not None and left.type in ("list", "tuple"):  # as in `__all__ = [...] + other`
        sides = _all(parts(node), depth)
        if len(sides) == 2:
            return placed(ast.BinOp(sides[0], ast.Add(), sides[1]), place(node))
    return bag(place(node), _all(_inner(node), depth))


def _type(node: Node, depth: int) -> ast.expr:
    inner = parts(node)
    if len(inner) == 1 and inner[0].type in (
        "identifier",
        "attribute",
        "string",
        "none",
        "parenthesized_expression",
    ):
        return expression(inner[0], depth) or bag(place(node), ())
    return bag(place(node), _all(_inner(node), depth))


def arguments(node: Node | None, depth: int = 0) -> ast.arguments:
    """The parameters of a function or a lambda."""
    made = ast.arguments([], [], None, [], [], None, [])
    for part in parts(node) if node is not None else ():
        if part.type == "positional_separator":
            made.posonlyargs, made.args = made.args, []
        elif part.type in ("keyword_separator", "list_splat_pattern") or _begins(part, "list_splat_pattern"):
            made.vararg = None if part.type == "keyword_separator" else _parameter(part, depth)
            made.kwarg = made.kwarg or _KEYWORDS_FOLLOW
        elif part.type == "dictionary_splat_pattern" or _begins(part, "dictionary_splat_pattern"):
            made.kwarg = _parameter(part, depth)
        else:
            default = expression(part.child_by_field_name("value"), depth)
            if made.kwarg is _KEYWORDS_FOLLOW:
                made.kwonlyargs.append(_parameter(part, depth))
                made.kw_defaults.append(default)
            else:
                made.args.append(_parameter(part, depth))
                made.defaults.extend([default] if default is not None else [])
    if made.kwarg is _KEYWORDS_FOLLOW:
        made.kwarg = None
    made.defaults = made.defaults[: len(made.posonlyargs) + len(made.args)]
    return made


_KEYWORDS_FOLLOW: Final = ast.arg("*", None)


def _begins(node: Node, kind: str) -> bool:
    return node.type == "typed_parameter" and bool(inner := parts(node)) and inner[0].type == kind


def _parameter(node: Node, depth: int) -> ast.arg:
    named = node.child_by_field_name("name")
    if named is None:
        inner = parts(node)
        named = inner[0] if node.type != "identifier" and inner else node
    starred = named.type.endswith("splat_pattern")
    if starred and (inner := parts(named)):
        named = inner[0]
    annotation = expression(node.child_by_field_name("type"), depth)
    where = place(node)
    if annotation is None or node.type != "typed_parameter":
        where = place(named)
    return placed(ast.arg(name_of(named), annotation), where)


_MAKERS: Final[dict[str, Callable[[Node, int], ast.expr]]] = {
    "identifier": _name,
    "attribute": _attribute,
    "call": _call,
    "subscript": _subscript,
    "for_in_clause": _comprehension,
    "list_splat": _starred,
    "list_splat_pattern": _starred,
    "parenthesized_expression": _parenthesized,
    "string": _string,
    "concatenated_string": _strings,
    "named_expression": _walrus,
    "lambda": _lambda,
    "yield": _yield,
    "comparison_operator": _comparison,
    "binary_operator": _sum,
    "type": _type,
}
