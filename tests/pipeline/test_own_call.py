"""The call that a person describes is the one that is analysed, or its own error is told."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from forwardbook.analyzers.instances.adapters.plain import PlainAdapter
from forwardbook.analyzers.instances.recipe import NoRecipe
from forwardbook.formula import Condition, parse
from forwardbook.pipeline.child import work as work_file
from forwardbook.pipeline.child.failure import described
from forwardbook.pipeline.child.request import Request
from forwardbook.pipeline.child.work import work
from forwardbook.pipeline.derivation.explore import regimes_of
from forwardbook.schema import Entry, Regime

SOURCE = """
import torch
from torch import nn


class Step(nn.Module):
    def __init__(self, dim: int = 64):
        super().__init__()
        self.fc = nn.Linear(dim, dim, bias=False)

    def forward(self, x, start: int):
        return self.fc(x[:, start:])


class RingCache(nn.Module):
    def __init__(self, dim: int, max_len: int = 128):
        super().__init__()
        self.fc = nn.Linear(dim, dim, bias=False)
        self.register_buffer("cache", torch.zeros(16, max_len, dim))

    def forward(self, x, start_pos: int):
        b, s, d = x.shape
        self.cache[:b, start_pos : start_pos + s] = self.fc(x)
        keys = self.cache[:b, : start_pos + s]
        return (x @ keys.transpose(1, 2)).softmax(-1) @ keys


class Pyramid(nn.Module):
    def __init__(self, channels, out: int = 32):
        super().__init__()
        self.laterals = nn.ModuleList(nn.Conv2d(c, out, 1) for c in channels)

    def forward(self, maps):
        return [lateral(m) for lateral, m in zip(self.laterals, maps)]


@torch.jit.script
def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2.0


