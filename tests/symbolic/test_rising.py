"""Over a count of layers the peak is that of a run with so many, whatever was largest in those with few."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic import rising
from forwardbook.analyzers.symbolic.divisible import told
from forwardbook.analyzers.symbolic.growth import growing
from forwardbook.analyzers.symbolic.loops import counted, without_loops
from forwardbook.analyzers.symbolic.patterns import patterns
from forwardbook.analyzers.symbolic.recorder import Widths
from forwardbook.analyzers.symbolic.rising import are_peaks_of, rising_peaks
from forwardbook.analyzers.symbolic.run import run_measured, run_symbolically
from forwardbook.analyzers.symbolic.summary import Summary, summarise
from forwardbook.cost import Cost
from forwardbook.formula import Condition, Expr

SIZES = [
    {"rows": rows, "width": width, "inner": inner, "layers": layers}
    for rows, width, inner in ((1, 1, 1), (2, 90, 3), (3, 5, 70), (70, 4, 2), (5, 40, 41))
    for layers in (2, 3, 5, 17)
]


class Collecting(nn.Module):
    """Layers whose results are kept, and put together at the end: with many of them that is the peak."""

    def __init__(self, width: int, inner: int, layers: int) -> None:
        super().__init__()
        self.up = nn.ModuleList([nn.Linear(width, inner, bias=False) for _ in range(layers)])
        self.down = nn.ModuleList([nn.Linear(inner, width, bias=False) for _ in range(layers)])

    def forward(self, x: Tensor) -> Tensor:
        kept = []
        for up, down in zip(self.up, self.down, strict=True):
            wide = up(x)
            x = down(wide * wide.exp())
            kept.append(x)
        return torch.cat(kept, dim=1)


class Marked(Collecting):
    """As many marks of each row are kept as well: with two layers less lives when all is put together."""

    def forward(self, x: Tensor) -> Tensor:
        kept, marks = [], []
        for up, down in zip(self.up, self.down, strict=True):
            x = down(up(x))
            kept.append(x)
            marks.append(x.argmax(dim=1))
        together = torch.stack(marks, dim=1)
        return torch.cat(kept, dim=1) * together.sum()


@pytest.mark.parametrize("kind", [Collecting, Marked])
def test_peak_over_layers_is_that_of_a_run(
    recipe_from: Callable[..., Recipe], kind: type[Collecting]
) -> None:
    """At every shape and number of layers, also many more than were run, it is what a measured run says."""
    recipe = recipe_from(
        kind,
        lambda n: kind(n.width, n.inner, n.layers),
        lambda n, maker: (maker.floats((n.rows, n.width)),),
        rows=5,
        width=8,
        inner=7,
        layers=3,
    )
    found = patterns(run_symbolically(recipe), recipe.calls_as)[:1]

    [pattern] = without_loops(recipe, torch.float32, found, {"layers": counted(2)})

    assert pattern is not None
    formula = Expr.of(pattern.summary.quantities()["peak"])
    for sizes in SIZES:
        trace, _ = run_measured(recipe, sizes, torch.float32, Widths(4, 4, 4))
        widths = {"w_dtype_bytes": 4, "a_dtype_bytes": 4, "kv_dtype_bytes": 4}
        measured = summarise(trace, trace.calls[0], {}).quantities()["peak"]
        assert measured == formula.evaluate({**sizes, **widths}), sizes


def seen(peaks: list[Expr], others: list[Expr]) -> Summary:
    """What a run tells: states that may be its peak, and others that it had."""
    none = Expr.const(0)
    return Summary(Cost.zero(), none, none, none, tuple(peaks), (), 0, (*peaks, *others))


def at(layers: int) -> tuple[Expr, Expr, Expr]:
    """In a layer; when all is put together; and, of few layers, beside it."""
    kept, rows = Expr.symbol("kept"), Expr.symbol("rows")
    return (
        kept * (layers + 1) + rows * 3,
        kept * (2 * layers) + rows * (layers + 1),
        kept * (2 * layers + 1) + rows * layers,
    )


LAYERS, KEPT, ROWS = (Expr.symbol(name) for name in ("layers", "kept", "rows"))
BOTH = {KEPT * (LAYERS + 1) + ROWS * 3, KEPT * LAYERS * 2 + ROWS * (LAYERS + 1)}


def of_many(*counts: int) -> dict[int, Summary]:
    """Runs whose peaks are in a layer, and where all is put together."""
    return {n: seen(list(at(n)[:2]), []) for n in counts}


def test_a_peak_of_many_layers_need_not_be_one_of_few() -> None:
    """With two layers it was taken for none; those with more have it, and that with two had it as well."""
    runs = of_many(3, 4, 5)
    inside, together, _ = at(2)
    runs[2] = seen([inside], [together])

    assert BOTH <= set(rising_peaks({"layers": runs}, held_out=1) or ())


def test_a_line_through_states_that_have_nothing_in_common_is_none() -> None:
    """Three wide rows and two inner ones, four and one, five and none: with twelve layers less than none."""
    wide, inner = Expr.symbol("wide"), Expr.symbol("inner")
    states = [wide * 3 + inner * 2, wide * 4 + inner, wide * 5]
    runs = {n: seen(states, []) for n in (2, 3, 4)}

    assert set(states) == set(rising_peaks({"layers": runs}, held_out=1) or ())


def test_what_grows_stays_with_sizes_that_are_less_a_number_or_rounded() -> None:
    """Rows less a window, and patches of an image, are none at some sizes and never fewer."""
    rows, image, patch = (Expr.symbol(name) for name in ("rows", "image", "patch"))
    patches = (image - patch) // Expr.symbol("stride") + 1
    states = [LAYERS * (rows - 3) * KEPT, LAYERS * (patches - 1) * KEPT + rows, LAYERS * (-(-image // patch))]

    assert states == growing(states, ["layers"])
    assert [] == growing([LAYERS * (rows - KEPT) * patches], ["layers"])


def test_a_peak_of_few_layers_alone_gives_none() -> None:
    """With two another state is larger, which no more layers have: the others hold from three on."""
    inside, together, beside = at(2)
    few = seen([beside, inside], [together])

    assert rising_peaks({"layers": {2: few, **of_many(3, 4, 5)}}, held_out=1) is None
    assert BOTH <= set(rising_peaks({"layers": of_many(3, 4, 5, 6)}, held_out=1) or ())


def test_peaks_over_counts_are_held_against_a_run() -> None:
    """They are those of three layers, and not those of two with a state more, or without one of theirs."""
    few = seen([at(2)[2], at(2)[0]], [at(2)[1]])
    [three] = of_many(3).values()
    fewer = seen([at(3)[0]], [])

    assert are_peaks_of(sorted(BOTH, key=str), {"layers": 3}, three, {})
    assert not are_peaks_of(sorted(BOTH, key=str), {"layers": 2}, few, {})
    assert not are_peaks_of(sorted(BOTH, key=str), {"layers": 3}, fewer, {})


def test_a_state_that_no_size_of_a_class_makes_the_largest_is_no_peak() -> None:
    """A width of less than 4 would be needed, and it is a multiple of 8."""
    width, rows = Expr.symbol("width"), Expr.symbol("rows")
    wide, narrow = width * rows, rows * 4
    run = seen([wide, narrow], [])
    said = told([Condition.parse("{width} % 8 == 0")])

    assert not are_peaks_of([wide], {"layers": 1}, run, {})
    assert are_peaks_of([wide], {"layers": 1}, run, said)


def test_a_peak_of_many_layers_that_nothing_explains_gives_none() -> None:
    """A state that is the peak of the run with most layers alone is not left out."""
    runs = {n: seen([at(n)[0]], []) for n in (2, 3, 4)}
    runs[5] = seen([at(5)[0], Expr.symbol("kept") * Expr.symbol("kept")], [])

    assert rising_peaks({"layers": runs}, held_out=1) is None


def test_of_more_states_than_a_formula_can_name_those_stay_that_can_be_the_largest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One that another always exceeds goes; where none is known to win, each peak of a run keeps its own."""
    small = {n: Expr.symbol("rows") * n for n in (3, 4, 5, 6)}
    runs = {n: seen([*at(n)[:2], small[n]], []) for n in small}
    all_of_them = {*BOTH, ROWS * LAYERS}

    assert all_of_them <= set(rising_peaks({"layers": runs}, held_out=1) or ())
    monkeypatch.setattr(rising, "MAX_ARGUMENTS", 2)
    assert set(rising_peaks({"layers": runs}, held_out=1) or ()) == BOTH
    monkeypatch.setattr(rising, "contenders", lambda states, hints: [])
    assert BOTH <= set(rising_peaks({"layers": runs}, held_out=1) or ()) <= all_of_them
