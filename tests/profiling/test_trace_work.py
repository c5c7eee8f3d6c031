"""Products of real traces: totals known from their shapes, and what no trace says, by name."""

from pathlib import Path

import pytest

from forwardbook.profiling.readers.torch_trace import read_torch_trace
from forwardbook.profiling.trace_work import TraceWork, work_of

TRACES = Path(__file__).parents[1] / "profiles" / "traces"
LAYER = 8944 * 1024 * (4 * 1024 + 3 * 2816)  # rows x width x (four projections, three of the feed-forward)


def named(text: str) -> TraceWork:
    """The products of the one trace whose name holds the text."""
    return work_of(read_torch_trace(next(TRACES.glob(f"*{text}*"))))


@pytest.mark.parametrize("text", ["h100_Qwen", "mi300_Qwen"])
def test_two_vendors_run_the_same_products(text: str) -> None:
    """24 layers at 16 x 559 tokens are 5,514,536,681,472 flops, and 35,776 more for rotary frequencies."""
    found = named(text)

    assert 5_514_536_681_472 == 2 * 24 * LAYER
    assert 2 * 24 * LAYER + 2 * 32 * 559 == found.total("gemm")
    assert 24 * 2 * 16 * 16 * 559 * 559 * 128 == found.total("attention")


def test_small_bert() -> None:
    """Four layers and the head of a masked language model at 141 tokens."""
    each = 4 * 512 * 512 + 2 * 512 * 2048

    assert 2 * 141 * (4 * each + 512 * 512 + 512 * 30522) == named("bert-small").total("gemm")


def test_kernels_belong_to_operators() -> None:
    """Every product of the eager trace has its kernels, one for each call."""
    found = named("h100_Qwen")

    assert [] == [group.operator for group in found.groups if group.launches != group.calls]


def test_fused_operators_of_libraries_are_named() -> None:
    """What a serving library fuses is named as not said: its shapes do not tell its arithmetic."""
    told = {one.name: one.calls for one in named("b200").unsaid}

    assert (36, 36) == (told["vllm::unified_attention_with_output"], told["vllm::moe_forward"])


@pytest.mark.parametrize(("text", "kernels"), [("sglang", 547), ("full_graph", 421)])
def test_replayed_graphs_are_named(text: str, kernels: int) -> None:
    """Kernels of a replayed graph belong to no operator, and their number is told."""
    assert [kernels] == [one.calls for one in named(text).unsaid if one.name == "kernels"]


def test_traces_without_shapes_are_named() -> None:
    """A trace taken without shapes has no products, and says how to take another."""
    found = named("hta")

    assert () == found.groups
    assert "record_shapes" in next(one.reason for one in found.unsaid if one.name == "shapes")
