"""Stored formulas are measured again at larger sizes: right ones are equal, a wrong one is named."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from torch import nn

from forwardbook.analyzers.symbolic.trace import CallRecord, Trace
from forwardbook.pipeline.catalogue.copies import whole
from forwardbook.pipeline.child.job import Limits
from forwardbook.pipeline.child.request import Request, Response
from forwardbook.pipeline.derivation.places import general
from forwardbook.pipeline.reprove import held, narrowing
from forwardbook.pipeline.reprove.again import (
    AGAIN,
    LATE,
    PATIENT,
    SECONDS,
    EntryAgain,
    Reproof,
    reprove,
)
from forwardbook.pipeline.reprove.held import Again
from forwardbook.pipeline.reprove.stored_regimes import StoredRegime
from forwardbook.pipeline.reprove.work import work
from forwardbook.saying import KEPT, TOLD
from forwardbook.schema import WIDTH_NAMES, Entry
from forwardbook.workspace import Database, Workspace

from .reproofs import again

Make = Callable[..., Entry]
SHIPPED = Workspace(Path(__file__).resolve().parent.parent.parent).load()


def changed(entry: Entry, quantity: str, formula: str) -> Entry:
    """The entry with another total, and the same in its first line."""
    regimes = []
    for one in entry.regimes:
        flops = one.flop_analysis
        lines = (flops.lines[0].model_copy(update={quantity: formula}), *flops.lines[1:])
        analysis = flops.model_copy(update={quantity: formula, "lines": lines})
        regimes.append(one.model_copy(update={"flop_analysis": analysis}))
    return entry.model_copy(update={"regimes": tuple(regimes)})


@pytest.mark.parametrize("key", ["torch_Linear", "torch_Conv2d", "torch_GRU"])
def test_right_formulas_are_equal_at_sizes_ten_times_larger(key: str) -> None:
    """Every regime is met, at sizes several times those of its proof."""
    found = again(whole(SHIPPED, key))

    assert "equal" == found.state
    assert {"equal"} == {one.state for one in found.regimes}
    assert all(one.points >= 1 for one in found.regimes)
    assert max(one.times for one in found.regimes) > 5


@pytest.mark.slow
def test_sizes_of_data_are_chosen_where_a_regime_names_them() -> None:
    """What hangs on how many experts have tokens, and how many each, is right at numbers of both."""
    entry = whole(SHIPPED, "transformers_DbrxExperts")
    found = again(entry)

    assert (entry.validation.verdict, found.state) == ("bounded", "equal")
    for one in found.regimes:
        assert {"expert_hit_count", "token_idx_count"} <= one.sizes.keys()


@pytest.mark.parametrize(
    "formula",
    [
        "2 * {batch_size} * {in_features} * {out_features} + 1",
        "2 * {batch_size} * {in_features} * min({out_features}, 40)",
    ],
)
def test_a_wrong_formula_is_named(formula: str) -> None:
    """One off, and one that is right at small sizes only: the line, both numbers and the sizes are told."""
    entry = changed(SHIPPED["torch_Linear"], "flops", formula)
    found = again(entry.model_copy(update={"regimes": entry.regimes[:1]}))
    [regime] = found.regimes

    assert "different" == found.state
    assert any(text.startswith("total, flops: stored") for text in regime.differences)
    assert any(text.startswith("line ") for text in regime.differences)
    assert {"batch_size", "in_features", "out_features"} <= regime.sizes.keys()


def test_a_copy_is_held_against_the_lines_of_another_class() -> None:
    """The formulas of a copy are its holder's, whose lines are elsewhere, in the same order."""
    holder = SHIPPED["torch_ReLU"]
    moved = holder.regimes[0].flop_analysis.lines[0].model_copy(update={"line": 7, "end_line": 7})
    flops = holder.regimes[0].flop_analysis.model_copy(update={"lines": (moved,)})
    memory_line = holder.regimes[0].memory_analysis.lines[0].model_copy(update={"line": 7, "end_line": 7})
    memory = holder.regimes[0].memory_analysis.model_copy(update={"lines": (memory_line,)})
    regime = holder.regimes[0].model_copy(update={"flop_analysis": flops, "memory_analysis": memory})

    alone = again(holder.model_copy(update={"regimes": (regime,)}))
    copy = again(holder.model_copy(update={"regimes": (regime,), "same_as": "torch_Other"}))

    assert ("different", "equal") == (alone.state, copy.state)


def test_a_class_that_cannot_be_called_is_not_measured(make_entry: Make) -> None:
    """It is neither equal nor different, and the reason is told."""
    found = again(make_entry())

    assert "unmeasured" == found.state
    assert found.reason


