"""Regions in what models write, each notation by hand; what is no region is none."""

import random

import pytest

from forwardbook.inference.regions import regions_in

SIZE = (1998, 999)
WRITTEN = [
    (
        "<|ref|>a title<|/ref|><|det|>[[0, 100, 999, 200]]<|/det|>\n# A title",
        "",
        [("a title", ((0, 100), (1998, 200)))],
    ),
    (
        "<|ref|>x<|/ref|><|det|>[[0,0,9,9],[90,90,99,99]]<|/det|>",
        "",
        [("x", ((0, 0), (18, 9))), ("x", ((180, 90), (198, 99)))],
    ),
    ("<|ref|>x<|/ref|><|det|>[1,2,3,4]<|/det|>", "", [("x", ((2, 2), (6, 4)))]),
    ("car<loc_0><loc_0><loc_999><loc_999></s>", "", [("car", ((0, 0), (1998, 999)))]),
    (
        "car<loc_1><loc_2><loc_3><loc_4>wheel<loc_5><loc_6><loc_7><loc_8>",
        "",
        [("car", ((2, 2), (6, 4))), ("wheel", ((10, 6), (14, 8)))],
    ),
    (
        "</s><s>word<loc_0><loc_0><loc_9><loc_0><loc_9><loc_9><loc_0><loc_9>",
        "",
        [("word", ((0, 0), (18, 0), (18, 9), (0, 9)))],
    ),
    (
        '```json\n[{"bbox_2d": [0, 0, 500, 1000], "label": "cat"}]\n```',
        "qwen3_vl",
        [("cat", ((0, 0), (999, 999)))],
    ),
]
NONE = [
    "",
    "no boxes here [[1,2,3,4]]",
    "<|ref|>x<|/ref|><|det|>not json<|/det|>",
    "<|ref|>x<|/ref|><|det|>[[1,2,3]]<|/det|>",
    "<|ref|>x<|/ref|><|det|>[[5,5,1,1]]<|/det|>",
    "<|ref|>x<|/ref|><|det|>[[0,0,5000,10]]<|/det|>",
    '<|ref|>x<|/ref|><|det|>[["a",0,1,1]]<|/det|>',
    "<loc_1><loc_2><loc_3>",
    '{"bbox_2d": [0, 0, 500, 1000], "label": "cat"}',
]


@pytest.mark.parametrize(("text", "model_type", "expected"), WRITTEN)
def test_written(text: str, model_type: str, expected: list[object]) -> None:
    """Each notation gives labels and corners in pixels."""
    found = regions_in(text, SIZE, model_type)

    assert expected == [(one.label, one.points) for one in found]


def test_paligemma_has_rows_first() -> None:
    """PaliGemma writes upper, left, lower, right in 1024ths."""
    (one,) = regions_in("<loc0256><loc0000><loc0512><loc1023> cat ;", (1024, 1024))

    assert ("cat", ((0, 256), (1023, 512))) == (one.label, one.points)


@pytest.mark.parametrize("text", NONE)
def test_none(text: str) -> None:
    """Too few numbers, numbers beyond the image, or no notation at all are no region."""
    assert [] == regions_in(text, SIZE)


def test_arbitrary_text() -> None:
    """No text makes reading fail, and every region lies within the image."""
    parts = [
        "<|ref|>",
        "<|/ref|>",
        "<|det|>",
        "<|/det|>",
        "[[1,2,3,4]]",
        "[",
        "]",
        "<loc_7>",
        "<loc0009>",
        "a",
        "{",
    ]
    draw = random.Random(3)
    for _ in range(500):
        text = "".join(draw.choice(parts) for _ in range(draw.randrange(30)))
        for one in regions_in(text, SIZE, "qwen3_vl"):
            assert all(0 <= x <= SIZE[0] and 0 <= y <= SIZE[1] for x, y in one.points)
