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


CONDITIONAL = """\
import torch
from torch import nn

try:
    import flash_attn
except ImportError:
    flash_attn = None

if flash_attn is None:
    class Norm(nn.Module):
        pass
else:
    with torch.no_grad():
        class Fused(nn.Module):
            pass

try:
    import nothing
except ImportError:
    for _ in range(1):
        class InLoop(nn.Module):
            class Inner:
                pass
finally:
    class Last(nn.Module):
        pass


def made():
    class Local(nn.Module):
        pass


class Plain(nn.Module):
    '''Such as:

        class Shown(nn.Module):
            pass
    '''
"""


@pytest.mark.parametrize("name", ["Norm", "Fused", "InLoop", "Last", "Plain"])
def test_classes_inside_compound_statements_of_a_module_are_found(tmp_path: Path, name: str) -> None:
    """Whatever an import of the file defines is a class of it: in `if`, `else`, `with`, loops and `try`."""
    (tmp_path / "m.py").write_text(CONDITIONAL)
    assert ("m", name) == (
        (found := find_class(f"m.py:{name}", tmp_path)).module,
        found.class_name,
    )


@pytest.mark.parametrize("name", ["Inner", "Local", "Shown"])
def test_classes_that_an_import_does_not_define_are_not_found(tmp_path: Path, name: str) -> None:
    """A class inside a function or a class, and one in a docstring, have no name in the module."""
    (tmp_path / "m.py").write_text(CONDITIONAL)
    with pytest.raises(ClassNotFound, match=f"defines no class {name}"):
        find_class(f"m.py:{name}", tmp_path)


def test_the_blocks_of_xlstm_are_found_where_its_library_is_missing(tmp_path: Path) -> None:
    """transformers defines them in the `else` of a test for a package."""
    found = find_class("transformers.models.xlstm.modeling_xlstm.xLSTMBlock", tmp_path)
    assert "modeling_xlstm.py" == found.file.name
