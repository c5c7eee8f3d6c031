"""A glance at a class says what its facts say, without positions, parsing only what that needs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import libcst as cst
import pytest
from libcst.metadata import MetadataWrapper

from forwardbook.analyzers.reader import Outlines, ReaderError, Sources, glance_at, read_class
from forwardbook.analyzers.reader.bindings import Binding
from forwardbook.analyzers.reader.reader import find_class, find_method, hash_of, reached
from forwardbook.analyzers.reader.resolve import Definition, linearize
from forwardbook.analyzers.reader.sources import descend

SOURCE = '''
"""Text that is no code:
class Net: pass
"""
from .parts import *
import torch.nn as nn, math
first = 1; second = (2,
    3); third = "\\d"
if first:
    from .more import helper
else:
    def helper(x): return x

@decorated
class Net(nn.Module):
    def forward(self, x):
        """Text."""
        return helper(imported(x)) + second
'''


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package whose parts are imported by name, by star, and under a condition."""
    folder = tmp_path / "glancepack"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "parts.py").write_text("def imported(x):\n    return x * 2\n")
    (folder / "more.py").write_text("def helper(x):\n    return x + 1\n")
    (folder / "net.py").write_text(SOURCE)
    return folder / "net.py"


@pytest.mark.parametrize(
    "name", ["torch.nn.Conv2d", "torch.nn.GRU", "torch.nn.Module", "transformers.models.gpt2.GPT2Block"]
)
def test_hash_and_order_are_those_of_the_facts(name: str) -> None:
    """The hash and the resolution order are the same whether a file is parsed whole or by statement."""
    facts, glance = read_class(name), glance_at(name)

    assert (facts.source_hash, facts.resolution_order) == (glance.source_hash, glance.resolution_order)


def test_own_package(package: Path) -> None:
    """Helpers imported by star and under a condition are in the hash; forward()'s statements are its body."""
    facts, glance = read_class("Net", package), glance_at("Net", package)
    (package.parent / "parts.py").write_text("def imported(x):\n    return x * 3\n")
    after = glance_at("Net", package)

    assert {"helper", "imported"} == {helper.qualname for helper in facts.helpers}
    assert facts.source_hash == glance.source_hash != after.source_hash
    assert ("return helper(imported(x)) + second",) == glance.body


def test_bindings_are_those_of_the_whole_file(package: Path) -> None:
    """An outline binds the same names to the same code, in the same order."""
    whole, outline = (kind([]).load_path(package) for kind in (Sources, Outlines))

    assert _said(whole.bindings) == _said(outline.bindings)
    assert ["math", "first", "helper", "Net"] == [n for n in outline.bindings if n in "math first helper Net"]
    assert "absent" not in outline.bindings


def _said(bindings: Mapping[str, object]) -> dict[str, list[tuple[str, str, str, str]]]:
    def one(binding: Binding) -> tuple[str, str, str, str]:
        code = cst.Module([]).code_for_node(binding.node).strip()
        return binding.kind, binding.module, binding.attribute, code

    return {name: [one(b) for b in bound] for name, bound in bindings.items()}  # type: ignore[attr-defined]


CODE = cst.BaseExpression | cst.BaseStatement | cst.BaseSmallStatement | cst.Arg | cst.Param


@pytest.mark.parametrize("module", ["glancepack.net", "torch.nn.modules.linear", "libcst._nodes.module"])
def test_positions_are_those_of_the_whole_file(package: Path, module: str) -> None:
    """All code of a statement has the kind, the text and the range that it has in the file parsed at once."""
    roots = [package.parents[1]]
    whole, outline = Sources(roots).load(module), Outlines(roots).load(module)
    assert whole is not None
    assert outline is not None

    count = 0
    for name, bound in whole.bindings.items():
        for one, other in zip(bound, outline.bindings[name], strict=True):
            for mine, theirs in zip(_code(one.node), _code(other.node), strict=True):
                count += 1
                assert (type(mine), mine in whole.positions) == (type(theirs), theirs in outline.positions)
                if mine in whole.positions:
                    assert whole.span(mine) == outline.span(theirs)
                if isinstance(mine, cst.BaseExpression | cst.BaseSmallStatement):
                    assert whole.code(mine) == outline.code(theirs)
    assert count > 20


def _code(node: cst.CSTNode) -> list[cst.CSTNode]:
    return [one for one in descend(node) if isinstance(one, CODE)]


def test_hash_is_that_of_whole_files(package: Path) -> None:
    """The source hash of the facts, read by statement, is that of functions found in files parsed at once."""
    sources = Sources()
    found = find_class("Net", package, sources)
    assert isinstance(found.node, cst.ClassDef)
    mro = [one for one in linearize(sources, found.source, found.node) if isinstance(one, Definition)]
    forward = find_method(mro, "forward")
    assert forward is not None

    whole = hash_of(found.node, forward, reached(sources, mro, forward))
    assert whole == read_class("Net", package).source_hash


def test_no_positions_are_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    """A glance asks for the place of nothing: that takes most of the time of reading a class."""

    def refuse(*arguments: object) -> None:
        raise AssertionError("positions were asked for")

    monkeypatch.setattr(MetadataWrapper, "resolve", refuse)
    assert glance_at("torch.nn.Conv2d").source_hash


def test_a_class_read_again_is_not_read_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """The facts of a class whose files have not changed are known: nothing is parsed or placed again."""
    before = read_class("torch.nn.Conv2d")

    def refuse(*arguments: object) -> None:
        raise AssertionError("read anew")

    monkeypatch.setattr(MetadataWrapper, "resolve", refuse)
    monkeypatch.setattr(cst, "parse_module", refuse)
    assert before == read_class("torch.nn.Conv2d")


def test_syntax_error_is_reported_with_its_line(tmp_path: Path) -> None:
    """A file that does not parse is reported as by a whole reading."""
    (tmp_path / "broken.py").write_text("x = 1\nclass A(:\n")
    with pytest.raises(ReaderError, match="line 2"):
        glance_at("A", tmp_path / "broken.py")
