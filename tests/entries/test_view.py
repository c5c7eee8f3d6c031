"""What a person reads of an entry says what the record says, at any width."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from forwardbook.cli.composed_view import composed_view, main_regime
from forwardbook.entries.cost_model import CostModel
from forwardbook.entries.record import Line, Point, Proof
from forwardbook.entries.regimes import EntryError
from forwardbook.schema import Judge

from .examples import ATTENTION, MLP, TOY


def shown(
    key: str,
    width: int = 100,
    model: CostModel | None = None,
    brief: bool = False,
    regime: str | None = None,
) -> str:
    """The text of an entry at so many columns."""
    console = Console(width=width, file=io.StringIO(), highlight=False)
    console.print(composed_view(model or CostModel(TOY), key, brief, regime))
    return console.file.getvalue()  # type: ignore[attr-defined]


def rows(text: str) -> list[str]:
    """The lines with blanks made single."""
    return [" ".join(line.split()) for line in text.splitlines()]


def test_definitions_conditions_and_further_regimes_are_told() -> None:
    text = rows(shown("transformers_ToyAttention", brief=True))
    assert "where hidden_size = num_heads * head_dim" in text
    assert "holds when seq_len >= 2" in text
    assert "one token seq_len == 1 exact" in text
    assert "holds when seq_len == 1" not in text
    assert any(row.startswith("in full: forwardbook show transformers_ToyAttention --all") for row in text)


def test_a_regime_or_a_signature_is_shown_alone() -> None:
    one, every = (rows(shown("transformers_ToyAttention", regime=name)) for name in ("one token", "default"))
    assert "holds when seq_len == 1" in one and "holds when seq_len >= 2" not in one
    assert "holds when seq_len >= 2" in every and "further regimes" not in " ".join(every)
    with pytest.raises(EntryError, match="no regime 'two'; its regimes: 'default'; 'one token'"):
        shown("transformers_ToyAttention", regime="two")


def test_the_main_regime_is_the_one_of_the_first_signature_that_fixes_the_fewest_sizes() -> None:
    regimes = (*reversed(ATTENTION.regimes), ATTENTION.regimes[0].model_copy(update={"signature": "other"}))
    assert ATTENTION.regimes[0] == main_regime(regimes)


def test_a_class_without_calls_has_all_eight_quantities_in_all() -> None:
    text = " ".join(rows(shown("torch_Linear", 200)))
    assert "pointwise_ops 0" in text and "weights_read" not in text
    assert (
        "boundary in_features * out_features * w_dtype_bytes + in_features * rows * a_dtype_bytes"
        " + out_features * rows * a_dtype_bytes" in text
    )


def test_a_call_says_its_line_class_times_and_cost_in_the_names_of_the_class() -> None:
    rows_of_mlp = rows(shown("transformers_ToyMLP"))
    assert "11 gate_proj Linear 2 * batch_size * seq_len * hidden_size * intermediate_size" in rows_of_mlp
    assert "11 act_fn SiLU batch_size * seq_len * intermediate_size pointwise" in rows_of_mlp
    assert any(
        row.startswith("64 layers.* ToyDecoderLayer num_hidden_layers")
        for row in rows(shown("transformers_ToyModel"))
    )


def test_short_closed_forms_are_shown_with_where_they_hold_and_long_ones_named() -> None:
    text = rows(shown("transformers_ToyModel"))
    assert "holds where num_hidden_layers >= 1" in text
    assert "long, but evaluated like the others: reads, peak" in text
    assert "+ the weights that are read" in " ".join(text)
    assert "flops 6 * batch_size * seq_len * hidden_size * intermediate_size" in rows(
        shown("transformers_ToyMLP")
    )


def test_a_line_with_a_call_says_which_class_it_calls() -> None:
    text = " ".join(rows(shown("transformers_ToyMLP", 140)))
    assert "11 gate = self.act_fn(self.gate_proj(x)) calls Linear, SiLU" in text


@pytest.mark.parametrize("width", [60, 80, 100, 132])
def test_nothing_is_wider_than_the_terminal_nor_cut_off(width: int) -> None:
    for key in TOY:
        text = shown(key, width)
        assert max(map(len, text.splitlines())) <= width
        assert "…" not in text


def test_the_proof_says_its_verdict_points_and_judges() -> None:
    point = Point(sizes={"batch_size": 2}, measured={"flops": 7})
    judge = Judge(name="counter", quantity="flops", agreed=3, asked=3)
    proof = Proof(verdict="exact", points=(point,), judges=(judge,), static_agrees=True)
    mlp = MLP.model_copy(update={"regimes": (MLP.regimes[0].model_copy(update={"proof": proof}),)})
    text = rows(shown("transformers_ToyMLP", model=CostModel(TOY | {"transformers_ToyMLP": mlp})))
    assert "proof exact: 1 random point; the static derivation agrees" in text
    assert "counter on flops: agreed 3 of 3 times" in text
    assert "flops 7 =" in text


def test_code_that_looks_like_markup_and_a_class_that_is_not_there_are_shown_as_they_are() -> None:
    line = Line(line=11, end_line=11, code="x[red] = [bold]")
    regime = MLP.regimes[0].model_copy(update={"lines": (line,)})
    entries = {"transformers_ToyMLP": MLP.model_copy(update={"regimes": (regime,)})}
    text = shown("transformers_ToyMLP", model=CostModel(entries))
    assert "x[red] = [bold]" in text
    assert "torch_Linear" in text and "looking for the entry torch_Linear" in text


def test_what_a_signature_is_called_with_stands_once_among_the_further_regimes() -> None:
    first = ATTENTION.regimes[0]
    others = tuple(
        first.model_copy(update={"name": name, "signature": "causal", "choices": {"is_causal": True}})
        for name in ("causal", "causal; long")
    )
    entry = ATTENTION.model_copy(update={"regimes": (first, *others)})
    model = CostModel(TOY | {"transformers_ToyAttention": entry})
    text = rows(shown("transformers_ToyAttention", model=model, brief=True))
    assert "causal seq_len >= 2; with is_causal=True exact" in text
    assert "causal; long seq_len >= 2 exact" in text
