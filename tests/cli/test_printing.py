"""What commands print: text of others is shown, not obeyed; messages are short; each end has its code."""

import io
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.table import Table
from rich.text import Text

from forwardbook.cli.console import EscapingConsole
from forwardbook.cli.ends import ended
from forwardbook.cli.printing import LONGEST, say
from forwardbook.errors import ForwardbookError
from forwardbook.printable import printable

from .conftest import COMMAND

CLI = Path(__file__).resolve().parents[2] / "src/forwardbook/cli"
HOSTILE = "\x1b]8;;http://127.0.0.1\x1b\\link\x1b]8;;\x1b\\ \x1b[2J\x9b31m\r\b\x07\u202eabc\u2069\ufeff"
STYLES = re.compile(r"\x1b\[[0-9;]*m")
Command = Callable[..., tuple[int, str, str]]


def test_what_a_terminal_obeys_is_spelled_out_and_json_reads_the_same() -> None:
    """No control character is left, and a JSON text is of the same value as before."""
    shown = printable(HOSTILE)

    assert shown.isprintable()
    assert HOSTILE == json.loads(printable(json.dumps(HOSTILE, ensure_ascii=False)))
    assert "line\n\tnext é {a} 😀" == printable("line\n\tnext é {a} 😀")


def test_console_writes_its_own_styles_and_nothing_of_the_text() -> None:
    """On a terminal, in a table, a styled text and a title; markup of rich is text too."""
    page = io.StringIO()
    console = EscapingConsole(file=page, force_terminal=True, markup=False, emoji=False, highlight=False)
    table = Table(title=HOSTILE)
    table.add_column(f"[link=http://127.0.0.1]{HOSTILE}")
    table.add_row(HOSTILE, style="bold")
    for one in (HOSTILE, Text(HOSTILE, style="red"), table, "[/]"):
        console.print(one)

    assert STYLES.sub("", page.getvalue()).replace("\n", "").isprintable()
    assert "\x1b[31m" in page.getvalue()


def test_long_message_has_its_beginning_and_end_and_the_whole_is_in_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A message has at most 2,000 characters."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "module_db.json").write_text('{"schema_version": 2, "entries": {}}')
    say("begin" + "x" * 100_000 + "what to do")
    told = capsys.readouterr().err

    assert LONGEST + 1 >= len(told)
    assert told.startswith("begin") and told.endswith("what to do\n") and "messages.txt" in told
    assert 100_015 == len((tmp_path / "diagnostics/messages.txt").read_text().rstrip("\n"))


def raising(error: BaseException) -> Callable[[], object]:
    def call() -> object:
        raise error

    return call


class Mute(Exception):
    def __str__(self) -> str:
        raise ValueError


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ForwardbookError("no"), 1),
        (OSError(5, "no", "file"), 1),
        (BrokenPipeError(), 1),
        (KeyboardInterrupt(), 130),
        (TypeError("ours"), 70),
        (RecursionError(), 70),
        (Mute(), 70),
    ],
    ids=lambda one: type(one).__name__ if isinstance(one, BaseException) else None,
)
def test_each_kind_of_end_has_its_code_and_no_traceback(
    error: BaseException,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A fault of ours has its traceback in a file."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("forwardbook.cli.ends._drop_output", lambda: None)

    assert code == ended(raising(error))
    assert "Traceback" not in capsys.readouterr().err
    assert (code == 70) == (tmp_path / "diagnostics/traceback.txt").exists()


@pytest.mark.parametrize("typed", ["\x1b[31mx", "a\rb", "a\u202eb", "a\udcff"])
def test_argument_that_a_terminal_obeys_is_wrong_usage(command: Command, typed: str) -> None:
    """It is told with the character spelled out."""
    code, out, err = command("show", typed)

    assert (2, "", True) == (code, out, "control characters" in err)
    assert err.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    "sizes",
    [("seq_len=1", "seq_len=2"), ("seq_len=1", "{seq_len}=2"), ("seq_len=٣",), ("seq_len=" + "9" * 4000,)],
    ids=["twice", "twice, once in braces", "other digits", "4,000 digits"],
)
def test_size_is_given_once_in_ascii_digits(command: Command, sizes: tuple[str, ...]) -> None:
    """Any other is wrong usage."""
    code, out, err = command("evaluate", "Linear", *sizes)

    assert (2, "", False) == (code, out, "Traceback" in err)


@pytest.mark.parametrize("closing", ["1>&-", ">/dev/full"])
def test_output_that_cannot_be_written_is_told(
    folder: Path, environment: dict[str, str], closing: str
) -> None:
    """Standard output that is closed, or a full disk: a message and exit code 1."""
    done = subprocess.run(
        ["bash", "-c", f'"$@" {closing}', "x", *COMMAND, "--version"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (1, True) == (done.returncode, done.stderr.startswith("error: "))
    assert "Traceback" not in done.stderr


def test_commands_print_in_one_place_alone() -> None:
    """No module of a command has a print or a console of its own."""
    own = {"printing.py", "console.py", "terminal.py"}
    found = [
        f"{path.name}: {line.strip()}"
        for path in CLI.glob("*.py")
        if path.name not in own
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"(?<![\w.])(print|Console)\(|sys\.std(out|err)\.write|typer\.echo", line)
    ]

    assert [] == found
