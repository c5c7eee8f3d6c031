"""The sizes that the values of a tensor hang on: a number that is made of them hangs on these, too.

Coordinates of the pixels that are no nearer to the border than a distance have values that the distance and
the height gave; how many there are is a number, and nothing in its tensors names either.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch
from torch import Tensor

from forwardbook.analyzers.symbolic.node import Node
from forwardbook.analyzers.symbolic.shadows import leaves_in


def inherit(made: Iterable[Tensor], given: object) -> None:
    """What was made of the tensors and numbers `given` hangs on the same sizes."""
    found: set[Node] = set()
    leaves = leaves_in(given)
    for leaf in leaves:
        if isinstance(leaf, Tensor):
            found |= origins(leaf)
    found.update(_nodes(leaves))
    if found:
        for tensor in made:
            tensor._forwardbook_origins = frozenset(found)  # type: ignore[attr-defined]


def origins(tensor: Tensor) -> frozenset[Node]:
    """The sizes of a tensor, and those that its values were made with."""
    before: frozenset[Node] = getattr(tensor, "_forwardbook_origins", frozenset())
    return before.union(_nodes(tensor.shape))


def become_numbers(tensors: Iterable[Tensor]) -> None:
    """Writes down that a number was made of the values of these; nothing says how it hangs on them."""
    for node in sorted({node for tensor in tensors for node in origins(tensor)}, key=lambda node: node.index):
        node.evaluate()


def _nodes(numbers: Iterable[object]) -> Iterator[Node]:
    """What the symbolic ones among numbers were computed as."""
    for one in numbers:
        if isinstance(one, torch.SymInt | torch.SymFloat) and one.node.op != "constant":
            yield one.node
