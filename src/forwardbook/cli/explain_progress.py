"""The progress of explaining: what is being done and how far out of how many in, a bar on a terminal out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forwardbook.pipeline.explain.run import Told


@contextmanager
def progress() -> Iterator[Told]:
    """A function that takes what is going on; it draws on standard error, and only if that is a terminal."""
    import sys

    if not sys.stderr.isatty():
        yield lambda doing, done, total: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    from forwardbook.cli.terminal import console

    with Progress(*columns, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=None)

        def told(doing: str, done: int, total: int) -> None:
            bar.update(task, description=doing, completed=done, total=total or None)

        yield told
