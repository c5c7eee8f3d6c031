"""What all rooms' tests share: the checkout's root is off sys.path, and there is an entry to work with."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

ROOT = Path(__file__).resolve().parent.parent

# else a room at the root would hide a top-level module of the same name
sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != ROOT]

from forwardbook.analyzers.instances.recipe import InputMaker, Recipe, Sizes  # noqa: E402
from forwardbook.generate import with_generated_names  # noqa: E402
from forwardbook.schema import (  # noqa: E402
    CodeLocation,
    Entry,
    FlopAnalysis,
    FlopLine,
    Judge,
    MemoryAnalysis,
    MemoryLine,
    Parameter,
    Proof,
    ProofPoint,
    Regime,
    SubmoduleCall,
    Unresolved,
    Validation,
)

if TYPE_CHECKING:
    from torch import nn

PROJECTION = "2 * {batch_size} * {seq_len} * {hidden_size} * ({hidden_size} // {num_heads})"
SCORES = "{batch_size} * {seq_len} * min({seq_len}, {window}) * ceil({seq_len} / {chunk_size})"


@pytest.fixture(autouse=True)
def path_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test leaves folders on sys.path: what another imports does not hang on the order of tests."""
    monkeypatch.setattr(sys, "path", [*sys.path])


@pytest.fixture
def a_second() -> float:
    """Processor seconds that this machine takes now for what a quiet one does in one; at least one.

    A neighbour on the same core slows a loop and the code under test alike.
    """
    begun = time.process_time()
    sum(place * place for place in range(1_250_000))  # 0.1 s on a quiet machine
    return max(1.0, 10 * (time.process_time() - begun))


@pytest.fixture
def prefill() -> Regime:
    """A regime with floor, ceil, min and max in its formulas and one condition."""
    return Regime(
        name="prefill",
        context="the whole prompt at once",
        conditions=("{hidden_size} % {num_heads} == 0",),
        assumptions=("no dropout",),
        parameters=(
            "batch_size",
            "seq_len",
            "hidden_size",
            "num_heads",
            "window",
            "chunk_size",
            "a_dtype_bytes",
        ),
        flop_analysis=FlopAnalysis(
            flops=f"{PROJECTION} + {SCORES}",
            pointwise_ops="{batch_size} * {seq_len}",
            lines=(
                FlopLine(line=7, end_line=7, code="q = self.q_proj(x)", flops=PROJECTION, pointwise_ops="0"),
                FlopLine(
                    line=8,
                    end_line=9,
                    code="return attend(q,\n  'window')",
                    flops=SCORES,
                    pointwise_ops="{batch_size} * {seq_len}",
                    operations=("aten.bmm",),
                    chain=("attend",),
                ),
            ),
            submodule_calls=(
                SubmoduleCall(
                    line=7, attribute="q_proj", class_name="Linear", bindings={"in_features": "{hidden_size}"}
                ),
            ),
        ),
        memory_analysis=MemoryAnalysis(
            reads="{batch_size} * {seq_len} * {hidden_size} * {a_dtype_bytes}",
            writes="{batch_size} * {seq_len} * {a_dtype_bytes}",
            weights="{hidden_size} * {hidden_size} * {a_dtype_bytes}",
            boundary="0",
            intermediates="max({batch_size}, {seq_len} - {window}, 3)",
            peak="floor({seq_len} * {batch_size} / {chunk_size}) - 1 + {seq_len} % {chunk_size}",
            lines=(
                MemoryLine(
                    line=7,
                    end_line=7,
                    code="q = self.q_proj(x)",
                    reads="{batch_size} * {seq_len} * {hidden_size} * {a_dtype_bytes}",
                    writes="{batch_size} * {seq_len} * {a_dtype_bytes}",
                ),
            ),
        ),
        proof=Proof(
            verdict="exact",
            device="meta",
            dtype="float32",
            points=(ProofPoint(sizes={"batch_size": 3}, predicted={"flops": 12}, measured={"flops": 12}),),
            lines_checked=2,
            judges=(Judge(name="FlopCounterMode", quantity="flops", agreed=3, asked=3),),
            static_agrees=True,
        ),
    )


@pytest.fixture
def decode(prefill: Regime) -> Regime:
    """A regime with a symbol of its own, with a dot in its name."""
    cache = "2 * {batch_size} * {text_config.kv_len}"
    return Regime(
        name="decode",
        conditions=("{text_config.kv_len} > {batch_size}",),
        parameters=("batch_size", "text_config.kv_len"),
        flop_analysis=FlopAnalysis(flops=cache, pointwise_ops="0"),
        memory_analysis=MemoryAnalysis(
            reads=cache, writes="0", weights="0", boundary="0", intermediates="0", peak="0"
        ),
    )


@pytest.fixture
def make_entry(prefill: Regime, decode: Regime) -> Callable[..., Entry]:
    """Builds an entry of the toy library; any field can be given."""

    def build(name: str = "ToyAttention", **fields: object) -> Entry:
        entry = Entry(
            full_class_name=f"toy.layers.{name}",
            library="toy",
            code_location=CodeLocation(file="toy/layers.py", line_start=1, line_end=9),
            source_hash="0" * 64,
            versions={"python": "3.11"},
            parameters=(Parameter(name="batch_size", meaning="sequences", source="input"),),
            regimes=(prefill, decode),
            unresolved=(Unresolved(file="toy/layers.py", line=9, operation="toy.op", reason="no rule"),),
            derived_by=("symbolic", "static"),
            validation=Validation(verdict="exact"),
        )
        return with_generated_names(f"toy_{name}", entry.model_copy(update=fields), {})

    return build


@pytest.fixture
def entry(make_entry: Callable[..., Entry]) -> Entry:
    """An entry with two regimes."""
    return make_entry()


@pytest.fixture
def sizes() -> dict[str, int]:
    """Sizes at which the regime `prefill` of the entry holds."""
    return {
        "batch_size": 3,
        "seq_len": 50,
        "hidden_size": 24,
        "num_heads": 4,
        "window": 11,
        "chunk_size": 8,
        "a_dtype_bytes": 2,
    }


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Runs a command of the program in this process: exit code, standard output, standard error."""
    from forwardbook.cli import main

    def call(*arguments: object) -> tuple[int, str, str]:
        try:
            code = main([str(one) for one in arguments])
        except SystemExit as stop:
            code = int(stop.code or 0)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


class Named:
    """The sizes of a recipe as attributes."""

    def __init__(self, sizes: Sizes, hints: Mapping[str, int]) -> None:
        self._sizes, self._hints = sizes, hints

    def __getattr__(self, name: str) -> int:
        return self._sizes(name, self._hints[name])


@pytest.fixture
def recipe_from() -> Callable[..., Recipe]:
    """Makes a recipe from a class, a way to build it and its inputs, and the hints of its sizes."""

    def make(
        kind: type[nn.Module],
        build: Callable[[Named], nn.Module],
        inputs: Callable[[Named, InputMaker], tuple[object, ...]],
        conditions: tuple[str, ...] = (),
        **hints: int,
    ) -> Recipe:
        return Recipe(
            target=f"{kind.__module__}.{kind.__qualname__}",
            library=kind.__module__.partition(".")[0],
            build=lambda sizes: build(Named(sizes, hints)),
            inputs=lambda sizes, module, maker: (inputs(Named(sizes, hints), maker), {}),
            conditions=conditions,
        )

    return make