def test_a_process_that_dies_costs_its_entry_alone(make_entry: Make, tmp_path: Path) -> None:
    """Entries of a family share a process; where it ends before, each gets one of its own."""
    entries = {f"toy_{name}": make_entry(name) for name in ("A", "B", "C")}
    database = Database({key: entry.model_dump(mode="json") for key, entry in entries.items()})
    asked: list[list[str]] = []

    def run(request: Request, limits: Limits, worker: str) -> Response:
        asked.append(list(request.stored))
        if "toy_B" in request.stored:
            return Response(problem="analysing: its process died\n  at line 3", problem_kind="crash")
        told = [EntryAgain(key=key, full_class_name=key).model_dump(mode="json") for key in request.stored]
        return Response(diagnostics={AGAIN: told})  # type: ignore[dict-item]

    found = list(reprove(sorted(entries), database, Reproof(1, run=run), tmp_path))

    assert [["toy_A", "toy_B", "toy_C"], ["toy_A"], ["toy_B"], ["toy_C"]] == asked
    assert ["", "toy.layers.B: its process ended before it answered", ""] == [
        one.reason for one in sorted(found, key=lambda o: o.key)
    ]


def test_what_was_only_read_is_not_run(make_entry: Make, tmp_path: Path) -> None:
    """Nothing is measured of it, for the reason that is told."""
    entries = {
        "toy_B": make_entry("B", derived_by=("static",)),
        "toy_C": make_entry("C", regimes=()),
    }
    database = Database({key: entry.model_dump(mode="json") for key, entry in entries.items()})

    found = list(reprove(sorted(entries), database, Reproof(1), tmp_path))

    assert ["never run", "no formulas"] == [
        next(text for text in ("never run", "no formulas") if text in one.reason) for one in found
    ]


@pytest.mark.parametrize(
    ("name", "scenario", "belongs"),
    [
        ("default", "default", True),
        ("default 2", "default", True),
        ("default, seq_len == 1", "default", True),
        ("decode", "default", False),
        ("default decode", "default", False),
    ],
)
def test_a_regime_belongs_to_the_scenario_of_its_name(
    make_entry: Make, name: str, scenario: str, belongs: bool
) -> None:
    """A number or a condition may follow the scenario, another word may not."""
    regime = make_entry().regimes[0].model_copy(update={"name": name})

    assert belongs == StoredRegime(regime).belongs_to(scenario)


def test_places_in_lists_are_left_open() -> None:
    """A path in a model is as contexts of regimes say it."""
    assert "layers.*.experts.*.up" == general("layers.3.experts.12.up")
    assert "stage1.conv" == general("stage1.conv")


def test_a_stored_copy_is_measured_as_a_copy(tmp_path: Path) -> None:
    """Of a copy the child is told whose lines it has, though it gets the formulas with it."""
    key = next(key for key in SHIPPED if SHIPPED[key].same_as is not None)
    told: list[dict[str, object]] = []

    def run(request: Request, limits: Limits, worker: str) -> Response:
        told.extend(request.stored.values())  # type: ignore[arg-type]
        return Response(problem="no more is asked")

    list(reprove([key], SHIPPED, Reproof(1, run=run), tmp_path))

    assert {SHIPPED[key].same_as} == {one["same_as"] for one in told}
    assert all(one["regimes"] for one in told)


def test_classes_that_become_the_same_are_measured_apart() -> None:
    """A lazy norm becomes the plain class when it is first called, and is built in another way."""
    keys = ("torch_InstanceNorm1d", "torch_LazyInstanceNorm1d")
    stored = {key: whole(SHIPPED, key).model_dump(mode="json") for key in keys}
    request = Request(target=keys[0], seed=3, scale=10, budget=120, stored=stored)

    found = work(request).diagnostics[AGAIN]

    assert ["equal", "equal"] == [EntryAgain.model_validate(one).state for one in found]  # type: ignore[union-attr]


def test_a_regime_speaks_of_calls_that_were_given_what_it_says(make_entry: Make) -> None:
    """A call with other inputs is another; where nothing is known, and of a copy, all in its place count."""
    known = make_entry().regimes[0].model_copy(update={"context": "called as mlp", "given": ("x, mask", "x")})
    unknown = known.model_copy(update={"given": ()})
    calls = [
        CallRecord(0, nn.Identity(), path, -1, (), 0, given=told)
        for path, told in (("mlp", "x"), ("mlp", "x, positions"), ("norm", "x"), ("mlp", "x, mask aliases x"))
    ]

    assert [True, False, False, True] == [StoredRegime(known).speaks_of(one) for one in calls]
    assert [True, True, False, True] == [StoredRegime(unknown).speaks_of(one) for one in calls]
    assert [True, True, False, True] == [StoredRegime(known, is_copy=True).speaks_of(one) for one in calls]


