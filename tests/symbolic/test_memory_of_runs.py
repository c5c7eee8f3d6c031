"""What is remembered from run to run: a run says what it says alone in a process, whatever ran before it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic import memory
from forwardbook.analyzers.symbolic.forms import FORMS
from forwardbook.analyzers.symbolic.ledger import Ledger
from forwardbook.analyzers.symbolic.memory import Memory, forget
from forwardbook.analyzers.symbolic.node import Node
from forwardbook.analyzers.symbolic.run import SymbolicRun, run_symbolically


class Attending(nn.Module):
    """Projections, heads, a fused attention, a residual and a norm."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.maps = nn.ModuleList(nn.Linear(width, width) for _ in range(3))
        self.norm = nn.LayerNorm(width)

    def forward(self, x: Tensor) -> Tensor:
        batch, rows, width = x.shape
        parts = [m(x).view(batch, rows, self.heads, width // self.heads).transpose(1, 2) for m in self.maps]
        out = F.scaled_dot_product_attention(*parts).transpose(1, 2).reshape(batch, rows, width)
        return self.norm(x + out)


class Reshaping(nn.Module):
    """Broadcasts, slices, copies and a branch on a size."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.empty(width, 1))
        self.count = heads

    def forward(self, x: Tensor) -> Tensor:
        turned = (x.transpose(-1, -2) * self.scale).contiguous()
        if x.shape[1] > 6:
            turned = torch.cat([turned, turned[..., :-1]], -1)
        turned = turned.flatten(1).unsqueeze(0).expand(self.count, -1, -1)
        return turned.detach().sum(-1, keepdim=True).squeeze(-1).add(1).softmax(-1)


class Convolving(nn.Module):
    """A convolution, a pool, an in-place activation, padding."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.conv = nn.Conv1d(width, width, 3, padding=1, groups=heads)
        self.pool = nn.MaxPool1d(2)

    def forward(self, x: Tensor) -> Tensor:
        out = F.relu(self.conv(x.transpose(1, 2)), inplace=True)
        return self.pool(F.pad(out, (1, 1))).mean(-1)


KINDS = (Attending, Reshaping, Convolving)
HINTS = {"batch": 2, "rows": 6, "width": 8, "heads": 2}


@pytest.fixture(autouse=True)
def nothing_known() -> Iterator[None]:
    """Each test begins and ends as a process does."""
    forget()
    yield
    forget()


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def recipe(request: pytest.FixtureRequest, recipe_from: Callable[..., Recipe]) -> Recipe:
    """One of the modules over rows of vectors."""
    return recipe_from(
        request.param,
        lambda n: request.param(n.width, n.heads),
        lambda n, maker: (maker.floats((n.batch, n.rows, n.width)),),
        **HINTS,
    )


def _tree(node: Node) -> str:
    if not node.args:
        return node.name or str(node.number)
    return f"{node.op}({', '.join(map(_tree, node.args))})"


def _said(run: SymbolicRun) -> dict[str, list[str]]:
    """Operations, births and deaths, calls, and every comparison in its order."""
    return {
        "operations": [f"{o.name} {o.cost} {o.frames} {o.marks} {o.touched}" for o in run.trace.operations],
        "events": [f"{e.storage} {e.size} {e.alive}" for e in run.trace.events],
        "calls": [f"{c.path} {c.guards} {c.consumed} {c.results}" for c in run.trace.calls],
        "guards": [f"{_tree(g.node)} {g.value} {len(g.owners)}" for g in run.ledger.guards],
        "consumed": [f"{_tree(c.node)} {c.file} {c.line}" for c in run.ledger.consumed],
        "conditions": [c.text() for c in run.expressions.conditions(run.ledger.guards)],
    }


def _alone(recipe: Recipe, hints: Mapping[str, int]) -> dict[str, list[str]]:
    forget()
    return _said(run_symbolically(recipe, hints=hints))


def _hints(seed: int) -> dict[str, int]:
    """Sizes that a model can have; 1 and equal sizes, at which comparisons flip, are often met."""
    rng = random.Random(seed)
    heads = rng.choice((1, 2, 4))
    width = heads * rng.choice((1, 2, 4))
    return {
        "batch": rng.choice((1, 2, width)),
        "rows": rng.choice((2, 5, 6, 7, 8)),
        "width": width,
        "heads": heads,
    }


def _without_memory(self: Memory, run: Callable[..., object], *call: object) -> object:
    return run(*call)


def test_a_run_says_what_it_says_alone(recipe: Recipe) -> None:
    """A second run, and runs at other hints where comparisons flip, tell what fresh ones tell."""
    cases = [HINTS, *map(_hints, range(12))]
    alone = [_alone(recipe, hints) for hints in cases]
    forget()

    for number in (0, 0, *range(len(cases)), *random.Random(0).sample(range(len(cases)), len(cases))):
        assert _said(run_symbolically(recipe, hints=cases[number])) == alone[number]


def test_no_memory_asks_the_same(recipe: Recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    """Conditions and costs are those of runs in which every shape function runs."""
    run_symbolically(recipe)
    warm = _said(run_symbolically(recipe))
    monkeypatch.setattr(Memory, "run", _without_memory)

    bare = _said(run_symbolically(recipe))

    assert (bare["operations"], bare["events"]) == (warm["operations"], warm["events"])
    assert set(bare["guards"]) <= set(warm["guards"])
    assert bare["conditions"] == warm["conditions"]


def test_another_module_before_changes_nothing(recipe_from: Callable[..., Recipe]) -> None:
    """What one module taught is not told of another, though sizes have the same names."""
    made = [
        recipe_from(
            kind,
            lambda n, kind=kind: kind(n.width, n.heads),
            lambda n, maker: (maker.floats((n.batch, n.rows, n.width)),),
            **HINTS,
        )
        for kind in KINDS
    ]
    alone = [_alone(one, HINTS) for one in made]
    forget()

    for order in ((0, 1, 2), (2, 0, 1), (1, 2, 0)):
        assert [_said(run_symbolically(made[i])) for i in order] == [alone[i] for i in order]


def test_what_was_learnt_is_used(recipe: Recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most shape functions do not run again in a second run."""
    counted: list[str] = []
    original = Memory.run

    def counting(
        self: Memory, run: Callable[..., object], func: torch._ops.OpOverload, *call: object
    ) -> object:
        def noted(*given: object) -> object:
            counted.append(func.name())
            return run(*given)

        return original(self, noted, func, *call)  # type: ignore[arg-type]

    monkeypatch.setattr(Memory, "run", counting)
    run_symbolically(recipe)
    first = len(counted)
    run_symbolically(recipe)

    assert len(counted) - first <= first // 3


def test_little_is_kept(recipe: Recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    """Past the bound a run begins with nothing known; runs that go on then are not harmed."""
    before = _alone(recipe, HINTS)
    monkeypatch.setattr(memory, "FORMS_KEPT", 1)

    assert _said(run_symbolically(recipe, hints=HINTS)) == before
    known = len(FORMS)
    run_symbolically(recipe, hints=HINTS)
    assert len(FORMS) == known


def test_forms_are_shared_by_ledgers() -> None:
    """The same computation has one form in two runs; others have others, 0.0 and -0.0 too."""
    one, two = Ledger(), Ledger()
    nodes = [(ledger.symbol("a", hint) * 2 + 1).node for ledger, hint in ((one, 3), (two, 5))]
    zeros = {one.constant(0.0, float).form, two.constant(0, int).form, Ledger().constant(-0.0, float).form}

    assert nodes[0].form == nodes[1].form
    assert two.of_form(nodes[0].form) is nodes[1]
    assert (nodes[0].number, nodes[1].number) == (7, 11)
    assert len(zeros) == 3
    assert Ledger().of_form(nodes[0].form) is None
