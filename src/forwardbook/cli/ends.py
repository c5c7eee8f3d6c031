"""How a command ends: a call in, its exit code out, and a message in place of any traceback."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Sequence

from forwardbook.cli.exit_codes import FAULT, INTERRUPTED, REFUSED
from forwardbook.cli.printing import printed_folder, say
from forwardbook.errors import ForwardbookError, in_full, message_of
from forwardbook.printable import is_printable, printable

_LONGEST = 1_000_000  # characters of a message; what is shown of it is shorter


def misspelt(arguments: Sequence[str]) -> bool:
    """Whether an argument holds what a terminal would obey, or bytes that are no text; it is told."""
    odd = next((one for one in arguments if not is_printable(one)), None)
    if odd is not None:
        say(f'error: the argument "{printable(odd)[:200]}" holds control characters; give it without them')
    return odd is not None


def ended(command: Callable[[], object]) -> int:
    """The exit code of a command, whatever it raises.

    Raises:
        SystemExit: where the command ended so, which it does when it is done.
    """
    closed, stop = _open_streams(), None
    try:
        try:
            code = _ended(command)
        except SystemExit as raised:
            stop, code = raised, 0
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:  # who read it has gone
        _drop_output()
        return REFUSED
    except OSError as error:  # of the last flush: a full disk
        _drop_output()
        say(f"error: printing the result: {error.strerror or error}")
        return REFUSED
    if closed and code == 0 and (stop is None or not stop.code):
        say("error: standard output is closed: what was to be printed there is lost")
        return REFUSED
    if stop is not None:
        raise stop
    return code


def _ended(command: Callable[[], object]) -> int:
    try:
        command()
    except ForwardbookError as error:
        say(f"error: {in_full(error, _LONGEST)}")
        return REFUSED
    except KeyboardInterrupt:
        say("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except OSError as error:
        where = f"{error.filename}: " if error.filename is not None else ""
        say(f"error: {where}{error.strerror or error}")
        return REFUSED
    except Exception as error:
        return _fault(error)
    return 0


def _fault(error: Exception) -> int:
    """Tell a fault of ours in a line; its traceback goes into a file."""
    from forwardbook.workspace.folder import Workspace

    trace = printable("".join(traceback.format_exception(error)))
    try:
        path = printed_folder(Workspace.find().root) / "traceback.txt"
        path.write_text(trace, encoding="utf-8")
        where = f"with {path}"
    except OSError:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"with this line: {os.path.basename(place.filename)}:{place.lineno} in {place.name}"
    say(
        f"error: {type(error).__name__}: {message_of(error, 500)}\n"
        f"  this is a fault of forwardbook, not of what you gave it; please report it {where}"
    )
    return FAULT


def _open_streams() -> bool:
    """Let no file of ours take the place of a closed standard stream; whether the output was closed."""
    closed = sys.stdout is None
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - as long as we run
    return closed


def _drop_output() -> None:
    """Print nothing more, also where Python flushes at its end."""
    try:
        number = sys.stdout.fileno()
    except (OSError, ValueError):
        return
    os.dup2(os.open(os.devnull, os.O_WRONLY), number)