class Scripted(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        return doubled(self.fc(x))


class Packed(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.lstm = nn.LSTM(dim, dim, batch_first=True)

    def forward(self, x, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True)
        return self.lstm(packed)[1]


class Fussy(nn.Module):
    def __init__(self, width: int = 8):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        return self.fc(x)
"""
FILE = "own_calls"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / f"{FILE}.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, FILE, raising=False)
    return tmp_path


def _request(root: Path, name: str, init: Mapping[str, str], inputs: Mapping[str, str]) -> Request:
    return Request(
        target=f"{FILE}.{name}",
        file=str(root / f"{FILE}.py"),
        roots=(str(root),),
        init=dict(init),
        inputs=dict(inputs),
        derive="symbolic",
        explore=False,
        seed=1,
        points=2,
    )


def _regime(request: Request) -> Regime:
    response = work(request)
    assert response.entry is not None, response.problem
    return Entry.model_validate(response.entry).regimes[0]


def _ran(name: str, init: tuple[object, ...], *inputs: object) -> int:
    """What torch's own counter says of one unwatched call on the CPU."""
    module = getattr(importlib.import_module(FILE), name)(*init)
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        module(*inputs)
    return counter.get_total_flops()


def test_a_number_is_that_number(root: Path) -> None:
    """`start=4` starts at 4, at every length; the entry says so."""
    regime = _regime(_request(root, "Step", {"dim": "64"}, {"x": "batch_size,seq_len,dim", "start": "4"}))
    sizes = {"batch_size": 3, "seq_len": 10, "dim": 64}
    assert _ran("Step", (64,), torch.zeros(3, 10, 64), 4) == parse(regime.flop_analysis.flops).evaluate(sizes)
    assert "called with start=4" in regime.assumptions


def test_a_name_is_a_whole_number_of_its_own(root: Path) -> None:
    """`start_pos` is no length of the input: the formula has both, and torch counts what it says."""
    inputs = {"x": "batch_size,seq_len,dim", "start_pos": "start_pos"}
    regime = _regime(_request(root, "RingCache", {"dim": "64"}, inputs))
    sizes = {"batch_size": 3, "seq_len": 10, "dim": 64, "start_pos": 8, "max_len": 128}
    assert all(Condition.parse(text).holds(sizes) for text in regime.conditions)
    ran = _ran("RingCache", (64,), torch.zeros(3, 10, 64), 8)
    assert 384_000 == ran == parse(regime.flop_analysis.flops).evaluate(sizes)


def test_a_list_is_that_list(root: Path) -> None:
    """Three maps meet three layers, each in its own size."""
    maps = "[batch_size,channels_0,h,w; batch_size,channels_1,h2,w2; batch_size,channels_2,h3,w3]"
    regime = _regime(_request(root, "Pyramid", {"channels": "[16,24,40]"}, {"maps": maps}))
    sides = {"h": 8, "w": 8, "h2": 4, "w2": 5, "h3": 2, "w3": 3}
    sizes = {"batch_size": 3, "out": 32, "channels_0": 16, "channels_1": 24, "channels_2": 40, **sides}
    given = [torch.zeros(3, c, h, w) for c, h, w in ((16, 8, 8), (24, 4, 5), (40, 2, 3))]
    assert _ran("Pyramid", ([16, 24, 40],), given) == parse(regime.flop_analysis.flops).evaluate(sizes)


def test_a_call_that_fails_is_replaced_by_no_other(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its error is told with the line of the user's file and the sizes; the catalogue is not asked."""
    monkeypatch.setattr(work_file, "_of_catalogue", lambda target: pytest.fail("asked the catalogue"))
    request = _request(root, "Fussy", {"width": "64"}, {"x": "batch_size,seq_len,hidden_size"})
    with pytest.raises(RuntimeError) as raised:
        work(request)
    told = described(request, raised.value)
    assert told.problem is not None
    line = SOURCE.splitlines().index("        return self.fc(x)") + 1
    assert f"{FILE}.py:{line} in forward: return self.fc(x)" in told.problem
    assert "width = 64, batch_size = 5, seq_len = 7, hidden_size = 11" in told.problem
    assert "bears its name (x=batch_size,dim)" in told.problem


def test_code_that_torch_compiled_is_refused_by_its_line_without_its_frames(root: Path) -> None:
    """The user's line and what to do; no word of an interpreter's stack."""
    request = _request(root, "Scripted", {"dim": "8"}, {"x": "batch_size,seq_len,dim"})
    with pytest.raises(RuntimeError) as raised:
        work(request)
    told = described(request, raised.value).problem
    assert told is not None
    line = SOURCE.splitlines().index("        return doubled(self.fc(x))") + 1
    assert f"{FILE}.py:{line} in forward: return doubled(self.fc(x))" in told
    assert "analyse it uncompiled" in told
    assert "Traceback" not in told


def test_a_function_that_takes_no_free_sizes_is_refused_with_what_helps(root: Path) -> None:
    """Other inputs would not help: the user is told of one call with numbers."""
    inputs = {"x": "batch_size,seq_len,dim", "lengths": "batch_size,:int64"}
    request = _request(root, "Packed", {"dim": "8"}, inputs)
    with pytest.raises(RuntimeError) as raised:
        work(request)
    told = described(request, raised.value).problem
    assert told is not None
    line = next(n for n, text in enumerate(SOURCE.splitlines(), 1) if "packed = " in text)
    assert f"{FILE}.py:{line} in forward: packed = " in told
    assert "forwardbook.cost(module, *inputs)" in told
    assert "give other inputs" not in told


def test_an_entry_of_a_catalogue_is_derived_again_as_it_was_found(root: Path) -> None:
    """Nobody gave inputs: the call is found again; who asks for the class alone is told what is missing."""
    request = _request(root, "Step", {}, {})
    with pytest.raises(NoRecipe, match="no value for the input x, start"):
        work(request)
    regime = _regime(request.model_copy(update={"catalogued": True}))
    sizes = {"batch_size": 3, "seq_len": 10, "dim": 64, "start": 4}
    assert _ran("Step", (64,), torch.zeros(3, 10, 64), 4) == parse(regime.flop_analysis.flops).evaluate(sizes)


def test_the_catalogue_ties_no_number_to_a_length(root: Path) -> None:
    """`start: int` is a size of its own where nobody says anything, too."""
    target = f"{FILE}.Step"
    way = next(w for w in PlainAdapter(FILE).ways([FILE], {target}) if w.recipe is not None)
    assert way.recipe is not None
    [found, *_] = regimes_of(way.recipe, 1, 2, explore=False)
    sizes = {"batch_size": 3, "seq_len": 10, "dim": 64, "start": 4}
    flops = found.derived.pattern.summary.quantities()["flops"]
    ran = _ran("Step", (64,), torch.zeros(3, 10, 64), 4)
    assert ran == parse(str(flops.text())).evaluate(sizes)  # type: ignore[union-attr]
