"""Formulas read from source are those of running the class: polynomials, totals and lines."""

import sys
from functools import cache
from pathlib import Path

import pytest

from forwardbook.analyzers.instances.recipe import InstanceOptions
from forwardbook.analyzers.instances.recipes import recipes_for
from forwardbook.analyzers.static.agreement import differences
from forwardbook.analyzers.static.derive import run_first_statically, static_patterns, static_recipes
from forwardbook.analyzers.symbolic.patterns import Pattern, patterns
from forwardbook.analyzers.symbolic.run import SymbolicRun
from forwardbook.formula import Expr, parse
from forwardbook.pipeline.child.request import Request
from forwardbook.pipeline.child.work import work
from forwardbook.pipeline.derivation.explore import FULL as FLOAT32
from forwardbook.pipeline.derivation.reading import NotRead
from forwardbook.pipeline.derivation.regimes import run_first
from forwardbook.pipeline.derivation.second_reading import FAST_PATHS

LAYERS = (
    "Linear", "Bilinear", "Embedding", "EmbeddingBag", "Conv1d", "Conv2d", "ConvTranspose3d", "BatchNorm2d",
    "GroupNorm", "LayerNorm", "RMSNorm", "MaxPool2d", "AdaptiveAvgPool2d", "LSTM", "GRUCell", "GELU",
    "MultiheadAttention", "TransformerEncoderLayer", "CrossEntropyLoss", "Upsample", "LazyLinear", "Softmax",
)  # fmt: skip
MODELS = {
    "LlamaMLP": "llama.modeling_llama.LlamaModel",
    "LlamaRMSNorm": "llama.modeling_llama.LlamaModel",
    "LlamaAttention": "llama.modeling_llama.LlamaModel",
    "LlamaDecoderLayer": "llama.modeling_llama.LlamaModel",
    "BertSelfAttention": "bert.modeling_bert.BertModel",
    "T5LayerNorm": "t5.modeling_t5.T5Model",
    "T5Attention": "t5.modeling_t5.T5Model",
}
GATED = """
open({mark!r}, "w").write("the module ran")
import os
import torch
from torch import nn

os.system("touch {mark}")


class Gated(nn.Module):
    def __init__(self, width: int, hidden: int = 32):
        super().__init__()
        self.gate = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        return self.down(torch.relu(self.gate(x)))
"""


def compared(read: list[Pattern], ran: list[Pattern]) -> list[object]:
    """In what the patterns of two derivations differ."""
    if [(p.paths, p.occurrence) for p in read] != [(p.paths, p.occurrence) for p in ran]:
        return [[p.paths for p in read], [p.paths for p in ran]]
    pairs = list(zip(read, ran, strict=True))
    found: list[object] = [text for one, other in pairs for text in differences(one.summary, other.summary)]
    said = [[{c.text() for c in p.conditions} for p in pair] for pair in pairs]
    return found + [both for both in said if both[0] != both[1]]


@cache
def runs(model: str) -> tuple[SymbolicRun, SymbolicRun]:
    """A model read, then run; its classes are compared one by one."""
    name = f"transformers.models.{model}"
    read = run_first_statically(static_recipes(name)[0], FLOAT32)[1]
    return read, run_first(recipes_for(name)[0], FLOAT32)[1]


@pytest.mark.parametrize("name", LAYERS)
def test_layers_read_as_they_run(name: str) -> None:
    """In every way to call a class of torch.nn, each total and line is the same polynomial.

    Where torch takes its fast path, what runs is not what the source says.
    """
    full = f"torch.nn.{name}"
    pairs = zip(static_recipes(full), recipes_for(full), strict=True)
    for read, ran in pairs:
        assert read.calls_as == ran.calls_as
        run = run_first(ran, FLOAT32)[1]
        if any(operation.name in FAST_PATHS for operation in run.trace.operations):
            continue
        expected = patterns(run, ran.calls_as)
        assert [] == compared(static_patterns(read, read.calls_as), expected)


@pytest.mark.parametrize("name", MODELS)
def test_classes_of_models_read_as_they_run(name: str) -> None:
    """A class in the tree of a model has the same call patterns, formulas, lines and conditions."""
    read, ran = runs(MODELS[name])
    target = f"transformers.models.{MODELS[name].rpartition('.')[0]}.{name}"
    found = patterns(ran, target)
    assert found != []
    assert [] == compared(patterns(read, target), found)


def test_source_alone_gives_the_formula_and_runs_nothing(tmp_path: Path) -> None:
    """With `--derive static` a file that acts when it is imported is read, and leaves no trace."""
    mark = tmp_path / "mark"
    text = GATED.replace("{mark!r}", repr(str(mark))).replace("{mark}", str(mark))
    (tmp_path / "acting.py").write_text(text)
    response = work(
        Request(
            target="acting.Gated",
            file=str(tmp_path / "acting.py"),
            roots=(str(tmp_path),),
            init={"width": "16"},
            inputs={"x": "batch_size,seq_len,width"},
            derive="static",
        )
    )
    assert response.problem is None and response.entry is not None
    entry = response.entry
    regime = entry["regimes"][0]  # type: ignore[index,call-overload]
    names = ("batch_size", "seq_len", "width", "hidden")
    batch, positions, width, hidden = (Expr.symbol(name) for name in names)
    assert 4 * batch * positions * width * hidden == parse(regime["flop_analysis"]["flops"])  # type: ignore[index,call-overload,arg-type]
    assert (["static"], "unproved") == (entry["derived_by"], entry["validation"]["verdict"])  # type: ignore[index,call-overload]
    assert not mark.exists() and "acting" not in sys.modules


def test_what_is_not_followed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A class that calls what is not trusted is refused with file and line, and what to do instead."""
    file = tmp_path / "asking.py"
    file.write_text(
        "import os\nfrom torch import nn\n\n\nclass Asking(nn.Module):\n"
        "    def forward(self, x):\n        return x * os.getpid()\n"
    )
    given = {"file": str(file), "roots": (str(tmp_path),), "inputs": {"x": "batch_size,width"}}
    with pytest.raises(NotRead) as refused:
        work(Request.model_validate({"target": "asking.Asking", "derive": "static", **given}))
    assert str(refused.value).startswith(f"reading asking.Asking, {file}:7: getpid is not followed")
    monkeypatch.syspath_prepend(tmp_path)
    response = work(Request.model_validate({"target": "asking.Asking", "derive": "both", **given}))
    assert response.entry is not None
    assert "asking.py:7: getpid" in response.entry["validation"]["reason"]  # type: ignore[index,call-overload,operator]


def test_recipes_of_source_ask_for_the_same_sizes() -> None:
    """Scenarios and conditions of the recipes are those of the imported class."""
    name = "transformers.models.llama.modeling_llama.LlamaMLP"
    ours, theirs = static_recipes(name, InstanceOptions()), recipes_for(name, InstanceOptions())
    described = [[(r.scenario, r.conditions, len(r.alternatives)) for r in made] for made in (ours, theirs)]
    assert described[0] == described[1]
