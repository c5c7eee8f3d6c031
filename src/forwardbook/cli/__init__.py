"""Commands: arguments in, calls and printing out, one file per command group."""

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; what goes wrong is a message on stderr and one of the codes of `exit_codes`."""
    from forwardbook.cli.app import build_app
    from forwardbook.cli.ends import ended, misspelt
    from forwardbook.cli.exit_codes import USAGE

    given = sys.argv[1:] if arguments is None else list(arguments)
    if misspelt(given):
        return USAGE
    return ended(lambda: build_app()(args=given, prog_name="forwardbook"))


def analyze_module() -> int:
    """The script `analyze-module`, short for `forwardbook analyze-module`."""
    return main(["analyze-module", *sys.argv[1:]])


def analyze_model() -> int:
    """The script `analyze-model`, short for `forwardbook analyze-model`."""
    return main(["analyze-model", *sys.argv[1:]])


def explain_sources() -> int:
    """The script `explain`, short for `forwardbook explain`; `explain` here is the module of the command."""
    return main(["explain", *sys.argv[1:]])
