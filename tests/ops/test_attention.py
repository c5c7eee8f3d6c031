"""Attention against the two products written out."""

from collections.abc import Callable

import pytest

from forwardbook.analyzers.ops import NoRule, Operand, Operation, Size
from forwardbook.cost import Cost

Make = Callable[..., Operand]
MakeOp = Callable[..., Operation]
Tally = Callable[..., Cost]


def attend(operation: MakeOp, tensor: Make, name: str, **more: object) -> Callable[..., Operation]:
    """Attention with h heads over g key heads, values as wide as v."""

    def build(b: Size, h: Size, g: Size, q: Size, k: Size, d: Size, v: Size) -> Operation:
        parts = {"query": tensor(b, h, q, d), "key": tensor(b, g, k, d), "value": tensor(b, g, k, v)}
        return operation(name, (b, h, q, v), **parts, **more)

    return build


SIZES = {"b": 2, "h": 6, "g": 3, "q": 5, "k": 7, "d": 4, "v": 9}
SCORES = 2 * 6 * 5 * 7


def test_both_products_are_dense(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """420 scores of 4 products each, and 420 weights times 9 values; shared key heads are read once."""
    cost = tally(attend(operation, tensor, "forwardbook.sdpa", attn_mask=None, is_causal=False), **SIZES)
    moved = 2 * 6 * 5 * 4 + 2 * 3 * 7 * (4 + 9)
    assert cost == Cost(2 * SCORES * 4 + 2 * SCORES * 9, 6 * SCORES, 4 * moved, 4 * 540)


def test_causality_adds_a_mask_and_saves_nothing(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """The dense count stays; masking is one more step per score, by a flag or by a tensor."""
    plain = tally(attend(operation, tensor, "forwardbook.sdpa"), **SIZES)
    causal = tally(attend(operation, tensor, "forwardbook.sdpa", is_causal=True), **SIZES)
    masked = tally(attend(operation, tensor, "forwardbook.sdpa", attn_mask=tensor(1, 1, 5, 7)), **SIZES)
    assert causal.flops == masked.flops == plain.flops
    assert causal.pointwise_ops == masked.pointwise_ops == 7 * SCORES
    assert masked.reads - causal.reads == 4 * 35


def test_decode_is_one_query(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """One query of 4 heads over 32 keys, 64 wide: what a study expected of torch's counter, 16384 x 2."""
    sizes = {"b": 1, "h": 4, "g": 4, "q": 1, "k": 32, "d": 64, "v": 64}
    assert tally(attend(operation, tensor, "forwardbook.sdpa"), **sizes).flops == 2 * 4 * 32 * 128


def test_kernels_of_every_device_count_alike(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """flash on the CPU, flash, efficient and cudnn have the flops of the plain one."""
    kernels = ("flash_attention_for_cpu", "flash_attention", "efficient_attention", "cudnn_attention")
    names = [f"aten._scaled_dot_product_{kernel}" for kernel in kernels]
    flops = {tally(attend(operation, tensor, name), **SIZES).flops for name in names}
    assert flops == {2 * SCORES * 13}


def test_position_first_layout(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """(B, S, H, D): positions are the second dimension, not the third."""

    def build(b: Size, s: Size, h: Size, d: Size) -> Operation:
        parts = {name: tensor(b, s, h, d) for name in ("query", "key", "value")}
        return operation("aten._flash_attention_forward", (b, s, h, d), **parts)

    assert tally(build, b=1, s=256, h=4, d=16).flops == 2 * 4 * 256 * 256 * 32


def test_packed_sequences_are_refused(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """Lengths that only data knows are not guessed."""
    parts = {name: tensor(64, 4, 16) for name in ("query", "key", "value")}
    op = operation("aten._flash_attention_forward", (64, 4, 16), **parts, cum_seq_q=tensor(3))
    with pytest.raises(NoRule, match="packed sequences"):
        tally(lambda: op)


def projections(tensor: Make, width: Size) -> dict[str, Operand]:
    """The packed weights of self attention."""
    return {
        "qkv_weight": tensor(3 * width, width),
        "qkv_bias": tensor(3 * width),
        "proj_weight": tensor(width, width),
        "proj_bias": tensor(width),
    }


def test_the_fused_encoder_layer_is_the_sum_of_its_parts(
    tally: Tally, operation: MakeOp, tensor: Make
) -> None:
    """Four projections, two attention products, two feed-forward products."""

    def fused(b: Size, s: Size, e: Size, f: Size, h: Size) -> Operation:
        ffn = {"ffn_weight_1": tensor(f, e), "ffn_weight_2": tensor(e, f)}
        name = "aten._transformer_encoder_layer_fwd"
        return operation(name, (b, s, e), src=tensor(b, s, e), num_heads=h, **projections(tensor, e), **ffn)

    def attention(b: Size, s: Size, e: Size, h: Size) -> Operation:
        parts = {name: tensor(b, s, e) for name in ("query", "key", "value")}
        name = "aten._native_multi_head_attention"
        return operation(name, (b, s, e), **parts, num_head=h, **projections(tensor, e))

    rows, attended = 2 * 10, 2 * 2 * 10 * 10 * 16 * 2
    projected = 2 * rows * 4 * 16 * 16
    assert tally(attention, b=2, s=10, e=16, h=4).flops == projected + attended
    assert tally(fused, b=2, s=10, e=16, f=32, h=4).flops == projected + attended + 2 * 2 * rows * 16 * 32
    scores = 2 * 4 * 10 * 10
    assert tally(attention, b=2, s=10, e=16, h=4).pointwise_ops == rows * (4 * 16 + 16) + 5 * scores
