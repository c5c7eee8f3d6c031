"""What a model wrote about an image in; the boxes and text regions in it, in pixels, out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Region:
    """Corners in pixels from the upper left, two of a box or all of a polygon, and what is there."""

    label: str
    points: Points
    score: float | None = None


GROUNDED: Final = re.compile(
    r"<\|ref\|>(?P<label>.*?)<\|/ref\|>\s*<\|det\|>(?P<boxes>.*?)<\|/det\|>", re.DOTALL
)
LOCATED: Final = re.compile(r"((?:<loc\d{4}>){4})\s*([^<;]*)")
BINNED: Final = re.compile(r"([^<>]*)((?:<loc_\d{1,3}>){4,})")
JSON_BOX: Final = re.compile(r"\{[^{}]*\"bbox_2d\"[^{}]*\}")


def regions_in(text: str, size: tuple[int, int], model_type: str = "") -> list[Region]:
    """Every region that the text writes in a notation that is known; `size` is width and height.

    What is no box (too few numbers, beyond the image) is left out.
    """
    found: list[Region] = []
    for notation in NOTATIONS:
        found += notation(text, size, model_type)
    return found


def _grounded(text: str, size: tuple[int, int], model_type: str) -> Iterator[Region]:
    """DeepSeek-OCR: a reference, then one or more boxes in thousandths (0 to 999) of the image."""
    for match in GROUNDED.finditer(text):
        try:
            boxes = json.loads(match["boxes"])
        except ValueError:
            continue
        if isinstance(boxes, list) and boxes and not isinstance(boxes[0], list):
            boxes = [boxes]
        for box in boxes if isinstance(boxes, list) else []:
            yield from _box(match["label"].strip(), box, size, 999)


def _located(text: str, size: tuple[int, int], model_type: str) -> Iterator[Region]:
    """PaliGemma: `<loc0001>` four times, as upper, left, lower, right in 1024ths, then the label."""
    for match in LOCATED.finditer(text):
        y1, x1, y2, x2 = (int(one) for one in re.findall(r"\d{4}", match[1]))
        yield from _box(match[2].strip(), [x1, y1, x2, y2], size, 1024)


def _binned(text: str, size: tuple[int, int], model_type: str) -> Iterator[Region]:
    """Florence-2: a label, then boxes of four or quadrilaterals of eight `<loc_1>`, in thousandths."""
    for match in BINNED.finditer(text):
        label = re.sub(r"^\s*(?:/?s|pad)?\s*", "", match[1]).strip()
        numbers = [int(one) for one in re.findall(r"\d+", match[2])]
        each = 8 if len(numbers) == 8 else 4
        for start in range(0, len(numbers) - each + 1, each):
            part = numbers[start : start + each]
            if each == 4:
                yield from _box(label, part, size, 999)
            else:
                pairs = zip(part[::2], part[1::2], strict=True)
                yield Region(label, tuple((x * size[0] / 999, y * size[1] / 999) for x, y in pairs))


def _json_boxes(text: str, size: tuple[int, int], model_type: str) -> Iterator[Region]:
    """Qwen3-VL: JSON with `bbox_2d` in thousandths; older ones write pixels of their own scaling."""
    if not model_type.startswith("qwen3_vl"):
        return
    for match in JSON_BOX.finditer(text):
        try:
            value = json.loads(match[0])
        except ValueError:
            continue
        label = value.get("text_content") or value.get("label") or ""
        yield from _box(str(label), value["bbox_2d"], size, 1000)


def _box(label: str, box: object, size: tuple[int, int], parts: int) -> Iterator[Region]:
    if not isinstance(box, Sequence) or isinstance(box, str) or len(box) != 4:
        return
    if not all(isinstance(one, (int, float)) and 0 <= one <= parts for one in box):
        return
    x1, y1, x2, y2 = box
    if x1 <= x2 and y1 <= y2:
        (w, h) = size
        yield Region(label, ((x1 * w / parts, y1 * h / parts), (x2 * w / parts, y2 * h / parts)))


NOTATIONS: Final[tuple[Callable[[str, tuple[int, int], str], Iterator[Region]], ...]] = (
    _grounded,
    _located,
    _binned,
    _json_boxes,
)
