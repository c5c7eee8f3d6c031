"""Two states of one class, whose second is dearer on one line."""

from collections.abc import Callable

import pytest

from forwardbook.schema import (
    CodeLocation,
    Entry,
    FlopAnalysis,
    FlopLine,
    Given,
    MemoryAnalysis,
    MemoryLine,
    Proof,
    ProofPoint,
    Regime,
    Validation,
)

Build = Callable[..., Entry]


@pytest.fixture
def build() -> Build:
    """An entry with two lines, the first a product whose factor can be chosen."""

    def entry(
        factor: int = 25,
        first: int = 10,
        codes: tuple[str, str] = ("h = self.up(x)", "return h * scale"),
        conditions: tuple[str, ...] = ("{seq_len} > 1",),
        verdict: str = "exact",
        regimes: bool = True,
    ) -> Entry:
        product = f"{factor} * {{batch_size}} * {{seq_len}} * {{width}} * {{width}}"
        rows = [(first, codes[0], product, "0"), (first + 1, codes[1], "0", "{batch_size} * {width}")]
        regime = Regime(
            name="default",
            conditions=conditions,
            parameters=("batch_size", "seq_len", "width"),
            flop_analysis=FlopAnalysis(
                flops=product,
                pointwise_ops="{batch_size} * {width}",
                lines=tuple(
                    FlopLine(line=n, end_line=n, code=c, flops=f, pointwise_ops=p) for n, c, f, p in rows
                ),
            ),
            memory_analysis=MemoryAnalysis(
                reads="{width}",
                writes="0",
                weights="{width}",
                boundary="{width}",
                intermediates="0",
                peak="{width}",
                lines=(MemoryLine(line=first, end_line=first, code=codes[0], reads="{width}", writes="0"),),
            ),
            proof=Proof(
                verdict="exact",
                device="meta",
                dtype="float32",
                points=(
                    ProofPoint(sizes={"batch_size": 3, "seq_len": 7, "width": 11}, predicted={}, measured={}),
                ),
            ),
        )
        return Entry(
            full_class_name="mymodel.layers.Block",
            library="mymodel",
            code_location=CodeLocation(file="mymodel/layers.py", line_start=first - 5, line_end=first + 1),
            source_hash="0" * 64,
            given=Given(init={"width": "64"}, inputs={"x": "batch_size,seq_len,width"}),
            regimes=(regime,) if regimes else (),
            validation=Validation(verdict=verdict, reason="" if verdict == "exact" else "no rule for it"),  # type: ignore[arg-type]
        )

    return entry
