"""What runs one after another in a call of a class takes, together, what the command says of that layer."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from forwardbook.book.site.formula_tree import value
from forwardbook.book.site.model_page import PHASES
from forwardbook.book.site.model_subject import ModelSubject
from forwardbook.book.site.module_calculator import usual_build
from forwardbook.book.site.parts import Callees, Parts, parts_of
from forwardbook.formula import Expr, parse
from forwardbook.models.roofline import Device, timings
from forwardbook.models.totals import Row, Widths, evaluate, holding
from forwardbook.pipeline.site.beneath import Beneath
from forwardbook.profiling.peaks import devices
from forwardbook.schema import (
    CodeLocation,
    Entry,
    FlopAnalysis,
    FlopLine,
    MemoryAnalysis,
    MemoryLine,
    Regime,
    SubmoduleCall,
)
from forwardbook.workspace import Workspace
from forwardbook.workspace.model_files import ModelFiles

DATABASE = Workspace(Path(__file__).resolve().parents[2]).load()
CALLEES = Callees(Beneath(DATABASE).entry)
FILES = ModelFiles(Path("nowhere"))
WIDTHS = {"w_dtype_bytes": 2, "a_dtype_bytes": 2, "kv_dtype_bytes": 2}
LLAMA = (
    "transformers_LlamaMLP",
    "transformers_LlamaAttention",
    "transformers_LlamaDecoderLayer",
    "transformers_LlamaModel",
    "transformers_LlamaForCausalLM",
)


@cache
def device(name: str) -> Device:
    """A device of the table."""
    return next(one for one in devices() if one.id == name)


def seconds(parts: Parts, sizes: dict[str, int], on: Device) -> float:
    """The sum over the parts of the larger of arithmetic and movement."""
    return sum(
        part.times
        * max(
            parse(part.flops, exact=True).evaluate(sizes) / on.peak(Widths()),
            parse(part.moved, exact=True).evaluate(sizes) / on.bandwidth,
        )
        for part in parts.parts
    )


def layers(
    model_id: str, phase: str, call: dict[str, int], on: Device
) -> Iterator[tuple[Row, float, Entry, dict[str, int]]]:
    """Each layer that the command prints: its row and its time, the entry of its class, and all sizes."""
    phases, populated = next(FILES.costs(model_id)).phases, next(FILES.populated(model_id))
    totals = evaluate(holding(phases, phase, call, Widths()), call, Widths())
    for row, time in zip(totals.rows, timings(totals, on), strict=True):
        layer = populated.at(row.name)
        if layer is not None and layer.entry:
            known = {name: one.value for name, one in layer.parameters.items()}
            sizes = {name: one for name, one in known.items() if type(one) is int}
            yield row, time.eager, DATABASE.resolved(layer.entry)[1], {**WIDTHS, **sizes, **call}


def holds(regime: Regime, sizes: dict[str, int]) -> bool:
    """Whether a regime has exactly these sizes of a call, and holds for them."""
    return set(regime.parameters) <= sizes.keys() and all(value(text, sizes) for text in regime.conditions)


def work(regime: Regime, sizes: dict[str, int]) -> tuple[int, int]:
    """Flops and bytes of the regime."""
    flops, reads, writes = (value(regime.formula(name), sizes) for name in ("flops", "reads", "writes"))
    return flops, reads + writes


@pytest.mark.parametrize(
    "key",
    [*LLAMA, "torch_LSTM", "torch_Linear", "transformers_BertModel", "transformers_MixtralForCausalLM"],
)
def test_the_parts_of_a_call_add_up_to_the_call(key: str) -> None:
    """Flops, and reads and writes, of all parts are those of the call as polynomials."""
    for regime in DATABASE.resolved(key)[1].regimes:
        parts = parts_of(regime, CALLEES).parts
        moved = parse(regime.formula("reads"), exact=True) + parse(regime.formula("writes"), exact=True)
        assert Expr.sum(parse(one.moved, exact=True) * one.times for one in parts) == moved
        flops = Expr.sum(parse(one.flops, exact=True) * one.times for one in parts)
        assert flops == parse(regime.formula("flops"), exact=True)


def test_a_decode_of_llama_takes_as_long_as_in_its_model() -> None:
    """Of one token after 2,048, each class of Llama 2 7B takes as long as the command says of its row."""
    on = device("h100-sxm")
    compared = set()
    for row, eager, entry, sizes in layers("llama-2-7b", "decode", {"batch_size": 1, "kv_len": 2048}, on):
        regimes = [one for one in usual_build(entry) if one.scenario == "decode" and holds(one, sizes)]
        for regime in regimes if row.class_name.startswith("transformers.") else ():
            found = parts_of(regime, CALLEES)
            assert found.together == 0
            assert eager == pytest.approx(seconds(found, sizes, on), rel=1e-9)
            compared.add(entry.class_name)
    assert {"LlamaMLP", "LlamaAttention", "LlamaDecoderLayer", "LlamaModel"} <= compared


@pytest.mark.parametrize(
    ("key", "cached", "masks"), list(zip(LLAMA, (0, 1, 1, 32, 32), (0, 0, 0, 1, 1), strict=True))
)
def test_a_prefill_of_llama_takes_as_long_as_in_its_model_but_for_the_cache(
    key: str, cached: int, masks: int
) -> None:
    """1 x 2,048 of Llama 2 7B: the command's row is longer by keys and values that each attention copies.

    The page is of a call without a cache, which looks for packed sequences instead: 58 bytes a token and 44.
    """
    on = device("h100-sxm")
    further = cached * 2 * 2 * 2048 * 32 * 128 * 2 - masks * (58 * 2048 + 44)
    for row, eager, entry, sizes in layers("llama-2-7b", "prefill", {"batch_size": 1, "seq_len": 2048}, on):
        if row.class_name == DATABASE[key].full_class_name:
            regimes = (one for one in usual_build(entry) if "seq_len" in one.parameters)
            regime = next(one for one in regimes if holds(one, sizes))
            found = parts_of(regime, CALLEES)
            assert found.together == 0
            assert row.one.moved == work(regime, sizes)[1] + further
            told = seconds(found, sizes, on)
            assert eager == pytest.approx(told + further / on.bandwidth, rel=1e-9)
            return
    raise AssertionError(key)


@pytest.mark.parametrize(
    ("model_id", "least"),
    [
        ("bert-base", 8),
        ("mixtral-8x7b", 4),
        ("gpt2", 4),
        ("t5-base", 8),
        ("gemma-2-9b", 4),
        ("mamba-2.8b", 3),
    ],
)
def test_classes_take_as_long_as_in_their_models(model_id: str, least: int) -> None:
    """Where a row has the flops and bytes of its class, it has its time, too; at least it, where not told."""
    table = tuple(devices())
    subject = ModelSubject(next(FILES.costs(model_id)), next(FILES.populated(model_id)), table)
    equal = set()
    for phase in PHASES:
        call = subject.point(phase)
        for name in ("h100-sxm", "l4") if call is not None else ():
            on = device(name)
            assert call is not None
            for row, eager, entry, sizes in layers(model_id, phase, call[1], on):
                for regime in entry.regimes:
                    if holds(regime, sizes) and work(regime, sizes) == (row.one.flops, row.one.moved):
                        found = parts_of(regime, CALLEES)
                        told = seconds(found, sizes, on)
                        assert told <= eager * (1 + 1e-9)
                        assert found.together or told == pytest.approx(eager, rel=1e-9)
                        if not found.together:
                            equal.add(entry.class_name)
    assert len(equal) >= least


def entry_of(name: str, regime: Regime) -> Entry:
    """An entry with one regime."""
    place = CodeLocation(file="toy.py", line_start=1, line_end=9)
    return Entry(full_class_name=name, library="toy", code_location=place, source_hash="", regimes=(regime,))


def regime_of(
    lines: list[tuple[int, str, str, tuple[str, ...]]], calls: tuple[SubmoduleCall, ...] = ()
) -> Regime:
    """A regime of lines: number, flops, bytes, operations."""
    zero = dict.fromkeys(("weights", "boundary", "intermediates", "peak"), "0")
    flops = tuple(
        FlopLine(line=n, end_line=n, code="x", flops=f, pointwise_ops="0", operations=ops)
        for n, f, _, ops in lines
    )
    moved = tuple(MemoryLine(line=n, end_line=n, code="x", reads=m, writes="0") for n, _, m, _ in lines)
    return Regime(
        name="default",
        parameters=("n",),
        flop_analysis=FlopAnalysis(
            flops=" + ".join(f for _, f, _, _ in lines), pointwise_ops="0", lines=flops, submodule_calls=calls
        ),
        memory_analysis=MemoryAnalysis(
            reads=" + ".join(m for _, _, m, _ in lines), writes="0", lines=moved, **zero
        ),
    )


CHILD = entry_of(
    "toy.Child", regime_of([(2, "0", "900 * {n}", ("aten.add",)), (3, "700 * {n}", "0", ("aten.mm",))])
)
HOLDER = entry_of(
    "toy.Holder",
    regime_of(
        [(2, "700 * {n}", "900 * {n}", ("aten.add", "aten.mm")), (3, "0", "50 * {n}", ("aten.mul",))],
        (SubmoduleCall(line=2, attribute="child", class_name="toy.Child"),),
    ),
)


def calling(name: str, operations: tuple[str, ...], flops: str, moved: str) -> Parts:
    """The parts of a module with a line that calls a class and does so much in all, and another line."""
    call = SubmoduleCall(line=5, attribute="child", class_name=name)
    regime = regime_of([(4, "0", "30 * {n}", ("aten.mul",)), (5, flops, moved, operations)], (call,))
    return parts_of(regime, Callees({"toy.Child": CHILD, "toy.Holder": HOLDER}.get))


def test_two_calls_in_a_loop_are_two_layers() -> None:
    """A line that costs twice what its callee costs has that callee's layer twice."""
    found = calling("toy.Child", ("aten.add x2", "aten.mm x2"), "1400 * {n}", "1800 * {n}")

    assert {(2, "700 * {n}", "900 * {n}"), (1, "0", "30 * {n}")} == {
        (one.times, one.flops, one.moved) for one in found.parts
    }
    assert found.together == 0


