"""`forwardbook profile`: the table of its commands; names in, the typer group out."""

from __future__ import annotations

from importlib import import_module
from typing import Final

import typer

COMMANDS: Final = {
    "run": "forwardbook.cli.profile_run:run",
    "check": "forwardbook.cli.profile_reports:check",
    "kernels": "forwardbook.cli.profile_reports:kernels",
    "analyze": "forwardbook.cli.profile_reports:analyze",
    "nsys": "forwardbook.cli.profile_tools:nsys",
    "ncu": "forwardbook.cli.profile_tools:ncu",
    "hardware": "forwardbook.cli.profile_machine:hardware",
    "infer": "forwardbook.cli.profile_infer:infer",
    "bootstrap": "forwardbook.cli.profile_bootstrap:bootstrap",
}
"""Each command and its function. These modules import nothing slow: that is done inside the functions."""


def build_group() -> typer.Typer:
    """The group with every command of the table."""
    group = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode="markdown",
        help="Measure models, read reports of profilers, hold formulas against what ran.",
    )
    for name, place in COMMANDS.items():
        module, _, function = place.partition(":")
        group.command(name)(getattr(import_module(module), function))
    return group
