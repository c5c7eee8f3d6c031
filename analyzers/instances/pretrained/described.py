"""A forward() whose docstring states the shapes it takes in; out inputs of those shapes, in the notation.

`token_bonds (torch.Tensor of shape (batch_size, num_tokens, num_tokens, 1))` says what no table of names can
know. A parameter that takes a dataclass of tensors is described by the docstring of that class.
"""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import PreTrainedModel

_STATED = re.compile(r"\s*(\w+)\s*(?:\(([^(]*)of shape |: )`\(([\w, ]+)\)`(.*)")
_OTHER = re.compile(r"\s*(\w+)\s*(\(|: )`")
_WHOLE = re.compile(r"LongTensor|IntTensor|BoolTensor|torch\.long|torch\.int")
_FLOATS = re.compile(r"FloatTensor|torch\.float")
# What is said of a tensor of whole numbers where its type is not.
_COUNTED = re.compile(
    r"\b(ind(ex|ices)|IDs?|codes?|mask|one-hot|tokens|identifiers?|number of)\b", re.IGNORECASE
)
_MASK = re.compile(r"\bmask\b", re.IGNORECASE)
_NAMED = {"sequence_length": "seq_len", "height": "image_height", "width": "image_width"}
"""Words of docstrings for sizes that have a name here."""
PART = "."
"""Stands between a parameter and the field of the object that it takes."""


@dataclass(frozen=True)
class Stated:
    """What a docstring says of one tensor."""

    dimensions: tuple[str, ...]
    kind: str
    said: str

    def expression(self, coded: bool, flags: bool) -> str:
        """The tensor in the notation; `coded` gives a row of ones and zeros as the number it stands for.

        A mask is one of whole numbers, or of `flags`.
        """
        one_hot = "one-hot" in self.said
        rows = one_hot and not (coded and len(self.dimensions) > 1)
        dimensions = self.dimensions[:-1] if one_hot and not rows else self.dimensions
        counted = not _FLOATS.search(self.kind) and bool(_COUNTED.search(self.said))
        whole = bool(_WHOLE.search(self.kind)) or (counted and not rows)
        listed = ", ".join(dimensions)
        if flags and _MASK.search(self.said):
            return f"mask({listed})"
        # Ones: the least that is an index of something, a count, a type, and a mask that hides nothing.
        return f"full(1, {listed})" if whole else f"floats({listed})"


def described(
    model: PreTrainedModel, needed: Collection[str], usual: Mapping[str, str]
) -> list[dict[str, str]]:
    """Plans with what docstrings state: for every parameter, then for those alone that have no usual input.

    A tensor that is rows of a table comes as those rows and as the numbers they stand for, a mask as whole
    numbers and as flags. None where every parameter has a usual input.
    """
    if set(needed) <= usual.keys():
        return []
    parameters = inspect.signature(type(model).forward).parameters
    of_forward = stated_in(inspect.getdoc(type(model).forward) or "")
    found: dict[str, Mapping[str, Stated]] = {}
    for name in needed:
        fields = fields_of(parameters[name].annotation)
        if fields:
            found[name] = {f"{name}{PART}{field}": one for field, one in fields.items()}
        elif name in of_forward:
            found[name] = {name: of_forward[name]}
    plans: list[dict[str, str]] = []
    for known in ({}, usual):
        if all(name in found or name in known for name in needed) and not found.keys() <= known.keys():
            for coded, flags in itertools.product((False, True), (False, True)):
                plan: dict[str, str] = {}
                for name in needed:
                    stated = {part: one.expression(coded, flags) for part, one in found.get(name, {}).items()}
                    plan |= {name: known[name]} if name in known else stated
                plans.append(plan)
    return [plan for i, plan in enumerate(plans) if plan not in plans[:i]]


def fields_of(annotation: object) -> Mapping[str, Stated]:
    """What the docstring of a dataclass states of its fields; nothing where one of them is left out."""
    if not (inspect.isclass(annotation) and dataclasses.is_dataclass(annotation)):
        return {}
    stated = stated_in(inspect.getdoc(annotation) or "")
    names = [one.name for one in dataclasses.fields(annotation)]
    return {name: stated[name] for name in names} if all(name in stated for name in names) else {}


def gathered(model: object, given: Mapping[str, object]) -> dict[str, object]:
    """Arguments of forward(): the parts of an object become the object."""
    whole: dict[str, object] = {name: value for name, value in given.items() if PART not in name}
    parts: dict[str, dict[str, object]] = {}
    for name, value in given.items():
        owner, part, field = name.partition(PART)
        if part:
            parts.setdefault(owner, {})[field] = value
    if parts:
        parameters = inspect.signature(type(model).forward).parameters  # type: ignore[attr-defined]
        whole |= {owner: parameters[owner].annotation(**fields) for owner, fields in parts.items()}
    return whole


def stated_in(text: str) -> dict[str, Stated]:
    """The tensors whose shape a docstring states, by their names."""
    found: dict[str, Stated] = {}
    name = ""
    for line in text.splitlines():
        match = _STATED.match(line)
        if match:
            name, kind, dimensions, rest = match[1], match[2] or "", match[3], match[4]
            words = [one.strip() for one in dimensions.split(",") if one.strip()]
            dims = tuple(_NAMED.get(one, one) for one in words)
            found[name] = Stated(dims, kind, f"{name.replace('_', ' ')} {rest}")
        elif not line.strip() or _OTHER.match(line):
            name = ""
        elif name:
            found[name] = dataclasses.replace(found[name], said=f"{found[name].said} {line.strip()}")
    return found
