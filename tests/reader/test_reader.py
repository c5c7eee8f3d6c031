"""The reader finds classes, helpers, branches and places in source text that is never imported."""

import json
from pathlib import Path

import pytest

from forwardbook.analyzers.reader import ReaderError, line_map, read_class

SOURCE = '''
import os
from .parts import double
raise SystemExit("imported")

SCALE = 3


class Base:
    def __init__(self, config):
        self.width = config.width
        self.bias = True

    def helper(self, x):
        return x


class Net(Base):
    """A docstring."""

    def __init__(self, config, depth):
        super().__init__(config)
        self.proj = Linear(config.width, config.text_config.width)
        self.depth = depth

    def forward(self, x, mask=None):
        # a comment
        y = double(
            x,
            self.helper(x),
        )
        if mask is not None and self.config.use_mask:
            y = y + mask
        for index in range(self.depth):
            y = y * SCALE
        return y
'''
PARTS = "def double(x, y):\n    return inner(x) * 2\n\n\ndef inner(x):\n    return x\n"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package of two files, one of which raises when imported."""
    folder = tmp_path / "netpack"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "parts.py").write_text(PARTS)
    (folder / "net.py").write_text(SOURCE)
    return folder / "net.py"


def test_class_without_import(package: Path) -> None:
    """Span, bases and resolution order are read from a file that cannot be imported."""
    facts = read_class("Net", package)
    assert (facts.full_class_name, facts.bases) == ("netpack.net.Net", ("Base",))
    assert facts.resolution_order == ("netpack.net.Net", "netpack.net.Base")
    assert facts.relative_file == "netpack/net.py"


def test_helpers_are_followed_across_files(package: Path) -> None:
    """Methods, imported functions and what these call are helpers."""
    names = {helper.qualname for helper in read_class("Net", package).helpers}
    assert names == {"Base.helper", "double", "inner"}


def test_attributes_have_kinds(package: Path) -> None:
    """Submodules, config fields, arguments and constants are told apart, bases included."""
    kinds = {item.name: item.kind for item in read_class("Net", package).attributes}
    assert kinds == {
        "proj": "submodule", "depth": "argument", "width": "config field", "bias": "constant"
    }  # fmt: skip


def test_branches_say_what_decides_them(package: Path) -> None:
    """A branch names its config fields and arguments."""
    forward = read_class("Net", package).forward
    assert forward is not None
    branch = forward.branches[0]
    assert (branch.decided_by, branch.config_fields, branch.arguments) == ("config", ("use_mask",), ("mask",))


def test_loops_and_constants(package: Path) -> None:
    """A loop carries its range argument; module constants carry their text."""
    facts = read_class("Net", package)
    assert facts.forward is not None
    assert [loop.range_argument for loop in facts.forward.loops] == ["self.depth"]
    assert facts.constants == (("SCALE", "3"),)


def test_nested_config_field(package: Path) -> None:
    """A nested config field keeps its dots."""
    constructor = read_class("Net", package).constructor
    assert constructor is not None
    assert [read.field for read in constructor.config_reads] == ["width", "text_config.width"]


def test_functions_that_a_constructor_calls_read_its_config(tmp_path: Path) -> None:
    """What makes a part of the config in a function of the same file is read with the constructor."""
    (tmp_path / "wrapped.py").write_text(
        "def make(config):\n    return network(config.architecture)\n\n\n"
        "class Wrapped(Base):\n    def __init__(self, config):\n"
        "        super().__init__()\n        self.inner = make(config)\n"
    )
    (maker,) = read_class("Wrapped", tmp_path / "wrapped.py").makers
    assert [read.field for read in maker.config_reads] == ["architecture"]


def test_facts_serialise(package: Path) -> None:
    """Facts are JSON."""
    assert json.loads(json.dumps(read_class("Net", package).to_json()))["name"] == "Net"


def test_hash_ignores_layout_and_comments(package: Path) -> None:
    """Comments, docstrings and blank space leave the hash alone; code in a helper's file does not."""
    before = read_class("Net", package).source_hash
    package.write_text(SOURCE.replace("# a comment", '"""Text."""').replace("y * SCALE", "(y  *  SCALE)"))
    assert read_class("Net", package).source_hash == before
    (package.parent / "parts.py").write_text(PARTS.replace("return x", "return x + 1"))
    assert read_class("Net", package).source_hash != before


def test_line_and_expression_lookup(package: Path) -> None:
    """A line gives its whole statement, a range the smallest expression that covers it."""
    lines = line_map(package)
    row = SOURCE.splitlines().index("        y = double(") + 1
    assert lines.code(row + 2) == "y = double(x, self.helper(x))"
    assert lines.expression(row + 2, 12, row + 2, 26) == "self.helper(x)"
    assert lines.expression(row + 2, 17, row + 2, 20) == "self.helper"


def test_header_of_a_compound_statement(package: Path) -> None:
    """A line of an `if` gives its header alone."""
    lines = line_map(package)
    row = SOURCE.splitlines().index("        if mask is not None and self.config.use_mask:") + 1
    assert lines.code(row) == "if mask is not None and self.config.use_mask:"


@pytest.mark.parametrize("name", ["Missing", "SCALE"])
def test_no_such_class(package: Path, name: str) -> None:
    """A name that is no class is refused."""
    with pytest.raises(ReaderError, match=name):
        read_class(name, package)


def test_syntax_error_is_reported(tmp_path: Path) -> None:
    """A file that does not parse is reported with its line."""
    (tmp_path / "broken.py").write_text("class A(:\n")
    with pytest.raises(ReaderError, match="line 1"):
        read_class("A", tmp_path / "broken.py")


def test_transformers_reexport() -> None:
    """A class is found through a lazily loaded package and its star imports."""
    facts = read_class("transformers.models.llama.LlamaModel")
    assert facts.full_class_name == "transformers.models.llama.modeling_llama.LlamaModel"


def test_torch_reexport() -> None:
    """A torch.nn class is found where it is defined."""
    assert read_class("torch.nn.Linear").full_class_name == "torch.nn.modules.linear.Linear"


def test_a_name_that_another_branch_sets_to_none_is_the_class_and_the_function_it_defines(
    package: Path,
) -> None:
    """`else: Norm = None` hides neither a class nor a helper."""
    package.write_text(
        "if flag:\n    class Norm:\n        def forward(self, x):\n            return scaled(x)\n"
        "    def scaled(x):\n        return x\n"
        "else:\n    Norm = None\n    scaled = None\n"
    )
    facts = read_class("Norm", package)
    assert facts.span.line == 2
    assert [item.qualname for item in facts.helpers] == ["scaled"]


def test_a_class_that_another_branch_takes_from_elsewhere_is_the_class_defined_here(package: Path) -> None:
    """`else: Norm = fused.Norm` and `try: from fused import Norm` hide no class of the same name."""
    defined = "class Norm:\n        def forward(self, x):\n            return x\n"
    package.write_text(f"import fused\nif fused is None:\n    {defined}else:\n    Norm = fused.Norm\n")
    assert read_class("Norm", package).span.line == 3
    package.write_text(f"try:\n    Norm = __import__('fused').Norm\nexcept ImportError:\n    {defined}")
    assert read_class("Norm", package).span.line == 4
