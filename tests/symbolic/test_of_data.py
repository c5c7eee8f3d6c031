"""How many rows a line chooses by values from weights is a size of its own, and not a number of one run."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic.of_data import OF_DATA, DataSizes, OutOfRange
from forwardbook.analyzers.symbolic.of_weights import mark
from forwardbook.analyzers.symbolic.patterns import Pattern, patterns
from forwardbook.analyzers.symbolic.recorder import Widths
from forwardbook.analyzers.symbolic.run import run_measured, run_symbolically
from forwardbook.analyzers.symbolic.shadows import shadow, to_meta
from forwardbook.analyzers.symbolic.trace import Place
from forwardbook.formula import Expr, parse
from forwardbook.pipeline.derivation.regimes import derive

NUMBERS = {"tokens": 12, "width": 6, "inner": 5, "experts": 6}


class Mixture(nn.Module):
    """Each token goes to two experts, which a loop over those with tokens runs one after the other."""

    def __init__(self, width: int, inner: int, experts: int, spare: int = 0) -> None:
        super().__init__()
        self.classes = experts + spare
        self.router = nn.Linear(width, experts, bias=False)
        self.up = nn.Parameter(torch.empty(experts, inner, width))
        self.down = nn.Parameter(torch.empty(experts, width, inner))

    def forward(self, x: Tensor) -> Tensor:
        chosen = self.router(x).topk(2, dim=-1).indices
        mask = nn.functional.one_hot(chosen, num_classes=self.classes).permute(2, 1, 0)
        hit = mask.sum(dim=(-1, -2)).greater(0).nonzero()
        out = torch.zeros_like(x)
        for expert in hit:
            _, token = torch.where(mask[expert[0]])
            done = nn.functional.linear(x[token], self.up[expert[0]]).relu()
            out.index_add_(0, token, nn.functional.linear(done, self.down[expert[0]]))
        return out


class Masked(nn.Module):
    """Runs a layer on the rows whose best of several scores is not the first."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.score, self.layer = nn.Linear(width, 4), nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        kept = x[self.score(x).argmax(-1) != 0]
        done: Tensor = self.layer(kept)
        return done


@pytest.fixture(params=[0, 1])
def mixture(recipe_from: Callable[..., Recipe], request: pytest.FixtureRequest) -> Recipe:
    """As it is, and with a class beside the experts, for tokens that go to none."""
    return recipe_from(
        Mixture,
        lambda n: Mixture(n.width, n.inner, n.experts, spare=request.param),
        lambda n, maker: (maker.floats((n.tokens, n.width)),),
        **NUMBERS,
    )


def pattern_of(recipe: Recipe) -> Pattern:
    (pattern,) = patterns(run_symbolically(recipe), recipe.calls_as)
    return pattern


def flops(recipe: Recipe, **sizes: int) -> int:
    """Those of the one call where it is measured."""
    trace, _ = run_measured(recipe, {**NUMBERS, **sizes}, torch.float32, Widths(4, 4, 4))
    return sum(int(str(one.cost.flops)) for one in trace.operations)


def test_a_loop_over_experts_has_two_sizes(mixture: Recipe) -> None:
    """How many experts have tokens, and how many tokens each, are sizes named after the lines' results."""
    run = run_symbolically(mixture)
    of_data = {name: note for name, note in run.notes.items() if note.source.startswith(OF_DATA)}

    assert ["hit_count", "token_count"] == list(of_data)
    assert "`_, token = torch.where(mask[expert[0]])`" in of_data["token_count"].meaning
    assert of_data["token_count"].source.startswith("data, Mixture.forward line ")


def test_what_is_chosen_says_nothing_of_the_number_of_tokens(mixture: Recipe) -> None:
    """No size of the input becomes a number, as it does where a mask of known values is counted."""
    consumed = {name for one in pattern_of(mixture).consumed for name in one.symbols}

    assert consumed == {"hit_count"}


def test_the_range_of_each_is_what_the_recipe_asks_for(mixture: Recipe) -> None:
    """At most as many experts as there are, at most as many tokens as the mask has places."""
    stated = run_symbolically(mixture).over(mixture).conditions

    assert stated == ("{hit_count} <= {experts}", "{token_count} <= 2 * {tokens}")


def test_a_measured_run_has_as_many_as_it_is_told(mixture: Recipe) -> None:
    """Three experts of four tokens multiply three times four tokens by the weights of an expert."""
    router = 2 * 12 * 6 * 6
    assert flops(mixture, hit_count=3, token_count=4) == router + 3 * 4 * (4 * 6 * 5)


