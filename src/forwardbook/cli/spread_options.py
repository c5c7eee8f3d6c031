"""The options of commands that spread work: what a person typed in, jobs here or a cluster out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from forwardbook.pipeline.spread import Spread

Jobs = Annotated[int, typer.Option(min=1, help="Classes at once; each runs in a process of its own.")]
Cluster = Annotated[
    str,
    typer.Option(metavar="tcp://HOST:PORT", help="A Dask scheduler whose workers do the work instead."),
]


def spread_of(jobs: int, cluster: str) -> Spread:
    """Where work is done; wrong usage says what an address looks like."""
    from forwardbook.pipeline.spread import Spread

    if cluster and "://" not in cluster:
        raise typer.BadParameter(
            f"{cluster!r} is no address of a scheduler, such as tcp://127.0.0.1:8786",
            param_hint="'--cluster'",
        )
    return Spread(jobs, cluster)
