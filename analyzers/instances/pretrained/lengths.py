"""A call that two lengths do not fit in, and its error; out the plan with one of the lengths for the other.

The message tells both, or the layer that raised: what it takes, and what it was given. A length that a layer
has is written as that layer's, so that it stays a symbol where the model is built with symbols.
"""

from __future__ import annotations

import ast
import math
import re
import traceback
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

import torch

from forwardbook.analyzers.instances.adapters.consumers import every_consumer
from forwardbook.analyzers.instances.notation import Reader
from forwardbook.analyzers.instances.pretrained.inputs import Plan, field_size, held_by
from forwardbook.analyzers.instances.recipe import hinted

if TYPE_CHECKING:
    from transformers import PreTrainedModel

MOST = 16
"""Plans that are made of one error."""
SMALLEST = 2
"""A length of one fits every other."""
_SHAPE = re.compile(r"\[(\d+(?:, \d+)*)\]")
_MULTIPLE = re.compile(r"(\d+) is not a multiple of (\d+)|multiple of [^()]*\((\d+)\), but got (\d+)")
_REDUCED = re.compile(r"same reduction dim, but got \[\d+, (\d+)\] X \[(\d+), \d+\]")
_VIEW = re.compile(r"shape '\[([\d, ]+)\]' is invalid for input of size (\d+)")
_NUMBER = re.compile(r"\d+")
_MAKERS = ("floats", "full", "integers", "ones", "mask")
_SHAPES_AT = {"integers": 1, "full": 1}
"""Where the sizes begin among the arguments."""

Pair = tuple[int, int]
"""A length that was given, and one that is wanted instead."""


def with_told_lengths(model: PreTrainedModel, plan: Plan, error: BaseException) -> Iterator[Plan]:
    """Plans that have the wanted length where the given one stood, those the error is surest of first."""
    if not isinstance(error, RuntimeError | ValueError | IndexError | AssertionError):
        return
    made: list[Plan] = []
    for given, wanted in dict.fromkeys(pairs_of(error)):
        held = _held(model, error, wanted)
        for other in _replaced(model, plan, given, wanted, held):
            if other != plan and other not in made:
                made.append(other)
                yield other
            if len(made) == MOST:
                return


