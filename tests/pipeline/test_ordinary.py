"""Entries are held against runs at ordinary sizes: what is wrong or missing is found and named."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from forwardbook.analyzers.derive.boundary import Boundary
from forwardbook.analyzers.derive.handed import Handed
from forwardbook.analyzers.instances.recipe import InputMaker, Inputs, Recipe, Sizes
from forwardbook.cli.app import build_app
from forwardbook.entries.cost_model import CostModel
from forwardbook.entries.record import Argument, Call, Entry, Name, Own, Proof, Regime
from forwardbook.entries.regimes import Regimes
from forwardbook.pipeline.ordinary import sample
from forwardbook.pipeline.ordinary.answers import Answer, Where, answers_of
from forwardbook.pipeline.ordinary.family import Family, Findings, places
from forwardbook.pipeline.ordinary.numbers import numbers_of
from forwardbook.pipeline.ordinary.run import EVERYWHERE, Place, run_at
from forwardbook.pipeline.ordinary.sample import NothingToDraw, drawn
from forwardbook.pipeline.ordinary.signatures import fits
from forwardbook.pipeline.ordinary.summary import summary
from forwardbook.workspace.entry_store import FOLDER, EntryStore

A, W = " * {a_dtype_bytes}", " * {w_dtype_bytes}"
ROWS = "{batch_size} * {seq_len}"


class Wide(torch.nn.Module):
    """A product with a matrix."""

    def __init__(self, in_width: int, out_width: int) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(out_width, in_width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.linear(x, self.weight)


class Tiny(torch.nn.Module):
    """A model of one of these."""

    def __init__(self, in_width: int, out_width: int) -> None:
        super().__init__()
        self.wide = Wide(in_width, out_width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.wide(x)  # type: ignore[no-any-return]


WIDE, TINY = f"{__name__}.Wide", f"{__name__}.Tiny"
NAMES = {
    "batch_size": "forward",
    "seq_len": "forward",
    "in_width": "constructor",
    "out_width": "constructor",
}
MATRIX = "{in_width} * {out_width}" + W
OWN = Own(
    flops=f"2 * {ROWS} * {{in_width}} * {{out_width}}",
    reads=f"{ROWS} * {{in_width}}{A} + {MATRIX}",
    writes=f"{ROWS} * {{out_width}}{A}",
    weights=MATRIX,
    weights_read=MATRIX,
    boundary=f"{ROWS} * ({{in_width}} + {{out_width}}){A}",
    states=(f"{ROWS} * {{out_width}}{A}",),
)
X = Argument(path="x", dtype="a", shape=("{batch_size}", "{seq_len}", "{in_width}"))
EXACT = Proof(verdict="exact")


def entry(full: str, *regimes: Regime, **names: str) -> Entry:
    """An entry with the usual names and others."""
    told = [Name.model_validate({"name": name, "source": one}) for name, one in (NAMES | names).items()]
    return Entry(
        full_class_name=full,
        library=full.partition(".")[0],
        file="toy.py",
        line_start=1,
        line_end=9,
        source_hash="",
        engine="",
        names=tuple(told),
        regimes=regimes,
        verdict="exact" if regimes else "unproved",
        reason="" if regimes else "it differs",
    )


def regime(own: Own = OWN, **fields: object) -> Regime:
    """A regime with the one argument."""
    given = {"name": "default", "signature": "default", "arguments": (X,), "own": own, "proof": EXACT}
    return Regime.model_validate(given | fields)


def build(sizes: Sizes) -> torch.nn.Module:
    """The model at sizes."""
    return Tiny(sizes("in_width", 8), sizes("out_width", 5))


def inputs(sizes: Sizes, module: torch.nn.Module, maker: InputMaker) -> Inputs:
    """Its input."""
    return (maker.floats((sizes("batch_size", 3), sizes("seq_len", 17), 8)),), {}


RECIPE = Recipe(TINY, "tests", build, inputs)


def answers(one: Entry, wanted: str = WIDE, at: tuple[Place, ...] = EVERYWHERE) -> Iterator[Answer]:
    """What a store of one entry answers at points of the model."""
    model = CostModel({"toy": one})
    for place in at:
        run = run_at(RECIPE, {}, place)
        yield from answers_of(run, Where(TINY, "default", place), model, {wanted})


def test_right_formulas_equal_runs_everywhere() -> None:
    """At each of 24 points all quantities are those of the run."""
    found = list(answers(entry(WIDE, regime())))

    assert [("equal", "")] * 24 == [(one.state, one.reason) for one in found]


def test_a_wrong_formula_is_found_and_named() -> None:
    """3 operations a product where there are 2: 3 * 2 * 16 * 8 * 5 instead of 2 * 2 * 16 * 8 * 5."""
    wrong = OWN.model_copy(update={"flops": OWN.flops.replace("2", "3", 1)})
    [one] = answers(entry(WIDE, regime(wrong)), at=(Place(2, 16, 2),))

    assert ("unequal", {"flops": (3840, 2560)}) == (one.state, one.unequal)
    assert {"batch_size": 2, "seq_len": 16, "in_width": 8, "out_width": 5}.items() <= one.sizes.items()


def test_a_wrong_call_is_found_in_its_caller() -> None:
    """The model hands half the width on."""
    wide, bindings = entry(WIDE, regime()), {name: f"{{{name}}}" for name in (*NAMES, "a_dtype_bytes")}
    bindings |= {"w_dtype_bytes": "{w_dtype_bytes}", "out_width": "2 * {out_width}"}
    call = Call(line=1, attribute="wide", entry="wide", signature="default", bindings=bindings)
    tiny = entry(TINY, regime(Own(boundary=OWN.boundary), calls=(call,)))
    model, place = CostModel({"wide": wide, "tiny": tiny}), Place(1, 1, 4)
    where = Where(TINY, "default", place)
    found = {
        one.full_class_name: one for one in answers_of(run_at(RECIPE, {}, place), where, model, {TINY, WIDE})
    }

    assert ("equal", "unequal") == (found[WIDE].state, found[TINY].state)
    assert (160, 80) == found[TINY].unequal["flops"]


def test_where_no_regime_holds_there_is_no_answer() -> None:
    """One that is for two positions on has none for one, and the condition is told."""
    one, two = answers(
        entry(WIDE, regime(conditions=("{seq_len} >= 2",))), at=(Place(1, 1, 2), Place(1, 16, 2))
    )

    assert ("unanswered", "equal") == (one.state, two.state)
    assert "seq_len must be at least 2, but is 1" in one.reason


def test_a_name_that_nothing_tells_is_no_answer() -> None:
    """Neither constructor nor shapes say `depth`."""
    deep = OWN.model_copy(update={"intermediates": "{depth}"})
    [one] = answers(entry(WIDE, regime(deep), depth="attribute"), at=(Place(1, 1, 2),))

    assert ("unanswered", "nothing tells depth") == (one.state, one.reason)


def test_a_class_without_formulas_is_no_answer() -> None:
    """It counts, and says why it has none."""
    [one] = answers(entry(WIDE), at=(Place(1, 1, 2),))

    assert ("unanswered", "it has no formulas: it differs") == (one.state, one.reason)


def test_a_call_that_no_signature_is_has_no_answer() -> None:
    """The entry knows flat inputs alone."""
    flat = X.model_copy(update={"shape": ("{seq_len}", "{in_width}")})
    [one] = answers(entry(WIDE, regime(arguments=(flat,))), at=(Place(1, 1, 2),))

    assert ("unanswered", True) == (one.state, "x has 3 dimensions, not 2" in one.reason)


def test_signatures_that_choices_do_not_tell_apart_give_no_answer() -> None:
    """One of the two equals the run, and nobody can say which; where both are equal there is an answer."""
    wrong = OWN.model_copy(update={"flops": "1"})
    other = {"signature": "b", "name": "b"}
    [one] = answers(entry(WIDE, regime(), regime(wrong, **other)), at=(Place(1, 1, 2),))
    [two] = answers(entry(WIDE, regime(), regime(**other)), at=(Place(1, 1, 2),))

    assert ("unanswered", "equal") == (one.state, two.state)
    assert one.reason.endswith("'default', 'b'")


def test_an_argument_of_a_fixed_format_is_that_in_any_run() -> None:
    """Weights of experts are float32 where all else is, too."""
    boundary = Boundary(Wide, Handed.of({}), Handed.of({"x": torch.empty(4)}), torch.float32)
    fixed = Argument(path="x", dtype="float32", shape=("{seq_len}",))
    known = {"toy": entry(WIDE, regime(Own(flops="{seq_len}"), arguments=(fixed,)))}
    [one] = fits(Regimes(known), "toy", boundary, {})

    assert ((), 4) == (one.differs, one.sizes["seq_len"])


def test_of_a_cache_the_layer_of_the_call_is_read() -> None:
    """The one of the layer before is longer by then."""
    handed = Handed.of({"cache": [torch.empty(5), torch.empty(4)]})
    boundary = Boundary(Wide, Handed.of({"layer_idx": 1}), handed)
    cache = Argument(path="cache.*", dtype="a", shape=("{past_len}",))
    own = Own(reads="{past_len}")
    known = {"toy": entry(WIDE, regime(own, arguments=(cache,)), past_len="forward")}
    [one] = fits(Regimes(known), "toy", boundary, {})

    assert ({"past_len": 4}, ()) == (one.sizes, one.differs)


def test_the_signature_whose_choices_a_call_has_is_first() -> None:
    """The other one says `bias=True`."""
    boundary = Boundary(Wide, Handed.of({"bias": False}), Handed.of({}))
    told = [("a", {"bias": True}), ("b", {}), ("c", {"bias": False})]
    regimes = [regime(Own(), arguments=(), signature=name, name=name, choices=one) for name, one in told]
    found = fits(Regimes({"toy": entry(WIDE, *regimes)}), "toy", boundary, {})

    assert ["c", "b", "a"] == [one.signature.name for one in found]
    assert [0, 0, 1] == [len(one.differs) for one in found]


def test_a_choice_that_another_signature_says_is_not_one_of_this() -> None:
    """The first signature is without a bias: of a call with one it is less likely than one that says so."""
    boundary = Boundary(Wide, Handed.of({"bias": True, "act": "silu"}), Handed.of({}))
    told = [("a", {}), ("b", {"bias": True})]
    regimes = [regime(Own(), arguments=(), signature=name, name=name, choices=one) for name, one in told]
    found = fits(Regimes({"toy": entry(WIDE, *regimes)}), "toy", boundary, {})

    assert [("b", ()), ("a", ("bias is True",))] == [(one.signature.name, one.unsaid) for one in found]


def test_how_a_tensor_is_at_these_sizes_is_no_choice_of_its_call() -> None:
    """With one sample of one token it is 1 along both, and still the call with a bias."""
    handed = Handed.of({"x": torch.empty(1, 1, 8)})
    boundary = Boundary(Wide, Handed.of({"bias": True, "in_width": 8}), handed)
    told = [("a", {}), ("b", {"x": "3-D, 1 along 0 and 1"}), ("c", {"bias": True})]
    regimes = [regime(Own(), signature=name, name=name, choices=one) for name, one in told]
    found = fits(Regimes({"toy": entry(WIDE, *regimes)}), "toy", boundary, {})

    assert [("c", ()), ("b", ("bias is True",))] == [(one.signature.name, one.unsaid) for one in found[:2]]


def test_a_process_that_dies_costs_its_own_family_alone() -> None:
    """A folder that is none ends one of two; both are told of."""
    known = [Family("x", ("x.A",), folders=(Path("/dev/null"),), seconds=5.0), Family("y", (), seconds=5.0)]
    found = {one.family: one for one in sample._spread(known, 2)}

    assert {"x", "y"} == found.keys()
    assert found["x"].unreached


def test_numbers_are_called_by_the_last_word_of_their_path() -> None:
    """Different ones of a word have numbers, equal ones do not."""
    numbers = numbers_of(
        {"text": {"width": 3}, "image": {"width": 4, "sizes": [7, 8]}, "other": {"width": 3}}
    )

    assert ((3, 4), (4, 3), (8,), ()) == tuple(map(numbers.of, ("width", "width_2", "sizes_1", "height")))


def test_points_are_as_many_as_a_recipe_tells_apart() -> None:
    """3 batches, 4 lengths, 2 widths; without a length 3 * 2; of 128 positions 18, in a cache 12."""
    asked = frozenset({"batch_size", "seq_len"})

    assert 24 == len(list(places(asked, None)))
    assert 6 == len(images := list(places(asked - {"seq_len"}, None)))
    assert {0} == {one.tokens for one in images}
    assert 18 == len(list(places(asked, 128)))
    assert 12 == len(list(places(asked | {"kv_len"}, 128)))


def test_figures_are_those_of_all_families() -> None:
    """Counted by hand: 2 of 3 points of two called classes are answered, 1 of these is equal."""
    where = Where(TINY, "default", Place(1, 16, 2))
    equal = Answer("x.A", where, "equal")
    wrong = Answer("x.A", where, "unequal", unequal={"flops": (3, 2)})
    none = Answer("x.B", where, "unanswered", "no regime holds: n must be 2, but is 1")
    found = [Findings("x", [equal, wrong], runs=2), Findings("y", [none], runs=1, unreached={"x.C": "lost"})]
    total = summary(["x.A", "x.B", "x.C"], found)

    assert (3, 2, 0, 3) == (total.drawn, total.called, total.always_equal, total.runs)
    assert (3, 2, 1) == (total.points, total.answered, total.equal)
    assert ((wrong,), {"x.C": "lost"}) == (total.unequal, total.unreached)
    assert [(1, 1, "x.B")] == [(w.points, w.classes, w.example.full_class_name) for w in total.unanswered]


def test_classes_are_drawn_from_the_seed() -> None:
    """The same seed draws the same; without entries nothing can be drawn."""
    names = [f"x.C{number}" for number in range(50)]

    assert drawn(names, 5, 3) == drawn(names[::-1], 5, 3)
    assert drawn(names, 5, 3) != drawn(names, 5, 4)
    with pytest.raises(NothingToDraw):
        drawn([], 5, 3)


@pytest.mark.parametrize(("state", "code"), [("equal", 0), ("unanswered", 0), ("unequal", 1)])
def test_the_command_ends_with_1_where_an_answer_is_not_equal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: str, code: int
) -> None:
    """What has no answer is told and is no error."""
    EntryStore(tmp_path / FOLDER).save({"toy": entry(WIDE, regime())})
    (tmp_path / "module_db.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    unequal = {"flops": (3, 2)} if state == "unequal" else {}
    one = Answer(WIDE, Where(TINY, "default", Place(1, 16, 2)), state, unequal=unequal)  # type: ignore[arg-type]
    monkeypatch.setattr(sample, "each_family", lambda *_: iter([Findings("toy", [one], runs=1)]))
    library = WIDE.partition(".")[0]
    words = ["coverage", "--ordinary", "--library", library, "--sample", "1"]
    done = CliRunner().invoke(build_app(), [*words, "--json"])

    assert code == done.exit_code
    assert 1 == json.loads(done.stdout)["points"]
    assert code == CliRunner().invoke(build_app(), words).exit_code
