"""Which classes are copies of each other: real ones of transformers, and near copies made to mislead."""

import itertools
from pathlib import Path

import pytest

from forwardbook.analyzers.reader import Sources, family_digest

MODELS = "transformers.models"
BERT, ROBERTA = f"{MODELS}.bert.modeling_bert.Bert", f"{MODELS}.roberta.modeling_roberta.Roberta"
LLAMA, MISTRAL = f"{MODELS}.llama.modeling_llama.Llama", f"{MODELS}.mistral.modeling_mistral.Mistral"
GEMMA = f"{MODELS}.gemma.modeling_gemma.Gemma"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (f"{BERT}Layer", f"{ROBERTA}Layer"),
        (f"{BERT}SelfAttention", f"{ROBERTA}SelfAttention"),
        (f"{LLAMA}RMSNorm", f"{MISTRAL}RMSNorm"),
    ],
)
def test_copies_across_families_are_known(one: str, other: str) -> None:
    """The code is the same but for names of the family: of classes, helpers, configs in annotations."""
    sources = Sources()

    assert family_digest(one, sources) == family_digest(other, sources) != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (f"{LLAMA}MLP", f"{MISTRAL}MLP"),  # a bias that the configuration may turn on
        (f"{LLAMA}RMSNorm", f"{GEMMA}RMSNorm"),  # one is added to the weight
        (f"{LLAMA}Attention", f"{MISTRAL}Attention"),  # a window that slides
        (f"{LLAMA}DecoderLayer", f"{MISTRAL}DecoderLayer"),  # written alike, with other submodules
        (f"{BERT}Embeddings", f"{ROBERTA}Embeddings"),  # positions counted from the padding
    ],
)
def test_near_copies_of_transformers_are_told_apart(one: str, other: str) -> None:
    """Classes that look like copies and differ, in their own lines or in what these call."""
    assert family_digest(one) != family_digest(other)


ORIGINAL = """
import torch
from torch import nn
from {package}.shared import scaled

SCALE = 2

def gate(x):
    return torch.relu(x) * SCALE

class {name}Inner(nn.Module):
    def forward(self, x):
        return gate(scaled(x))

class {name}Outer(nn.Module):
    '''A {name}.'''
    def __init__(self, config: {name}Config):
        super().__init__()
        self.inner = {name}Inner()

    def forward(self, x: "{name}Input") -> torch.Tensor:
        return self.inner(x)  # as {name} does
"""
SHARED = "def scaled(x):\n    return x * 3\n"


def _family(folder: Path, name: str, text: str = ORIGINAL, shared: str = SHARED) -> Path:
    package = folder / name.lower()
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "code.py").write_text(text.format(name=name, package=name.lower()), encoding="utf-8")
    (package / "shared.py").write_text(shared, encoding="utf-8")
    return folder


def _outer(folder: Path, name: str) -> str:
    return family_digest(f"{name.lower()}.code.{name}Outer", Sources([folder]))


def test_names_docstrings_and_annotations_do_not_count(tmp_path: Path) -> None:
    """A family written anew under its own name is a copy, its own helpers included."""
    assert _outer(_family(tmp_path, "Apple"), "Apple") == _outer(_family(tmp_path, "Pear"), "Pear") != ""


CHANGES = {
    "a constant": ("SCALE = 2", "SCALE = 3"),
    "a helper": ("torch.relu(x)", "torch.tanh(x)"),
    "a submodule": ("gate(scaled(x))", "gate(gate(x))"),
    "an attribute": ("self.inner", "self.core"),
    "a base": ("{name}Inner(nn.Module)", "{name}Inner(nn.Identity)"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_reached_counts(tmp_path: Path, change: str) -> None:
    """A class whose own lines are the same differs where what it reaches differs."""
    text = ORIGINAL.replace(*CHANGES[change])

    assert _outer(_family(tmp_path, "Apple"), "Apple") != _outer(_family(tmp_path, "Pear", text), "Pear")


def test_a_helper_of_the_folder_counts(tmp_path: Path) -> None:
    """What another module of the family defines is part of the class's code."""
    other = SHARED.replace("* 3", "+ 3")

    assert _outer(_family(tmp_path, "Apple"), "Apple") != _outer(
        _family(tmp_path, "Pear", shared=other), "Pear"
    )


def test_a_class_without_source_has_no_hash() -> None:
    """What cannot be read is a copy of nothing."""
    assert "" == family_digest("collections.OrderedDict2")


def test_classes_that_need_each_other_have_a_hash(tmp_path: Path) -> None:
    """A circle of references ends."""
    text = (
        "class {name}Outer:\n    def f(self):\n        return help()\n\ndef help():\n    return {name}Outer\n"
    )
    found = [_outer(_family(tmp_path, name, text), name) for name in ("Apple", "Pear")]

    assert all(found)
    assert all(one != other for one, other in itertools.combinations(found, 2))
