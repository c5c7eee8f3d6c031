"""The command table: names of commands in, the typer application out."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Final

import typer

import forwardbook
from forwardbook.cli.examples import epilog
from forwardbook.cli.printing import put

COMMANDS: Final = {
    "init": "forwardbook.cli.init:init",
    "analyze-module": "forwardbook.cli.analyze:analyze_module",
    "analyze-model": "forwardbook.cli.model:analyze_model",
    "compare": "forwardbook.cli.model_more:compare",
    "advise": "forwardbook.cli.model_more:advise",
    "validate": "forwardbook.cli.analyze:validate",
    "reprove": "forwardbook.cli.reprove:reprove",
    "list": "forwardbook.cli.browse:list_entries",
    "show": "forwardbook.cli.browse:show",
    "check": "forwardbook.cli.check:check",
    "diff": "forwardbook.cli.check:diff",
    "regenerate": "forwardbook.cli.regenerate:regenerate",
    "evaluate": "forwardbook.cli.evaluate:evaluate",
    "static-share": "forwardbook.cli.static_share:static_share",
    "coverage": "forwardbook.cli.coverage:coverage",
    "schema": "forwardbook.cli.schema:schema",
    "explain": "forwardbook.cli.explain:explain",
    "verify": "forwardbook.cli.verify:verify",
    "score": "forwardbook.cli.verify:score",
}
"""Each command and its function. These modules import nothing slow: that is done inside the functions."""

GROUPS: Final = {
    "catalogue": "forwardbook.cli.catalogue:build_group",
    "profile": "forwardbook.cli.profile:build_group",
    "site": "forwardbook.cli.site:build_group",
}
"""Commands that have commands of their own, and what builds them."""


def build_app() -> typer.Typer:
    """The application with every command of the table."""
    app = typer.Typer(
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
        help="Exact, proved cost formulas for the forward() of PyTorch modules.",
    )
    app.callback()(_options)
    for name, place in COMMANDS.items():
        module, _, function = place.partition(":")
        app.command(name, epilog=epilog(name))(getattr(import_module(module), function))
    for name, place in GROUPS.items():
        module, _, function = place.partition(":")
        app.add_typer(getattr(import_module(module), function)(), name=name)
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        put(forwardbook.__version__)
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version, end."),
    ] = False,
) -> None:
    """Exact, proved cost formulas for the forward() of PyTorch modules."""