def test_a_regime_speaks_of_modules_that_were_told_what_it_says(make_entry: Make) -> None:
    """One that masks says nothing of one that does not, though both have one config."""
    told = make_entry().regimes[0].model_copy(
        update={"context": "called as layers.*", "assumptions": (f"{TOLD}is_causal=True",)}
    )
    built = ((), ("is_causal=True", "b=1"))
    calls = [CallRecord(0, nn.Identity(), "layers.0", -1, (), 0, told=one) for one in built]

    assert [False, True] == [StoredRegime(told).speaks_of(one) for one in calls]


def test_a_regime_speaks_of_modules_that_keep_what_it_says(make_entry: Make) -> None:
    """One of full attention says nothing of a layer with a window, nor of one that has no kinds."""
    said = {"context": "called as layers.*", "assumptions": (f"{KEPT}layer_type=full",)}
    full = make_entry().regimes[0].model_copy(update=said)
    modules = [nn.Identity(), nn.Identity(), nn.Identity()]
    modules[0].layer_type, modules[1].layer_type = "full", "sliding"  # type: ignore[assignment]
    calls = [CallRecord(0, module, "layers.0", -1, (), 0) for module in modules]

    assert [True, False, False] == [StoredRegime(full).speaks_of(one) for one in calls]


def test_what_a_run_guessed_of_data_is_no_measurement_of_a_regime_that_says_nothing_of_it(
    make_entry: Make,
) -> None:
    """A mask too large for its values to be followed is guessed; routing is the same in both runs.

    A regime that guessed says nothing of a run which knows the values.
    """
    guess, routing = "the value of a bool scalar (item)", "balanced routing: indices of topk go round robin"
    regime = make_entry().regimes[0]

    assert [guess] == StoredRegime(regime).guessed([guess, routing])
    guessing = StoredRegime(regime.model_copy(update={"assumptions": (guess,)}))
    assert [] == guessing.guessed([guess, routing])
    assert [guess] == guessing.guessed([routing])


def test_a_regime_gives_no_number_where_its_formula_divides_by_zero(make_entry: Make) -> None:
    """Where a total has no value the regime does not hold; where it has one it does."""
    regime = make_entry().regimes[0].model_copy(update={"conditions": ()})
    analysis = regime.flop_analysis.model_copy(update={"flops": "floor({dim} / floor({dim} / {ratio}))"})
    one = StoredRegime(regime.model_copy(update={"flop_analysis": analysis}))
    others = dict.fromkeys((*one.names, *WIDTH_NAMES), 4)

    assert one.holds({**others, "dim": 12, "ratio": 4})
    assert not one.holds({**others, "dim": 3, "ratio": 4})


def test_images_of_a_stated_size_are_part_of_what_a_regime_holds_for(make_entry: Make) -> None:
    """Entries of before these were symbols say what they are: other images are none of theirs."""
    said = "images of 224 by 160 pixels, which no field of its config says"
    regime = make_entry().regimes[0].model_copy(update={"assumptions": (said,), "conditions": ()})
    one = StoredRegime(regime)
    sizes = dict.fromkeys(one.names, 2) | dict.fromkeys(WIDTH_NAMES, 4)
    assert one.holds(sizes)
    assert one.holds({**sizes, "image_height": 224, "image_width": 160})
    assert not one.holds({**sizes, "image_height": 224, "image_width": 224})


def test_a_regime_is_not_held_against_a_model_of_another_config(make_entry: Make) -> None:
    """One without an adapter says nothing of a model with one; a module without config may be of any."""
    said = ("a config with add_adapter=false", "built with rope_scaling=None", "the mask has no holes")
    one = StoredRegime(make_entry().regimes[0].model_copy(update={"assumptions": said}))

    assert [] == one.of_another_config([*said[:2], 'a config with hidden_act="gelu"'])
    assert [said[0]] == one.of_another_config(["a config with add_adapter=true", said[1]])
    assert [said[1]] == one.of_another_config([said[0]])
    assert [] == one.of_another_config([])


def _in_places(entry: Entry, *places: str) -> Again:
    """The entry with a regime of calls in each of the places, by `default` and `default 2`."""
    regimes = tuple(
        entry.regimes[0].model_copy(
            update={"name": name, "context": f"called as {place}", "given": (), "conditions": ()}
        )
        for name, place in zip(("default", "default 2"), places, strict=False)
    )
    return Again("key", entry.model_copy(update={"regimes": regimes}))


