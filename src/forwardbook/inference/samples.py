"""A section `dataset` in; the samples of its folder, and the order in which a run takes them, out."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from forwardbook.configuration.schema import Dataset, Sampling
from forwardbook.errors import ForwardbookError

SHOWN = 10


class DatasetError(ForwardbookError):
    """A dataset that cannot be read; the message lists its problems together."""


@dataclass(frozen=True)
class Sample:
    """A file of the dataset, or one line of it; `name` is its path from the root, with the line."""

    name: str
    path: Path
    text: str | None = None

    def read_text(self) -> str:
        """What it says.

        Raises:
            DatasetError: where the file is gone or no UTF-8.
        """
        if self.text is not None:
            return self.text
        try:
            return self.path.read_text(encoding="utf-8-sig")  # without the mark that editors put first
        except (OSError, UnicodeDecodeError) as error:
            raise DatasetError(f"reading {self.path}: {_told(error)}") from None


@dataclass(frozen=True)
class Turn:
    """A sample in the order of a run."""

    epoch: int
    index: int
    sample: Sample

    @property
    def key(self) -> str:
        """What tells it from every other turn of the run."""
        return f"{self.epoch}:{self.index}"


def samples_of(dataset: Dataset) -> list[Sample]:
    """Every sample, by name.

    Raises:
        DatasetError: for a folder that is not there or holds none, and files of the list that are missing.
    """
    if dataset.root is None:
        raise DatasetError("reading a dataset: no folder is named; give dataset.root=FOLDER")
    root = Path(dataset.root)
    if not root.is_dir():
        raise DatasetError(f"reading the dataset {root}: there is no such folder; give dataset.root=FOLDER")
    paths = _listed(root, dataset.subset_filelist) if dataset.subset_filelist else _found(root, dataset)
    whole = dataset.kind == "image"
    found = [one for path in paths for one in ([_file(root, path)] if whole else _texts(root, path, dataset))]
    if not found:
        raise DatasetError(f"reading the dataset {root}: its files hold no samples")
    return found


def turns(samples: list[Sample], sampling: Sampling) -> Iterator[Turn]:
    """Samples epoch by epoch: as they are, or shuffled anew in each epoch by the seed and its number."""
    for epoch in range(sampling.num_epochs):
        order = list(samples)
        if sampling.randomize:
            random.Random(f"{sampling.seed or 0}:{epoch}").shuffle(order)
        for index, sample in enumerate(order[: sampling.num_samples_per_epoch]):
            yield Turn(epoch, index, sample)


def _found(root: Path, dataset: Dataset) -> list[Path]:
    """Files that a pattern fits, in either case of its suffix; hidden ones are nobody's samples."""
    if not dataset.patterns:
        raise DatasetError(f"reading the dataset {root}: give dataset.patterns=[...] or subset_filelist")
    found: set[Path] = set()
    for pattern in dataset.patterns:
        stem, dot, suffix = pattern.rpartition(".")
        either = "".join(f"[{c.lower()}{c.upper()}]" if c.isalpha() else c for c in suffix)
        try:
            matches = list(root.glob(f"{stem}.{either}" if dot and "/" not in suffix else pattern))
        except (ValueError, NotImplementedError) as error:
            raise DatasetError(f"reading the dataset {root}: the pattern {pattern!r}: {error}") from None
        found.update(path for path in matches if path.is_file() and not _hidden(path.relative_to(root)))
    if not found:
        told = ", ".join(dataset.patterns)
        raise DatasetError(f"reading the dataset {root}: no file fits {told}; give dataset.patterns=[...]")
    return sorted(found, key=lambda path: path.relative_to(root).as_posix())


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _listed(root: Path, filelist: str) -> list[Path]:
    """The files of a list, in its order; the list lies here or below the root, its paths below the root."""
    place = next((path for path in (Path(filelist), root / filelist) if path.is_file()), None)
    if place is None:
        raise DatasetError(f"reading the subset {filelist}: there is no such file, here or in {root}")
    try:
        lines = [line.strip() for line in place.read_text(encoding="utf-8-sig").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"reading the subset {place}: {_told(error)}") from None
    names = [line for line in lines if line and not line.startswith("#")]
    missing = [name for name in names if not (root / name).is_file()]
    if missing:
        more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
        raise DatasetError(
            f"reading the subset {place}: {len(missing)} of {len(names)} files are not in {root}: "
            f"{', '.join(missing[:SHOWN])}{more}"
        )
    if not names:
        raise DatasetError(f"reading the subset {place}: it names no files")
    return [root / name for name in names]


def _file(root: Path, path: Path, line: int = 0, text: str | None = None) -> Sample:
    name = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()
    return Sample(f"{name}:{line}" if line else name, path, text)


def _texts(root: Path, path: Path, dataset: Dataset) -> Iterator[Sample]:
    """The samples of a text: the file, its lines, or the texts of its lines of JSON; empty ones are none."""
    lines = path.suffix.lower() == ".jsonl"
    whole = _file(root, path)
    if not lines and dataset.split == "file":
        if path.stat().st_size:
            yield whole
        return
    for number, line in enumerate(whole.read_text().split("\n"), 1):  # JSON may hold other ends of lines
        if line.strip():
            yield _file(root, path, number, _json_text(path, number, line, dataset.field) if lines else line)


def _json_text(path: Path, number: int, line: str, field: str) -> str:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise DatasetError(f"reading {path}, line {number}: no JSON: {error}") from None
    if not isinstance(value, dict) or not isinstance(value.get(field), str):
        names = ", ".join(value) if isinstance(value, dict) else type(value).__name__
        raise DatasetError(
            f"reading {path}, line {number}: no text {field!r} among {names}; give dataset.field=NAME"
        )
    found: str = value[field]
    return found


def _told(error: OSError | UnicodeDecodeError) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else f"no UTF-8: {error.reason}"