def test_what_is_not_told_is_as_routing_has_it(mixture: Recipe) -> None:
    """Without sizes of its own a run is balanced: each of six experts gets four of the 24 that are chosen."""
    trace, _ = run_measured(mixture, NUMBERS, torch.float32, Widths(4, 4, 4))

    assert trace.data == {"hit_count": 6, "token_count": 4}
    assert flops(mixture) == flops(mixture, hit_count=6, token_count=4)


def test_more_than_there_are_is_refused(mixture: Recipe) -> None:
    """A run with seven of six experts would say nothing of any that exists."""
    with pytest.raises(OutOfRange, match="7 rows were asked for of a mask of 6 elements"):
        flops(mixture, hit_count=7, token_count=4)


def test_the_formula_holds_for_any_number_of_either(mixture: Recipe) -> None:
    """It is proved at numbers of experts, of tokens of an expert and of all tokens that no run had."""
    [one] = derive(mixture, torch.float32, [mixture.calls_as], seed=0)

    assert one.exact
    said = "2 * {width} * ({tokens} * {experts} + 2 * {inner} * {hit_count} * {token_count})"
    assert one.pattern.summary.totals.flops == parse(said)
    assert all(len({point.sizes[n] for point in one.proof.points}) > 1 for n in ("hit_count", "token_count"))


def test_real_routing_takes_the_flops_that_its_counts_give(mixture: Recipe) -> None:
    """However unequal experts are: the formula names the product of both sizes alone, all chosen tokens."""
    torch.manual_seed(0)
    module = Mixture(6, 5, 6)
    for weight in module.parameters():
        nn.init.normal_(weight)
    x = torch.randn(12, 6)
    tokens = module.router(x).topk(2, dim=-1).indices.flatten().bincount()
    [one] = derive(mixture, torch.float32, [mixture.calls_as], seed=0)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        module(x)

    sizes = {**NUMBERS, "hit_count": 1, "token_count": int(tokens.sum())}
    assert len(set(tokens.tolist())) > 2
    assert counter.get_total_flops() == Expr.of(one.pattern.summary.totals.flops).evaluate(sizes)


class Twice(nn.Module):
    """Of the places whose score is above 0 it takes those beyond the first, and their rows."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.score = nn.Linear(width, 1)

    def forward(self, x: Tensor) -> Tensor:
        above = torch.nonzero(self.score(x)[:, 0] > 0)
        beyond = above[above[:, 0] >= 1]
        return x[beyond[:, 0]]


@pytest.mark.parametrize(("told", "counts"), [({}, (9, 8)), ({"above_count": 4, "beyond_count": 2}, (4, 2))])
def test_what_is_chosen_of_what_was_chosen_is_a_size_too(
    recipe_from: Callable[..., Recipe], told: dict[str, int], counts: tuple[int, int]
) -> None:
    """A run that is told neither knows both: all places, and all but one of these."""
    recipe = recipe_from(
        Twice, lambda n: Twice(n.width), lambda n, maker: (maker.floats((n.rows, n.width)),), rows=9, width=8
    )
    trace, _ = run_measured(recipe, {"rows": 9, "width": 8, **told}, torch.float32, Widths(4, 4, 4))

    assert (*trace.data,) == ("above_count", "beyond_count")
    assert (*trace.data.values(),) == counts
    assert trace.calls[0].results.popitem()[1] == counts[1] * 8 * 4


def test_rows_of_a_mask_are_a_size(recipe_from: Callable[..., Recipe]) -> None:
    """What a boolean index keeps is as many rows as data says, named after what they become."""
    recipe = recipe_from(
        Masked,
        lambda n: Masked(n.width),
        lambda n, maker: (maker.floats((n.rows, n.width)),),
        rows=9,
        width=8,
    )

    said = parse("2 * {width} * (4 * {rows} + {width} * {kept_count})")
    assert pattern_of(recipe).summary.totals.flops == said


def test_whatever_is_not_zero_is_true() -> None:
    """Of whole numbers those that are chosen first are not 0, however large."""
    data = DataSizes(lambda name, hint, *said: hint)
    data.places = lambda frame: (Place(__file__, "forward", 1, 1, 0, 0),)
    counts = to_meta(torch.tensor([0, 256, 0, 512, 3, 1]))
    mark([counts])

    rows = data.rows(counts)

    assert rows is not None
    assert (shadow(rows) == torch.tensor([[1], [3]])).all()
    assert data.chosen == {"selected_count": 2}