def _held(found: Again, monkeypatch: pytest.MonkeyPatch, calls: Mapping[str, str]) -> bool:
    """Whether every regime is decided by a run of calls, each as one regime or none says it is."""
    run = [CallRecord(i, nn.Identity(), path, -1, (), 0) for i, path in enumerate(calls)]
    monkeypatch.setattr(held, "calls_of", lambda trace, target: run)
    monkeypatch.setattr(held, "summarise", lambda trace, call, names: calls[call.path])
    monkeypatch.setattr(StoredRegime, "differences", lambda self, name, _: [""] * (name != self.regime.name))
    sizes = dict.fromkeys((*found.regimes[0].names, *WIDTH_NAMES), 4)
    return all(found.hold(one, Trace(), "layer", sizes) for one in found.regimes)


def test_a_call_among_many_in_one_place_is_looked_for_until_it_is_found(
    make_entry: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Calls that nothing explains come first: the regime whose call is the sixth of thirty is right yet."""
    found = _in_places(make_entry(), "layers.*")

    assert _held(found, monkeypatch, {f"layers.{i}": "default" if i == 5 else "" for i in range(30)})
    assert "uncovered" == found.result("").state


def test_a_call_in_a_place_of_two_regimes_is_explained_by_either(
    make_entry: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One is of calls in one place only, the other of calls there and elsewhere."""
    found = _in_places(make_entry(), "layers.*.second", "layers.*.first, layers.*.second")
    calls = {"layers.0.second": "default", "layers.1.first": "default 2", "layers.1.second": "default 2"}

    assert _held(found, monkeypatch, calls)
    assert "equal" == found.result("").state


def test_a_copy_is_held_against_calls_in_the_places_of_its_own_model(
    make_entry: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its model names layers otherwise: a call there may be one of the regime; of a holder it is none."""
    copy = _in_places(make_entry(same_as="toy_holder"), "encoder.layers.*")
    holder = _in_places(make_entry(), "encoder.layers.*")
    calls = {"encoder.layer.0": "default", "decoder.layer.0": "another"}

    assert _held(copy, monkeypatch, calls)
    assert not _held(holder, monkeypatch, calls)
    assert ("equal", "unmeasured") == (copy.result("").state, holder.result("").state)


def test_a_copy_that_no_call_of_its_model_is_like_is_different(
    make_entry: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Places that differ excuse nothing where every number does."""
    copy = _in_places(make_entry(same_as="toy_holder"), "encoder.layers.*")

    assert _held(copy, monkeypatch, {"encoder.layer.0": "another"})
    assert "different" == copy.result("").state


@pytest.mark.slow
def test_a_class_within_a_part_that_was_called_by_itself_is_reached_through_that_part() -> None:
    """The model calls neither; a regime of such a part says so in its name."""
    entry = whole(SHIPPED, "transformers_DeepseekVLHybridLayerNorm")
    assert {"DeepseekVLSamVisionNeck"} == {StoredRegime(one).part for one in entry.regimes}

    assert "equal" == again(entry).state


def test_what_came_too_late_among_its_family_is_measured_again_by_itself(
    make_entry: Make, tmp_path: Path
) -> None:
    """The process of a family has so much time; an entry that it does not suffice for gets more, alone."""
    entries = {f"toy_{name}": make_entry(name) for name in ("A", "B")}
    database = Database({key: entry.model_dump(mode="json") for key, entry in entries.items()})
    asked: list[tuple[list[str], float]] = []

    def run(request: Request, limits: Limits, worker: str) -> Response:
        asked.append((list(request.stored), request.budget))
        late = [
            EntryAgain(key=key, full_class_name=key, reason=LATE if key == "toy_B" else "it is not called")
            for key in request.stored
        ]
        told = [one.model_dump(mode="json") for one in late]
        return Response(diagnostics={AGAIN: told})  # type: ignore[dict-item]

    found = list(reprove(sorted(entries), database, Reproof(1, run=run), tmp_path))

    assert [(["toy_A", "toy_B"], SECONDS), (["toy_B"], PATIENT)] == asked
    assert ["toy_A", "toy_B"] == [one.key for one in found]


@pytest.mark.slow
def test_models_with_equal_sizes_and_different_configs_are_run_apart() -> None:
    """One layer is reached by another norm than the default: its run says nothing of the default's model."""
    keys = ["transformers_SEWLayerNormConvLayer", "transformers_SEWModel"]
    stored = {key: whole(SHIPPED, key).model_dump(mode="json") for key in keys}
    target = SHIPPED.head(keys[1]).full_class_name
    request = Request(target=target, seed=3, scale=1, budget=60, stored=stored)

    found = narrowing.work(request).diagnostics[AGAIN]

    assert ["equal", "equal"] == [EntryAgain.model_validate(one).state for one in found]  # type: ignore[union-attr]
