"""Attention kernels: both products of every head counted dense, the softmax between them pointwise."""

from __future__ import annotations

from forwardbook.analyzers.ops.matmul import MAC
from forwardbook.analyzers.ops.normalization import SOFTMAX
from forwardbook.analyzers.ops.operation import Operation, Size, Work, product
from forwardbook.analyzers.ops.registry import NoRule, aten, rule

SCALE = 1  # every score is multiplied by 1 / sqrt(head_dim) once


def attended(rows: Size, keys: Size, widths: Size, mask_adds: int) -> Work:
    """`rows` queries over `keys` keys; `widths` is the width of a key plus the width of a value."""
    scores = rows * keys
    return Work(flops=MAC * scores * widths, pointwise_ops=(SCALE + mask_adds + SOFTMAX) * scores)


def mask_adds(op: Operation) -> int:
    """1 where a mask or bias is added to each score, by tensor or by causality."""
    given = any(op.optional(name) is not None for name in ("attn_mask", "attn_bias", "bias"))
    return int(given or op.flag("is_causal"))


@rule(
    "forwardbook.sdpa",
    *aten(
        "scaled_dot_product_attention _scaled_dot_product_attention_math "
        "_scaled_dot_product_flash_attention _scaled_dot_product_flash_attention_for_cpu "
        "_scaled_dot_product_efficient_attention _scaled_dot_product_cudnn_attention "
        "_scaled_dot_product_fused_attention_overrideable"
    ),
    reason="2 * B * H * Sq * Sk * (Dqk + Dv): query times key and weights times value, 2 per "
    "multiply-accumulate, dense (causal and window masks do not reduce it); H is the query's "
    "heads also when key heads are shared; pointwise per score: scale 1, mask 1 where there "
    "is one, softmax 5; the result lies in memory as the query does, which flash kernels and cuDNN write; "
    "CUDA's memory-efficient kernel writes the heads of a position together, and so it is where values have "
    "another width than keys, which the CPU's kernels write in order",
)
def scaled_dot_product(op: Operation) -> Work:
    query, key, value = op.tensor("query"), op.tensor("key"), op.tensor("value")
    rows = product(*op.output.shape[:-1])
    return attended(rows, key.shape[-2], query.shape[-1] + value.shape[-1], mask_adds(op))


@rule(
    *aten("_flash_attention_forward _efficient_attention_forward"),
    reason="as scaled_dot_product_attention in the layout (B, S, H, D); packed sequences have "
    "lengths no shape tells, so they are refused",
)
def attention_by_position(op: Operation) -> Work:
    if any(
        op.optional(name) is not None for name in ("cum_seq_q", "cum_seq_k", "cu_seqlens_q", "cu_seqlens_k")
    ):
        raise NoRule(op.name, "packed sequences, whose lengths are data")
    query, key, value = op.tensor("query"), op.tensor("key"), op.tensor("value")
    rows = product(*query.shape[:-1])
    return attended(rows, key.shape[1], query.shape[-1] + value.shape[-1], mask_adds(op))


def heads_of_self_attention(op: Operation, data: str, heads: str) -> tuple[Size, Size, Work]:
    """Rows, width and the cost of both projections and of attention for a packed query-key-value weight."""
    source, count = op.tensor(data), op.size(heads, 1)
    rows, width = product(*source.shape[:-1]), source.shape[-1]
    keys = source.shape[-2]
    scores = rows * keys * count
    projections = rows * (op.tensor("qkv_weight").numel + op.tensor("proj_weight").numel)
    biases = rows * (op.tensor("qkv_bias").numel + op.tensor("proj_bias").numel)
    masked = 1 if op.optional("mask") is not None else 0
    return (
        rows,
        width,
        Work(
            flops=MAC * projections + MAC * rows * keys * (width + width),
            pointwise_ops=biases + rows * width + (masked + SOFTMAX) * scores,
        ),
    )


@rule(
    "aten._native_multi_head_attention",
    reason="2 * rows * elements of both projection weights, and 2 * rows * keys * 2 * embed_dim for "
    "the two products of all heads; pointwise: biases 1 per projected element, scaling 1 per "
    "query element, softmax 5 and mask 1 per score",
)
def native_multi_head_attention(op: Operation) -> Work:
    return heads_of_self_attention(op, "query", "num_head")[2]


@rule(
    "aten._transformer_encoder_layer_fwd",
    reason="_native_multi_head_attention, both feed-forward products at 2 * rows * weight elements; "
    "pointwise: their biases and the activation 1 each, two residual additions 1 each, two "
    "layer norms 8 each per element",
)
def transformer_encoder_layer(op: Operation) -> Work:
    rows, width, attention = heads_of_self_attention(op, "src", "num_heads")
    first, second = op.tensor("ffn_weight_1"), op.tensor("ffn_weight_2")
    hidden = first.shape[0]
    return Work(
        flops=attention.flops + MAC * rows * (first.numel + second.numel),
        pointwise_ops=attention.pointwise_ops + rows * (hidden + hidden + width) + rows * width * (2 + 2 * 8),
    )
