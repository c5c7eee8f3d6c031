"""Commands: arguments in, calls and printing out, one file per command group."""

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; an error of ours is a message on stderr and exit code 1, wrong usage 2, Ctrl-C 130."""
    from forwardbook.cli.app import build_app
    from forwardbook.errors import ForwardbookError

    try:
        build_app()(args=arguments, prog_name="forwardbook")
    except ForwardbookError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return 0


def analyze_module() -> int:
    """The script `analyze-module`, short for `forwardbook analyze-module`."""
    return main(["analyze-module", *sys.argv[1:]])


def analyze_model() -> int:
    """The script `analyze-model`, short for `forwardbook analyze-model`."""
    return main(["analyze-model", *sys.argv[1:]])


def explain_sources() -> int:
    """The script `explain`, short for `forwardbook explain`; `explain` here is the module of the command."""
    return main(["explain", *sys.argv[1:]])
