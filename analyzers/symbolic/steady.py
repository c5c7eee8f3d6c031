"""A value without an expression in; out the conditions on sizes under which it is what it was in this run."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from forwardbook.analyzers.symbolic.node import Node, Number, calculated
from forwardbook.formula import Condition, Expr

FARTHEST = 1 << 20  # a size as large as this has no larger one beside it that anybody runs

_COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
# What goes one way only while its one operand that is no number grows from 1.
_ONE_WAY = frozenset(
    {
        *("add", "sub", "mul", "neg", "pos", "int_truediv", "float_truediv", "int_floordiv", "float_pow"),
        *("float_floordiv", "bit_length"),
        *("floor", "ceil", "trunc", "round", "sym_float", "sym_min", "sym_max", "sym_not"),
        *("sym_sqrt", "sym_exp", "sym_log", "sym_log2", "sym_log10", "sym_tanh"),
    }
)
_POSITIVE = frozenset({"float_pow", "int_truediv", "float_truediv", "int_floordiv", "float_floordiv"})


def steady(node: Node, expressed: Callable[[Node], Expr | None]) -> list[Condition]:
    """Where `node` has the number it has in this run, or that and more cannot be said: these very sizes.

    `int(log2(n))` of 8 is that of 8 to 15. What hangs on several sizes, or goes up and down, is said of no
    sizes but those of the run. `expressed` gives the expression of a node that has one.
    """
    leaves = _leaves(node.args, expressed)
    if len(leaves) == 1:
        ((leaf, size),) = leaves.items()
        chain = _chain(node, leaf)
        if chain is not None and leaf.number >= 1:
            return _between(size, *_reach(chain, node.number, int(leaf.number)))
    return [Condition(size, "==", Expr.const(int(leaf.number))) for leaf, size in leaves.items()]


def symbols_behind(node: Node, expressed: Callable[[Node], Expr | None]) -> frozenset[str]:
    """The names of the sizes that a value hangs on, whether it has an expression or not."""
    return frozenset().union(*(size.symbols() for size in _leaves([node], expressed).values()))


def _leaves(nodes: Iterable[Node], expressed: Callable[[Node], Expr | None]) -> dict[Node, Expr]:
    """The largest whole numbers among nodes and what they hang on that have expressions, constants apart."""
    found: dict[Node, Expr] = {}
    stack, seen = list(nodes)[::-1], set()
    while stack:
        top = stack.pop()
        if top.index in seen:
            continue
        seen.add(top.index)
        size = expressed(top) if top.pytype is int else None
        if size is None:
            stack.extend(reversed(top.args))
        elif not size.is_const:
            found[top] = size
    return found


_Step = Callable[[Number], Number]


def _chain(node: Node, leaf: Node) -> _Step | None:
    """The value as a function of its one leaf, where that goes one way; None for others."""
    steps: list[_Step] = []
    while node is not leaf:
        inner = [arg for arg in node.args if arg.op != "constant"]
        last = not steps  # only the end may be a comparison: what comes after would not go one way
        if len(inner) != 1 or not (node.op in _ONE_WAY or (last and node.op in _COMPARISONS - {"eq", "ne"})):
            return None
        steps.append(_step(node, node.args.index(inner[0])))
        node = inner[0]

    def value(number: Number) -> Number:
        for step in reversed(steps):
            number = step(number)
        return number

    return value


def _step(node: Node, place: int) -> _Step:
    numbers = [arg.number for arg in node.args]

    def step(number: Number) -> Number:
        given = [*numbers[:place], number, *numbers[place + 1 :]]
        if node.op in _POSITIVE and (given[0] < 0 or (node.op != "float_pow" and given[1] <= 0)):
            raise ValueError(f"{node.op} of {given} may turn round")
        return calculated(node.op, given, node.pytype)

    return step


def _reach(value: _Step, number: Number, hint: int) -> tuple[int, int]:
    """The smallest size from 1 and the largest at which the value is `number`."""

    def same(size: int) -> bool:
        try:
            return value(size) == number
        except (ArithmeticError, ValueError, TypeError):
            return False

    return _last(same, hint, 1), _last(same, hint, FARTHEST)


def _last(same: Callable[[int], bool], inside: int, end: int) -> int:
    """The last size from `inside` towards `end` for which it is the same."""
    if same(end):
        return end
    outside = end
    while abs(outside - inside) > 1:
        middle = (inside + outside) // 2
        inside, outside = (middle, outside) if same(middle) else (inside, middle)
    return inside


def _between(size: Expr, least: int, most: int) -> list[Condition]:
    if least == most:
        return [Condition(size, "==", Expr.const(least))]
    said = [Condition(size, ">=", Expr.const(least))]
    return said if most == FARTHEST else [*said, Condition(size, "<=", Expr.const(most))]
