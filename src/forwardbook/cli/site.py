"""`forwardbook site build|serve|prepare`: a workspace in, its pages and the built site out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forwardbook.cli.exit_codes import INCOMPLETE
from forwardbook.cli.printing import put, say

if TYPE_CHECKING:
    from forwardbook.pipeline.site.book import Prepared

ConfigFile = Annotated[
    Path | None,
    typer.Option("--config", "-f", metavar="FILE", help="The site's mkdocs.yml; by default the workspace's."),
]


def build_group() -> typer.Typer:
    """The group with its commands."""
    group = typer.Typer(
        no_args_is_help=True, help="The book as a site: pages of every class and model, offline."
    )
    for function in (build, serve, prepare):
        group.command()(function)
    return group


def build(
    config: ConfigFile = None,
    clean: Annotated[bool, typer.Option("--clean", help="Build every page anew.")] = False,
    strict: Annotated[bool, typer.Option(help="Fail on links that lead nowhere and pages left out.")] = True,
) -> None:
    """Bring docs/book up to date and build the site; pages that did not change are not built again.

    Exit code 3 where all is built but a page of explained code does not hold; the page says so too.
    """
    from forwardbook.cli.site_run import build_site

    outcome = build_site(config, clean=clean, strict=strict)
    put(
        f"{_told(outcome.prepared)}; {outcome.built} pages built in {outcome.seconds:.1f} s: {outcome.site}"
    )
    _tell_doubtful(outcome.prepared, outcome.remarks)


def serve(
    config: ConfigFile = None,
    address: Annotated[str, typer.Option(help="Where to listen.", metavar="HOST:PORT")] = "127.0.0.1:8000",
) -> None:
    """Build the site and serve it on this machine, anew whenever something changes."""
    from forwardbook.cli.site_run import serve_site

    serve_site(config, address)


def prepare(config: ConfigFile = None) -> None:
    """Bring docs/book up to date and build nothing, for another tool that builds the same pages.

    Exit code 3 where a page of explained code does not hold.
    """
    from forwardbook.cli.site_run import prepare_site

    prepared = prepare_site(config)
    put(_told(prepared))
    _tell_doubtful(prepared, ())


def _tell_doubtful(prepared: Prepared, remarks: tuple[str, ...]) -> None:
    """Name the pages that others wrote and that do not hold, and end with their exit code."""
    for page, lines in prepared.doubtful.items():
        say(f"{page}: {len(lines)} claims do not hold; the page is marked")
        for line in lines:
            say(f"  {line}")
    for remark in remarks:
        say(remark)
    if prepared.doubtful or remarks:
        say("all other pages are as they should be; `forwardbook explain` mends these")
        raise typer.Exit(INCOMPLETE)


def _told(prepared: Prepared) -> str:
    changed, gone = len(prepared.written), len(prepared.removed)
    removed = f", {gone} removed" if gone else ""
    return f"{prepared.folder}: {changed} of {prepared.total} files written{removed}"
