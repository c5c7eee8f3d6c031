"""Bad input: for each a message that says what and where, an exit code, nothing stored, no traceback."""

import json
import subprocess
import textwrap
from pathlib import Path

import pytest

from .conftest import GATED, Program

PLAIN = "from torch import nn\nclass Bad(nn.Module):\n    def forward(self, x): return x"
X = ("--input", "x=batch_size,width:float32")


@pytest.fixture
def refused(program: Program, folder: Path) -> Program:
    """Runs the program, which must fail with exit code 1, print nothing, store nothing, show no traceback."""

    def run(*arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
        result = program(*arguments, **variables)
        assert (1, "") == (result.returncode, result.stdout), result.stderr
        assert result.stderr.startswith("error: ")
        assert "Traceback" not in result.stderr
        assert is_untouched(folder)
        return result

    return run


def is_untouched(folder: Path) -> bool:
    """Whether nothing was stored, no calculator written, nothing left half done."""
    left = {path.name for path in folder.iterdir() if not path.name.endswith(".lock")}
    return left <= {"layers.py", "bad.py", "config.json", "started", "diagnostics"}


def write(folder: Path, body: str, init: str = "") -> None:
    """A class Bad whose forward(x) and __init__() have these bodies."""
    lines = textwrap.indent(textwrap.dedent(body).strip(), " " * 8)
    code = f"""\
import os, time
import torch


class Bad(torch.nn.Module):
    def __init__(self, width: int = 8):
        super().__init__()
        self.width = width
        {init or "pass"}

    def forward(self, x):
{lines}
"""
    (folder / "bad.py").write_text(code)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("LlamaAttentio", ("looking for LlamaAttentio", "LlamaAttention")),
        ("torch.nn.Linea", ("defines no class Linea", "Linear")),
        ("layers.py:Gate", ("layers.py defines no class Gate", "Gated")),
        ("nowhere.py:Gated", ("there is no file", "nowhere.py")),
        ("no_such_package.Gated", ("no_such_package",)),
    ],
)
def test_class_not_found(refused: Program, name: str, words: tuple[str, ...]) -> None:
    """A name that means no class is answered with the names near it."""
    result = refused("analyze-module", name)

    assert [word for word in words if word not in result.stderr] == []


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("class Bad: ...", ("bad.Bad (bad.py:1)", "it is no torch.nn.Module (its bases: none)")),
        (
            "from torch import nn\nclass Bad(nn.Module):\n    def other(self): ...",
            ("bad.Bad (bad.py:2)", "it is abstract", "defines forward()"),
        ),
        (
            "from torch import nn\nclass Bad(nn.Module):\n"
            "    def forward(self, x):\n        raise NotImplementedError",
            ("it is abstract", "line 4", "raise NotImplementedError"),
        ),
        (
            "from torch import nn\nclass Bad(nn.Module):\n    def forward(self, x:\n        return x",
            ("bad.py", "syntax error at line 4"),
        ),
        (
            f"import no_such_module\n{PLAIN}",
            ("importing the module of bad.Bad", "No module named 'no_such_module'", "bad.py:1", "install"),
        ),
        (
            f"1 / 0\n{PLAIN}",
            ("importing the module of bad.Bad: ZeroDivisionError", "bad.py:1"),
        ),
        (
            f"import os\nos._exit(7)\n{PLAIN}",
            ("analysing bad.Bad: its process ended with exit code 7",),
        ),
    ],
)
def test_class_that_cannot_be_analysed(
    refused: Program, folder: Path, code: str, words: tuple[str, ...]
) -> None:
    """A class that is no Module, abstract, not importable or no Python is answered with why and where."""
    (folder / "bad.py").write_text(code)
    result = refused("analyze-module", "bad.py:Bad", *X)

    assert [word for word in words if word not in result.stderr] == []


def test_constructor_arguments_unknown(refused: Program) -> None:
    """A constructor that needs what nobody gave: which, and how to give it."""
    result = refused("analyze-module", "layers.py:Gated", *GATED[3:])

    assert "no value for width" in result.stderr
    assert "its constructor needs: width: int" in result.stderr
    assert "--init width=64" in result.stderr
    assert "--config" not in result.stderr  # `width: int` is no field of a config


def test_constructor_argument_that_does_not_exist(refused: Program) -> None:
    """A constructor argument that was given and is none is named."""
    result = refused("analyze-module", *GATED, "--init", "depth=2")

    assert "its constructor has no argument depth" in result.stderr


