"""Generated files: checksummed, never overwritten once edited, clean by ruff and mypy."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from forwardbook.errors import ForwardbookError
from forwardbook.generate import (
    EditedFileError,
    RenderError,
    is_unedited,
    outdated,
    render,
    with_generated_names,
    would_change,
    write,
)
from forwardbook.generate.naming import python_names, regime_class_names
from forwardbook.schema import Entry, Rewritten

ROOT = Path(__file__).resolve().parents[2]


def test_file_is_written_once(tmp_path: Path, entry: Entry) -> None:
    """Writing changes the file the first time and finds nothing to do the second."""
    assert would_change(entry, tmp_path)
    assert write(entry, tmp_path)
    assert not would_change(entry, tmp_path)
    assert not write(entry, tmp_path)
    assert "toy_toy_attention.py" == entry.generated_file_name
    assert is_unedited((tmp_path / entry.generated_file_name).read_text())


def test_edited_file_is_refused(tmp_path: Path, entry: Entry) -> None:
    """A file whose checksum does not match is kept, unless forced."""
    write(entry, tmp_path)
    path = tmp_path / entry.generated_file_name
    edited = path.read_text().replace("2 * batch_size", "3 * batch_size")
    path.write_text(edited)

    with pytest.raises(EditedFileError, match="edited by hand .* --force"):
        write(entry, tmp_path)
    assert edited == path.read_text()
    assert write(entry, tmp_path, force=True)
    assert not would_change(entry, tmp_path)


def test_formula_written_anew_is_the_formula(entry: Entry) -> None:
    """What a database gives for a formula is rendered only where both are one polynomial."""
    formula = entry.regimes[0].formula("flops")

    def rendered(anew: str) -> str:
        made = Rewritten(model="m", prompt_version="1", formulas={formula: anew})
        return render(entry.model_copy(update={"rewritten": made}))

    assert "1 * (" in rendered(f"1 * ({formula})")
    for other in (f"{formula} + 1", f"{formula} + {{batch_size}} // 123456789", "{evil}", "import os", "0"):
        with pytest.raises(RenderError, match="written anew for .* is not equal to it"):
            rendered(other)


def test_older_generated_file_is_replaced(
    tmp_path: Path, entry: Entry, make_entry: Callable[..., Entry]
) -> None:
    """A file that nobody edited is replaced when its entry changed."""
    write(make_entry(regimes=entry.regimes[:1]), tmp_path)

    assert [tmp_path / entry.generated_file_name] == outdated([entry], tmp_path)
    assert write(entry, tmp_path)
    assert [] == outdated([entry], tmp_path)


def test_entry_without_formulas_is_refused(make_entry: Callable[..., Entry]) -> None:
    """There is no calculator without formulas."""
    with pytest.raises(ForwardbookError, match="toy.layers.ToyAttention: it has no formulas"):
        render(make_entry(regimes=()))


def test_rendered_code_is_clean(tmp_path: Path, entry: Entry) -> None:
    """The rendered file passes ruff and mypy strict with the project's own settings."""
    write(entry, tmp_path)
    path = str(tmp_path / entry.generated_file_name)
    settings = str(ROOT / "pyproject.toml")
    ruff = [sys.executable, "-m", "ruff", "check", "--no-cache", "--config", settings, path]
    mypy = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--config-file", ""]
    mypy += ["--cache-dir", str(tmp_path), path]
    environment = {"PATH": "/usr/bin:/bin", "MYPYPATH": str(ROOT / "src")}

    for command in (ruff, mypy):
        result = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        assert (result.returncode, result.stdout if result.returncode else "") == (0, "")


def test_file_names_differ_where_keys_read_the_same(make_entry: Callable[..., Entry]) -> None:
    """Two classes whose names differ only in their capitals get two files."""
    first = make_entry("Gelu")
    second = with_generated_names("toy_GELU", make_entry("GELU"), {"toy_Gelu": first})

    assert [first.generated_file_name, second.generated_file_name] == ["toy_gelu.py", "toy_gelu_2.py"]


def test_symbols_get_different_python_names() -> None:
    """Dots, keywords and names that the file uses itself are written so that no two symbols meet."""
    expected = {"a_b": "a_b", "lambda": "lambda_", "least": "least_", "x": "x", "a.b": "a_b_"}

    assert expected == python_names(["a.b", "a_b", "lambda", "least", "x"])


def test_regime_class_names() -> None:
    """Regimes become class names, all different."""
    names = regime_class_names(["prefill", "low precision", "low-precision", "Low precision", "2d", "-"])

    assert names == [
        "PrefillRegime",
        "LowPrecisionRegime",
        "LowPrecisionRegime2",
        "LowPrecisionRegime3",
        "The2dRegime",
        "TheRegime",
    ]
