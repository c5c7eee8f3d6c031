"""`reprove` and `catalogue totals` as a person types them: what is equal, what is wrong, what is refused."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from forwardbook.formula import Expr
from forwardbook.pipeline.reprove.joined import states_named
from forwardbook.workspace import Workspace

Program = Callable[..., "object"]
SHIPPED = Workspace(Path(__file__).resolve().parent.parent.parent).load()


def test_shipped_formulas_are_equal(program: Callable[..., object]) -> None:
    """JSON on standard output alone; the seed is told beside it."""
    done = program("reprove", "torch_ReLU", "--seed", "5", "--json")
    told = json.loads(done.stdout)  # type: ignore[attr-defined]

    assert 0 == done.returncode  # type: ignore[attr-defined]
    assert (5, 10, ["equal"]) == (told["seed"], told["scale"], [one["state"] for one in told["entries"]])
    assert "1 entries: 1 equal, 0 uncovered, 0 different, 0 unmeasured" in done.stderr  # type: ignore[attr-defined]
    assert "--seed 5" in done.stderr  # type: ignore[attr-defined]


def test_a_wrong_formula_is_named(program: Callable[..., object], folder: Path) -> None:
    """Exit code 1, the class, the line and both numbers."""
    entry = SHIPPED["torch_ReLU"]
    regime = entry.regimes[0]
    flops = regime.flop_analysis.model_copy(update={"pointwise_ops": "7"})
    wrong = entry.model_copy(update={"regimes": (regime.model_copy(update={"flop_analysis": flops}),)})
    Workspace(folder).save({"torch_ReLU": wrong})

    done = program("reprove", "torch_ReLU", "--seed", "5")
    said = " ".join(done.stdout.split())  # type: ignore[attr-defined]

    assert 1 == done.returncode  # type: ignore[attr-defined]
    assert "torch.nn.modules.activation.ReLU" in said
    assert "total, pointwise_ops: stored 7, measured" in said


@pytest.mark.skipif(
    SHIPPED["transformers_ParakeetEncoder"].validation.verdict == "unproved",
    reason="the encoder waits to be derived again: its stored peak has statistics of batch norm",
)
def test_what_a_regime_needs_of_another_class_is_stored(program: Callable[..., object], folder: Path) -> None:
    """Feed-forward behind a subsampling of int(log2(factor)) layers, proved within one octave."""
    layer, encoder = "transformers_ParakeetEncoderFeedForward", "transformers_ParakeetEncoder"
    entry = SHIPPED[layer]
    [regime] = entry.regimes
    kept = tuple(text for text in regime.conditions if not text.startswith("{subsampling_factor}"))
    before = entry.model_copy(update={"regimes": (regime.model_copy(update={"conditions": kept}),)})
    Workspace(folder).save({layer: before, encoder: SHIPPED[encoder]})

    done = program("reprove", layer, encoder, "--narrow", "--seed", "7")
    [after] = Workspace(folder).load()[layer].regimes

    assert 0 == done.returncode  # type: ignore[attr-defined]
    added = set(after.conditions) - set(kept)
    assert any(text.startswith("{subsampling_factor} <= 1") for text in added)
    assert all(text.startswith("{subsampling_factor}") for text in added)
    assert all(f"default needs {text}" in done.stderr for text in added)  # type: ignore[attr-defined]
    assert after.model_copy(update={"conditions": kept}) == before.regimes[0]


@pytest.mark.slow
def test_of_which_layers_a_regime_is_is_stored(program: Callable[..., object], folder: Path) -> None:
    """The adapters of Data2Vec: each layer gets half the sequence of the one before."""
    key = "transformers_Data2VecAudioAdapterLayer"
    entry = SHIPPED[key]
    opened = [one.model_copy(update={"context": "called as adapter.layers.*"}) for one in entry.regimes]
    Workspace(folder).save({key: entry.model_copy(update={"regimes": tuple(opened)})})

    done = program("reprove", key, "--deep", "--seed", "5")
    after = Workspace(folder).load()[key]

    assert 0 == done.returncode  # type: ignore[attr-defined]
    assert "default is called as adapter.layers.0" in done.stderr  # type: ignore[attr-defined]
    assert ["called as adapter.layers.0", "called as adapter.layers.1"] == [r.context for r in after.regimes]


def test_a_state_that_a_peak_lacks_is_stored(program: Callable[..., object], folder: Path) -> None:
    """A layer's attention holds more than its feed-forward where that is narrow."""
    key = "transformers_OPTDecoderLayer"
    entry = SHIPPED[key]
    [regime] = entry.regimes
    states = states_named(regime)
    without = Expr.maximum(*(one for one in states if "5 * {hidden_size}" not in one.text()))
    memory = regime.memory_analysis.model_copy(update={"peak": without.text()})
    before = regime.model_copy(update={"memory_analysis": memory})
    Workspace(folder).save({key: entry.model_copy(update={"regimes": (before,)})})

    done = program("reprove", key, "--peaks", "--seed", "5")
    [after] = Workspace(folder).load()[key].regimes

    assert 0 == done.returncode  # type: ignore[attr-defined]
    assert "default: 1 of the states of its peak are new" in done.stderr  # type: ignore[attr-defined]
    assert set(states) == set(states_named(after))


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("reprove", "torch_Unicorn"), 1, "it is not in the database"),
        (("reprove", "--sample", "0"), 2, "--sample"),
        (("reprove", "torch_ReLU", "--narrow", "--deep"), 2, "One at a time"),
        (("reprove", "torch_ReLU", "--deep", "--each"), 2, "One at a time"),
        (("reprove", "torch_ReLU", "--each", "--peaks"), 2, "One at a time"),
        (("reprove", "--library", "no_such_package"), 1, "0 entries"),
        (("catalogue", "totals", "--library", "no_such_package"), 1, "is not installed"),
    ],
)
def test_what_cannot_be_done_is_told(
    program: Callable[..., object], arguments: tuple[str, ...], code: int, said: str
) -> None:
    """A message without a traceback."""
    done = program(*arguments)

    assert code == done.returncode  # type: ignore[attr-defined]
    assert said in " ".join(done.stderr.split())  # type: ignore[attr-defined]
    assert "Traceback" not in done.stderr  # type: ignore[attr-defined]
