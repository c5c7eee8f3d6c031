"""A folder in; whether it is a dataset of texts or of images out."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from forwardbook.inference.samples import DatasetError

IMAGES: Final = (".png", ".jpg", ".jpeg", ".webp", ".bmp")
TEXTS: Final = (".txt", ".md", ".jsonl")


def kind_of(root: Path) -> Literal["text", "image"]:
    """The kind of its files.

    Raises:
        DatasetError: for a folder that is not there, holds neither, or both.
    """
    if not root.is_dir():
        raise DatasetError(f"reading the dataset {root}: there is no such folder")
    suffixes = {path.suffix.lower() for path in root.rglob("*") if path.is_file()}
    images, texts = suffixes & set(IMAGES), suffixes & set(TEXTS)
    if images and texts:
        raise DatasetError(
            f"reading the dataset {root}: it holds images and texts; give --kind image or text"
        )
    if not images and not texts:
        known = ", ".join((*IMAGES, *TEXTS))
        raise DatasetError(f"reading the dataset {root}: no file ends in one of {known}")
    return "image" if images else "text"
