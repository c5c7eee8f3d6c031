"""Regions drawn onto copies of images."""

import random
from pathlib import Path

import pytest
from PIL import Image

from forwardbook.inference.drawing import as_png, colour_of, drawn
from forwardbook.inference.images import load_image, plain_pixels
from forwardbook.inference.regions import Region
from forwardbook.inference.samples import DatasetError


def test_outline_and_nothing_else() -> None:
    """The outline has the label's colour, the inside stays, and so does the given image."""
    image = Image.new("RGB", (100, 80), (255, 255, 255))
    copy = drawn(image, [Region("cat", ((10, 40), (90, 70)))])

    assert colour_of("cat") == copy.getpixel((10, 55)) == copy.getpixel((90, 55))
    assert (255, 255, 255) == copy.getpixel((50, 60)) == image.getpixel((10, 55))


def test_polygon_and_label() -> None:
    """A polygon is drawn along its corners; a score stands beside the label."""
    image = Image.new("RGB", (100, 80))
    corners = ((10.0, 30.0), (90.0, 30.0), (90.0, 70.0), (10.0, 70.0))

    assert colour_of("ä") == drawn(image, [Region("ä", corners, 0.5)]).getpixel((50, 70))


def test_arbitrary_regions() -> None:
    """Any region within or beyond an image of any size is drawn without an error."""
    draw = random.Random(1)
    for _ in range(40):
        size = draw.randrange(1, 300), draw.randrange(1, 300)
        points = tuple((draw.uniform(-9, 310), draw.uniform(-9, 310)) for _ in range(draw.choice([2, 3, 4])))
        label = draw.choice(["", "a\nb", "x" * 99, "\u4e2d\u6587", "é\x00"])
        ordered = tuple(sorted(points)) if len(points) == 2 else points
        assert size == drawn(Image.new("RGB", size), [Region(label, ordered, draw.random())]).size


def test_upright(tmp_path: Path) -> None:
    """An image that a camera held sideways is read upright, so that regions fit what is drawn onto."""
    sideways = Image.new("RGB", (20, 10))
    exif = sideways.getexif()
    exif[0x0112] = 6
    sideways.save(tmp_path / "x.jpg", exif=exif)

    assert (10, 20) == load_image(tmp_path / "x.jpg").size


@pytest.mark.parametrize("content", [b"", b"no image", as_png(Image.new("RGB", (9, 9)))[:40]])
def test_no_image(content: bytes, tmp_path: Path) -> None:
    """What is no image, or half of one, is an error of ours that names it."""
    (tmp_path / "x.png").write_bytes(content)

    with pytest.raises(DatasetError, match="x.png"):
        load_image(tmp_path / "x.png")


def test_plain_pixels() -> None:
    """Without a processor pixels lie between -1 and 1 in the shape of the model."""
    pixels = plain_pixels(Image.new("RGB", (9, 5), (255, 0, 127)), (3, 4, 6))

    assert (3, 4, 6) == tuple(pixels.shape)
    assert (1.0, -1.0) == (float(pixels[0].min()), float(pixels[1].max()))
    assert (1, 4, 6) == tuple(plain_pixels(Image.new("RGB", (9, 5)), (1, 4, 6)).shape)