def test_inputs_unknown(refused: Program) -> None:
    """A forward() that needs what nobody gave: which, and how to give it."""
    result = refused("analyze-module", *GATED[:3])

    assert "no value for the input x" in result.stderr
    assert "--input x=batch_size,seq_len,width" in result.stderr


def test_config_that_is_no_json(refused: Program, folder: Path) -> None:
    """A config file that cannot be read is named, with what was expected."""
    (folder / "config.json").write_text("[1, 2")
    assert (
        "config.json: it is not JSON" in refused("analyze-module", *GATED, "--config", "config.json").stderr
    )

    (folder / "config.json").write_text("[1, 2]")
    assert "an object of config fields" in refused("analyze-module", *GATED, "--config", "config.json").stderr


def test_code_that_raises(refused: Program, folder: Path) -> None:
    """What the constructor or forward() raises is told with class, message, file and line."""
    write(folder, "return x.no_such_attribute")
    in_forward = refused("analyze-module", "bad.py:Bad", *X).stderr
    write(folder, "return x", init="raise ValueError('width must be odd')")
    in_init = refused("analyze-module", "bad.py:Bad", *X).stderr

    assert "running forward() of bad.Bad: AttributeError" in in_forward
    assert "bad.py:12 in forward: return x.no_such_attribute" in in_forward
    assert "building bad.Bad: ValueError: width must be odd" in in_init
    assert "bad.py:9 in __init__" in in_init


def test_code_that_hangs(refused: Program, folder: Path) -> None:
    """A forward() without end is ended in time; the line at which it was is told."""
    write(folder, "while True:\n    time.sleep(0.01)")
    result = refused("analyze-module", "bad.py:Bad", *X, "--timeout", "15")

    assert "it was not done after 15 s" in result.stderr
    assert "bad.py:13 in forward" in result.stderr
    assert "--timeout" in result.stderr


def test_code_that_allocates_without_end(refused: Program, folder: Path) -> None:
    """A forward() that takes all memory it can get is stopped at the limit."""
    write(folder, "held = []\nwhile True: held.append(bytearray(10**8))")
    result = refused("analyze-module", "bad.py:Bad", *X, "--memory", "1")

    assert "it needs more memory than 1 GB (--memory) allows" in result.stderr
    assert "bad.py:13 in forward" in result.stderr


def test_code_that_forks(refused: Program, folder: Path) -> None:
    """A forward() that copies its process is refused, and says so."""
    write(folder, "os.fork()\nreturn x")
    result = refused("analyze-module", "bad.py:Bad", *X)

    assert "it tried to fork its process" in result.stderr
    assert "bad.py:12 in forward" in result.stderr


def test_code_that_prints(program: Program, refused: Program, folder: Path) -> None:
    """What the code prints stays out of our output, and its last lines are quoted when it then fails."""
    write(folder, "print('step', flush=True)\nos.write(1, b'raw step')\nreturn x + 1")
    fine = program("analyze-module", "bad.py:Bad", *X, "--json")
    for name in ("module_db.json", "generated_modules/bad_bad.py"):
        (folder / name).unlink()
    (folder / "generated_modules").rmdir()
    write(folder, "print('step', flush=True)\nraise ValueError('no')")
    failing = refused("analyze-module", "bad.py:Bad", *X)

    assert "bad.Bad" == json.loads(fine.stdout)["full_class_name"]
    assert "step" not in fine.stdout.replace("print('step'", "") + fine.stderr
    assert "the last that its code printed:\n  | step" in failing.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("--derive", "magic"),
        ("--init", "width"),
        ("--input", "=3"),
        ("--timeout", "soon"),
        ("--no-such-option",),
    ],
)
def test_wrong_usage(program: Program, folder: Path, arguments: tuple[str, ...]) -> None:
    """Options that cannot be understood end with exit code 2 and say what was expected."""
    result = program("analyze-module", "layers.py:Gated", *arguments)

    assert (2, "") == (result.returncode, result.stdout)
    assert arguments[0].lstrip("-") in result.stderr
    assert "Traceback" not in result.stderr
    assert is_untouched(folder)


def test_limits_that_make_no_sense(refused: Program) -> None:
    """A limit of nothing, or one in the environment that is no number, is an error that says so."""
    assert "both must be above 0" in refused("analyze-module", *GATED, "--timeout", "0").stderr
    result = refused("analyze-module", *GATED, FORWARDBOOK_MEMORY_GB="much")
    assert "FORWARDBOOK_MEMORY_GB='much'" in result.stderr
