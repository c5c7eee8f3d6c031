"""A model that steps through positions: formulas are interpolated over them, and end where others begin."""

from __future__ import annotations

import pytest
import torch
import transformers

from forwardbook.analyzers.instances.pretrained.whole import Phase, phases_of
from forwardbook.analyzers.symbolic.patterns import find_call
from forwardbook.analyzers.symbolic.summary import summarise
from forwardbook.formula import Expr
from forwardbook.models.record import PhaseCosts
from forwardbook.models.totals import NoFormulas, Widths, holding, whole
from forwardbook.pipeline.model.costs import phase_costs
from forwardbook.profiling.proof import measure, widths_of

CONFIG = {
    "hidden_size": 64,
    "num_hidden_layers": 1,
    "state_size": 16,
    "vocab_size": 60,
    "time_step_rank": 4,
}


@pytest.fixture(scope="module")
def phase() -> Phase:
    return phases_of(transformers.MambaForCausalLM, transformers.MambaConfig(**CONFIG))[0]


@pytest.fixture(scope="module")
def derived(phase: Phase) -> PhaseCosts:
    return phase_costs(phase, torch.bfloat16, 3)


def counted(phase: Phase, batch_size: int, seq_len: int) -> dict[str, int]:
    """Every quantity as the recorder counts it while the model runs."""
    sizes = {"batch_size": batch_size, "seq_len": seq_len}
    trace = measure(phase.recipe, sizes, torch.bfloat16, widths_of(torch.bfloat16))
    call = find_call(trace, "", 0)
    assert call is not None
    quantities = summarise(trace, call, {}).quantities()
    return {name: Expr.of(size).const_value() for name, size in quantities.items()}


def test_short_sequences_are_refused_where_their_peak_is_elsewhere(phase: Phase, derived: PhaseCosts) -> None:
    """At each length below those read, the formulas count what runs, or say that they do not hold."""
    refused = []
    for seq_len in range(2, 18):
        sizes = {"batch_size": 5, "seq_len": seq_len}
        try:
            holding([derived], "prefill", sizes, Widths())
        except NoFormulas:
            refused.append(seq_len)
        else:
            assert counted(phase, 5, seq_len) == whole(derived, sizes, Widths()).whole()

    assert list(range(2, 2 + len(refused))) == refused
    assert refused


def test_a_short_sequence_has_formulas_of_its_own(phase: Phase) -> None:
    """At a length that is a number they are proved for that one, any batch."""
    near = {"batch_size": 3, "seq_len": 4}
    short = phase_costs(phase, torch.bfloat16, 3, near, {"seq_len": 4})

    assert "{seq_len} == 4" in short.conditions
    sizes = {"batch_size": 7, "seq_len": 4}
    assert counted(phase, 7, 4) == whole(short, sizes, Widths()).whole()


def test_long_sequences_cost_what_the_polynomial_says(phase: Phase, derived: PhaseCosts) -> None:
    """Far beyond the lengths that were read, and beyond those of the proof."""
    sizes = {"batch_size": 2, "seq_len": 400}

    assert counted(phase, 2, 400) == whole(derived, sizes, Widths()).whole()
