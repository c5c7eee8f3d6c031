"""A fraction in; out whether a float on the way to it was rounded: then algebra does not tell its last bit.

`(1 - 1 / n) / (1 / n)` is n - 1 by algebra. In floats it is more for n = 3, 6, 7 and 14, and what rounds it
up to an integer gets n.
"""

from __future__ import annotations

from typing import Final

from forwardbook.analyzers.symbolic.node import Node

_DIVISIONS: Final = frozenset({"int_truediv", "float_truediv"})


def is_of_rounded(value: Node) -> bool:
    """Whether a float is made of a quotient that was rounded; one quotient of integers is near enough."""
    stack, seen = [arg for arg in value.args if arg.pytype is float], set[int]()
    while stack:
        node = stack.pop()
        if node.index in seen or node.op == "constant":
            continue
        seen.add(node.index)
        if node.op in _DIVISIONS and float(node.number) != int(node.number):
            return True
        stack += [arg for arg in node.args if arg.pytype is float]
    return False
