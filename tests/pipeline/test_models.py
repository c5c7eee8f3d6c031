"""In which model a regime is called: others may call its class otherwise in a place of the same name."""

from __future__ import annotations

from pathlib import Path

import pytest
from torch import Tensor, nn

from forwardbook.analyzers.reader import Sources, read_class
from forwardbook.analyzers.symbolic.trace import CallRecord
from forwardbook.pipeline.derivation.entry import record
from forwardbook.pipeline.derivation.explore import regimes_of
from forwardbook.pipeline.reprove.deep_runs import DeepRuns
from forwardbook.pipeline.reprove.models import model_of, with_model_told
from forwardbook.pipeline.reprove.stored_regimes import StoredRegime
from forwardbook.saying import MODEL

from .matrices import Maker, Projection, over_rows


class Encoder(nn.Module):
    """It hands all rows to its layer."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layer = Projection(width)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x)


class Copy(Encoder):
    """It does the same."""


class Decoder(Encoder):
    """It hands all rows but the last to its layer."""

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x[:-1])


class Elsewhere(nn.Module):
    """Its layer has another name."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.other = Projection(width)

    def forward(self, x: Tensor) -> Tensor:
        return self.other(x[:-1])


@pytest.mark.parametrize(
    ("kind", "size", "said"),
    [
        (Decoder, "width", [f"{MODEL}Encoder"]),
        (Copy, "width", []),
        (Copy, "across", [f"{MODEL}Encoder"]),  # nothing says that this is the width
        (Elsewhere, "width", []),
    ],
)
def test_a_regime_is_said_of_its_own_model_where_another_calls_otherwise(
    recipe_from: Maker, kind: type[nn.Module], size: str, said: list[str]
) -> None:
    """Only where the other has the class in the same place, with other numbers or sizes of other names."""
    its = over_rows(recipe_from, Encoder, "width")
    found = regimes_of(its, 3, 3, False, [f"{Projection.__module__}.{Projection.__qualname__}"])
    file = Path(__file__).with_name("matrices.py")
    made = record(read_class("Projection", file, Sources([file.parent])), "tests", found)
    before = made.model_copy(update={"full_class_name": found[0].derived.target})
    other = recipe_from(
        kind,
        lambda n: kind(getattr(n, size)),
        lambda n, maker: (maker.floats((n.rows, getattr(n, size))),),
        **{"rows": 9, size: 6},
    )

    after = with_model_told(before, model_of(its), DeepRuns(other))

    assert [tuple(said)] == [tuple(set(one.assumptions)) for one in after.regimes]
    assert [one.flop_analysis for one in before.regimes] == [one.flop_analysis for one in after.regimes]
    assert after == with_model_told(after, model_of(its), DeepRuns(other))

    regime = StoredRegime(after.regimes[0])
    calls = [CallRecord(0, nn.Identity(), "layer", -1, (), 0, root=one) for one in (Encoder, Decoder, None)]
    given = [StoredRegime(regime.regime.model_copy(update={"given": ()})).speaks_of(one) for one in calls]
    assert given == ([True, False, False] if said else [True, True, True])
