"""What tensors hold that stands for values which only a run with weights or data has: marks that ride along.

Where such a value is made up (experts are taken round robin) it is written down once a number is made of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from torch import Tensor

from forwardbook.analyzers.symbolic.shadows import shadow


def choices_of(tensor: Tensor) -> int | None:
    """Among how many weights chose what a tensor holds, 0 where nobody chose; None without weights."""
    found: int | None = getattr(tensor, "_forwardbook_of_weights", None)
    return found


def follow_weights(made: Iterable[Tensor], given: Iterable[Tensor]) -> None:
    """Truths and whole numbers that are computed of weights are of them, and whatever such come of those."""
    made, given = list(made), list(given)
    whole = [one for one in made if not one.is_floating_point()]
    of_weights = next((one for one in given if choices_of(one) is not None), None)
    if of_weights is not None:
        choices = choices_of(of_weights) or 0
        mark(whole if choices else made, choices)
        if (said := getattr(of_weights, "_forwardbook_routed", None)) is not None:
            route(made, *said)
    elif whole and any(map(is_of_weights, given)):
        mark(whole)


def route(tensors: Iterable[Tensor], said: str, assumed: Counter[str]) -> None:
    """Writes down what is to be assumed once a number is made of values that weights would choose."""
    for tensor in tensors:
        tensor._forwardbook_routed = said, assumed  # type: ignore[attr-defined]


def note_routing(tensors: Iterable[Tensor]) -> bool:
    """A number is made of values of these: what was chosen for weights is assumed, if anything was."""
    found = [said for one in tensors if (said := getattr(one, "_forwardbook_routed", None)) is not None]
    for said, assumed in found:
        assumed[said] += 1
    return bool(found)


def is_of_weights(tensor: Tensor) -> bool:
    """Whether a tensor holds numbers that nobody knows; those that are too many to carry are none."""
    return tensor.is_floating_point() and shadow(tensor) is None and tensor.device.type == "meta"


def mark(tensors: Iterable[Tensor], choices: int = 0) -> None:
    """Writes down that what these carry stands for values that only data has, or that chose among so many."""
    for tensor in tensors:
        tensor._forwardbook_of_weights = choices  # type: ignore[attr-defined]


def unmark(tensor: Tensor) -> None:
    """What it holds was written down as assumed already."""
    tensor.__dict__.pop("_forwardbook_of_weights", None)
