"""Paths of images in; upright RGB images, and their pixels, out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from forwardbook.inference.samples import DatasetError

if TYPE_CHECKING:
    import torch
    from PIL.Image import Image


def load_image(path: Path) -> Image:
    """The image as a camera held it upright, in RGB.

    Raises:
        DatasetError: where it cannot be read, or is larger than Pillow takes for honest.
    """
    from PIL import Image, ImageOps

    try:
        with Image.open(path) as opened:
            return ImageOps.exif_transpose(opened).convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise DatasetError(f"reading {path}: {type(error).__name__}: {error}") from None


def plain_pixels(image: Image, shape: Sequence[int]) -> torch.Tensor:
    """Channels, height, width: scaled to that size, between -1 and 1."""
    import numpy as np
    import torch

    channels, height, width = shape
    values = np.asarray(image.resize((width, height)), dtype=np.float32) / 127.5 - 1
    pixels = torch.from_numpy(values).permute(2, 0, 1)
    return pixels if channels == 3 else pixels.mean(0, keepdim=True).expand(channels, -1, -1)