def test_what_a_line_moves_beside_its_call_is_of_its_module() -> None:
    """A residual on the line of a call is one layer with the module's other operations."""
    found = calling("toy.Child", ("aten.add x2", "aten.mm"), "700 * {n}", "960 * {n}")

    assert {("700 * {n}", "900 * {n}"), ("0", "90 * {n}")} == {(one.flops, one.moved) for one in found.parts}
    assert found.together == 0


@pytest.mark.parametrize(
    ("operations", "flops", "moved"),
    [
        (("aten.add", "aten.mm", "aten.mul"), "700 * {n}", "960 * {n}"),
        (("aten.add", "aten.mm x2", "aten.mul"), "1400 * {n}", "950 * {n}"),
        (("aten.add", "aten.mm", "aten.mul"), "701 * {n}", "950 * {n}"),
        (("aten.add x2", "aten.mm", "aten.mul"), "700 * {n}", "949 * {n}"),
        (("aten.mm", "aten.add"), "700 * {n}", "950 * {n}"),
    ],
)
def test_a_call_that_does_not_add_up_is_not_taken_apart(
    operations: tuple[str, ...], flops: str, moved: str
) -> None:
    """Other flops, fewer bytes, more bytes with no operation for them, no such operations: it is counted."""
    found = calling("toy.Holder", operations, flops, moved)

    assert (found.together, len(found.parts)) == (1, 1)
    assert parse(found.parts[0].moved) == parse(moved) + parse("30 * {n}")


def test_layers_beneath_a_callee_are_layers_of_its_caller() -> None:
    """A callee's callee is told apart, too, from what the callee does itself."""
    call = SubmoduleCall(line=7, attribute="holder", class_name="toy.Holder")
    known = {"toy.Child": CHILD, "toy.Holder": HOLDER}
    regime = regime_of([(7, "700 * {n}", "950 * {n}", ("aten.add", "aten.mm", "aten.mul"))], (call,))
    found = parts_of(regime, Callees(known.get))

    assert {("0", "50 * {n}"), ("700 * {n}", "900 * {n}")} == {(one.flops, one.moved) for one in found.parts}


def test_a_class_that_calls_itself_has_parts() -> None:
    """A call that leads back to its class ends, and is one layer with what is beside it."""
    call = SubmoduleCall(line=7, attribute="child", class_name="toy.Self")
    regime = regime_of([(7, "2 * {n}", "3 * {n}", ("aten.mm",)), (8, "{n}", "{n}", ("aten.mm",))], (call,))
    found = parts_of(regime, Callees({"toy.Self": entry_of("toy.Self", regime)}.get))

    assert [("3 * {n}", "4 * {n}")] == [(one.flops, one.moved) for one in found.parts]
    assert found.together == 1
