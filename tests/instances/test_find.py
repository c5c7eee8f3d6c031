"""What a person types is found as text."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from forwardbook.analyzers.instances.find import AmbiguousClass, ClassNotFound, find_class

LLAMA = "transformers.models.llama.modeling_llama"


@pytest.mark.parametrize(
    ("typed", "full"),
    [
        ("LlamaAttention", f"{LLAMA}.LlamaAttention"),
        (f"{LLAMA}.LlamaRMSNorm", f"{LLAMA}.LlamaRMSNorm"),
        ("transformers.models.llama.LlamaRMSNorm", f"{LLAMA}.LlamaRMSNorm"),
        ("transformers.LlamaModel", f"{LLAMA}.LlamaModel"),
        ("Linear", "torch.nn.modules.linear.Linear"),
        ("torch.nn.LSTM", "torch.nn.modules.rnn.LSTM"),
        ("torch.nn.CrossMapLRN2d", "torch.nn.modules.normalization.CrossMapLRN2d"),
        ("torch.nn.modules.linear.Linear", "torch.nn.modules.linear.Linear"),
    ],
)
def test_names_lead_to_where_the_class_is_defined(tmp_path: Path, typed: str, full: str) -> None:
    """Bare names, re-exports and full names all end at the defining module."""
    found = find_class(typed, tmp_path)
    assert found.full_class_name == full
    assert f"class {found.class_name}" in found.file.read_text()


def test_files_are_found_and_packages_named(tmp_path: Path) -> None:
    """A file inside a package gets its dotted name and the folder to import it from."""
    package = tmp_path / "mine" / "layers"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").touch()
    (package / "blocks.py").write_text("class OwnBlock:\n    pass\n")
    by_path = find_class("mine/layers/blocks.py:OwnBlock", tmp_path)
    assert (by_path.module, by_path.root) == ("mine.layers.blocks", tmp_path)
    assert (
        find_class("mine.layers.blocks.OwnBlock", tmp_path)
        == by_path
        == find_class("OwnBlock", tmp_path / "mine")
    )


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("LlamaAtention", "there are LlamaAttention"),
        ("torch.nn.Linea", "there are Linear"),
        (f"{LLAMA}.LlamaMPL", "defines no class LlamaMPL; there are LlamaMLP"),
        ("torch.nm.Linear", "torch has no module 'nm'"),
        ("nowhere.Thing", "no module or package 'nowhere'"),
        ("gone.py:Thing", "there is no file"),
        ("gone.py", "needs a class name"),
        ("", "define no such class"),
        ("..", "no module or package"),
    ],
)
def test_misses_name_what_is_near(tmp_path: Path, typed: str, message: str) -> None:
    """The message repeats what was typed and helps on."""
    with pytest.raises(ClassNotFound, match=message):
        find_class(typed, tmp_path)


def test_ambiguous_names_are_listed(tmp_path: Path) -> None:
    """Two modules that define a class are both named."""
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text("class Twice:\n    pass\n")
    with pytest.raises(AmbiguousClass, match="2 modules define it; say which: one.Twice, two.Twice"):
        find_class("Twice", tmp_path)


def test_finding_imports_nothing(tmp_path: Path) -> None:
    """A file with a side effect is found without the effect, and torch stays out."""
    (tmp_path / "loud.py").write_text("raise SystemExit('imported')\nclass Loud:\n    pass\n")
    code = (
        "import sys; from pathlib import Path; from forwardbook.analyzers.instances.find import find_class;"
        f"find_class('loud.py:Loud', Path({str(tmp_path)!r})); find_class('torch.nn.Linear');"
        "assert not {'torch', 'transformers', 'loud'} & sys.modules.keys()"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