def _replaced(model: PreTrainedModel, plan: Plan, given: int, wanted: int, held: str) -> Iterator[Plan]:
    """The length in every input, in those that are no ids, in one size; then what it came from."""
    sizes = {name: [(term, _value(model, term)) for term in terms(text)] for name, text in plan.items()}
    equal = {name: [term for term, value in pairs if value == given] for name, pairs in sizes.items()}
    named = (pair for pairs in sizes.values() for pair in pairs if not pair[0].isdigit())
    plain = next((term for term, value in named if value == wanted), str(wanted))
    if wanted == 1:  # samples, as a rule
        equal = {name: [term for term in found if term == "batch_size"] for name, found in equal.items()}
    for names in ([n for n in plan if equal[n]], [n for n in plan if equal[n] and "floats" in plan[n]]):
        if len(names) > 1:
            yield {**plan, **{n: _put(plan[n], equal[n][:1], plain) for n in names}}
    for name, found in equal.items():
        for term in found:
            texts = [held, plain] if held and "floats" in plan[name] else [plain]
            yield from ({**plan, name: _put(plan[name], [term], text)} for text in texts)
        if len(found) > 1:  # both sides of an image
            yield {**plan, name: _put(plan[name], found, plain)}
    if any(equal.values()):
        return
    for name, pairs in sizes.items():
        sides = [term for term, _ in pairs if "image_" in term]
        old, new = math.isqrt(given), math.isqrt(wanted)
        if sides and given > 0 and old**2 == given and new**2 == wanted:  # patches of an image
            text = plan[name]
            for side in dict.fromkeys(sides):
                text = _put(text, [side], f"{side} * {new} // {old}")
            yield {**plan, name: text}
        for term, value in pairs:
            shared = isinstance(value, int) and value > 1 and given > 0 and value * wanted % given == 0
            if shared and "floats" in plan[name]:
                yield {**plan, name: _put(plan[name], [term], str(cast(int, value) * wanted // given))}
        # the width of one of several that are joined
        last, value = pairs[0] if pairs else ("", None)
        if "floats" in plan[name] and isinstance(value, int) and value + wanted - given > 1:
            yield {**plan, name: _put(plan[name], [last], str(value + wanted - given))}


def _put(text: str, found: list[str], other: str) -> str:
    """The expression with something else for the last occurrence of each size."""
    for term in found:
        before, _, after = text.rpartition(term)
        text = before + other + after
    return text


def pairs_of(error: BaseException) -> Iterator[Pair]:
    """Lengths given and wanted: those of the layer that raised, those that the message tells."""
    said = str(error)
    yield from _of_layers(error)
    for told in _MULTIPLE.finditer(said):
        given, step = int(told[1] or told[4]), int(told[2] or told[3])
        yield given, step * max(1, -(-given // step))
    for told in _REDUCED.finditer(said):
        yield int(told[1]), int(told[2])
    for told in _VIEW.finditer(said):
        shape, size = [int(one) for one in _NUMBER.findall(told[1])], int(told[2])
        if size and math.prod(shape) // size in shape:  # what is viewed has one where many are wanted
            yield math.prod(shape) // size, 1
    yield from _of_shapes(said)


def _of_layers(error: BaseException) -> Iterator[Pair]:
    """What a layer was given and what it takes, the innermost first."""
    walked = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    for frame in reversed(walked):
        owner = frame.f_locals.get("self")
        if not isinstance(owner, torch.nn.Module):
            continue
        given = [v for n, v in frame.f_locals.items() if isinstance(v, torch.Tensor) and n != "self"]
        for consumer in every_consumer(owner):
            if consumer.path or not given or consumer.spatial == -1:
                continue
            at = -1 if consumer.spatial is None else -1 - consumer.spatial
            if given[0].dim() >= abs(at) and given[0].shape[at] != consumer.width:
                yield given[0].shape[at], consumer.width
        if given:
            return


def _of_shapes(said: str) -> Iterator[Pair]:
    """Lengths at which the shapes or the numbers that a message tells differ, either for the other."""
    shapes = [[int(one) for one in _NUMBER.findall(told)] for told in _SHAPE.findall(said)]
    numbers = [int(one) for one in _NUMBER.findall(said)]
    pairs: list[Pair] = []
    for left, right in zip(shapes, shapes[1:], strict=False):
        ends = zip(reversed(left), reversed(right), strict=False)
        pairs += [(a, b) for a, b in ends if a != b and min(a, b) >= SMALLEST]
    if not pairs:
        distinct = [one for one in dict.fromkeys(numbers) if one >= SMALLEST]
        pairs = [(a, b) for i, a in enumerate(distinct) for b in distinct[i + 1 :]]
    yield from pairs
    yield from ((b, a) for a, b in pairs)


def _held(model: PreTrainedModel, error: BaseException, wanted: int) -> str:
    """The wanted length as that of a layer of a module that was running; nothing where none has it."""
    paths = {id(module): path for path, module in model.named_modules()}
    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
        path = paths.get(id(frame.f_locals.get("self")))
        if path is None:
            continue
        module = model.get_submodule(path)
        for consumer in every_consumer(module):
            if consumer.width == wanted:
                whole = ".".join(one for one in (path, consumer.path) if one)
                return f"of({whole!r}, {consumer.attribute!r})"
    return ""


def terms(text: str) -> list[str]:
    """The sizes of the tensors that an expression makes, the last first: widths come last."""
    found: list[str] = []
    for node in ast.walk(ast.parse(text, mode="eval")):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _MAKERS:
            sizes = node.args[_SHAPES_AT.get(node.func.id, 0) :]
            found += [cast(str, ast.get_source_segment(text, one)) for one in reversed(sizes)]
    return found


def _value(model: PreTrainedModel, term: str) -> object:
    """How long a size of an expression is."""
    held = held_by(model)
    return Reader(lambda name: field_size(name, hinted, model.config), held=held).read(term)
