"""An image and regions in; a copy with the regions drawn onto it out."""

from __future__ import annotations

import colorsys
from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING
from zlib import crc32

from forwardbook.inference.regions import Region

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

LONGEST = 40
"""Characters of a label that are drawn; all of it is in the predictions."""


def drawn(image: Image, regions: Sequence[Region]) -> Image:
    """A copy; the given image stays as it is."""
    from matplotlib import get_data_path
    from PIL import ImageDraw, ImageFont

    copy = image.convert("RGB").copy()
    pen = ImageDraw.Draw(copy)
    unit = max(1, round(max(copy.size) / 400))
    font = ImageFont.truetype(f"{get_data_path()}/fonts/ttf/DejaVuSans.ttf", max(10, 5 * unit))
    for region in regions:
        colour = colour_of(region.label)
        _outline(pen, region, colour, unit)
        _label(pen, region, colour, font)
    return copy


def colour_of(label: str) -> tuple[int, int, int]:
    """A strong colour, the same for the same label in every image."""
    hue = crc32(label.encode()) % 360 / 360
    red, green, blue = colorsys.hsv_to_rgb(hue, 0.9, 0.65)
    return round(red * 255), round(green * 255), round(blue * 255)


def as_png(image: Image) -> bytes:
    """The image as a file."""
    buffer = BytesIO()
    image.save(buffer, format="PNG")
    return buffer.getvalue()


def _outline(pen: ImageDraw, region: Region, colour: tuple[int, int, int], width: int) -> None:
    if len(region.points) == 2:
        (x1, y1), (x2, y2) = region.points
        pen.rectangle((x1, y1, max(x1, x2), max(y1, y2)), outline=colour, width=width)
    else:
        pen.polygon(region.points, outline=colour, width=width)


def _label(pen: ImageDraw, region: Region, colour: tuple[int, int, int], font: object) -> None:
    """Above the region, or within it at the upper edge of the image; white on its colour."""
    one_line = " ".join(region.label.split())
    cut = one_line if len(one_line) <= LONGEST else f"{one_line[: LONGEST - 1]}..."
    told = cut if region.score is None else f"{cut} {region.score:.2f}"
    if not told:
        return
    x, y = min(p[0] for p in region.points), min(p[1] for p in region.points)
    left, top, right, bottom = pen.textbbox((0, 0), told, font=font)  # type: ignore[arg-type]
    height = bottom - top + 2
    y = y - height if y >= height else y
    pen.rectangle((x, y, x + right - left + 2, y + height), fill=colour)
    pen.text((x + 1 - left, y + 1 - top), told, fill=(255, 255, 255), font=font)  # type: ignore[arg-type]
