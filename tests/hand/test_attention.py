"""Attention as written down by hand from Vaswani et al. (2017) and later papers, dense over all positions."""

from __future__ import annotations

from forwardbook.formula import Expr

from .conftest import Ask

B, S, E = map(Expr.symbol, ["batch_size", "seq_len", "hidden_size"])
Hq, Hk, D = map(Expr.symbol, ["num_attention_heads", "num_key_value_heads", "head_dim"])
w, a, kv = map(Expr.symbol, ["w_dtype_bytes", "a_dtype_bytes", "kv_dtype_bytes"])
LLAMA = "transformers.models.llama.modeling_llama"
DEEPSEEK = "transformers.models.deepseek_v3.modeling_deepseek_v3"


def product(rows: Expr, inner: Expr, columns: Expr) -> Expr:
    """rows x inner times inner x columns: `inner` multiply-accumulates for each of rows * columns."""
    return 2 * rows * inner * columns


def attended(queries: Expr, keys: Expr, heads: Expr, qk: Expr, v: Expr) -> Expr:
    """softmax(Q K') V in every head: keys * qk products for a query's scores, keys * v for its sum."""
    return B * heads * (product(queries, qk, keys) + product(queries, keys, v))


def test_multi_head_attention(ours: Ask) -> None:
    """Four E x E projections of B*S rows, and attention in E/h wide heads; scale on queries, softmax 5.

    Biases are one addition each of 3E and E; the averaged weights torch returns by default add 1 per score.
    """
    M, h, d = Expr.symbol("embed_dim"), Expr.symbol("num_heads"), Expr.symbol("d")
    whole = {"embed_dim": h * d}
    got = ours("torch.nn.MultiheadAttention")
    assert got.flops.subs(whole) == (4 * product(B * S, M, M)).subs(whole) + attended(S, S, h, d, d)
    scores = B * h * S * S
    assert got.pointwise_ops.subs(whole) == (4 * B * S * M).subs(whole) + B * S * h * d + 5 * scores + scores
    assert got.weights == (4 * M * M + 4 * M) * w


def test_cross_attention(ours: Ask) -> None:
    """Queries and outputs are target positions, keys and values source positions."""
    M, h, d = Expr.symbol("embed_dim"), Expr.symbol("num_heads"), Expr.symbol("d")
    Lt, Ls = Expr.symbol("tgt_len"), Expr.symbol("src_len")
    whole = {"embed_dim": h * d}
    got = ours("torch.nn.MultiheadAttention", "cross attention")
    projections = 2 * product(B * Lt, M, M) + 2 * product(B * Ls, M, M)
    assert got.flops.subs(whole) == projections.subs(whole) + attended(Lt, Ls, h, d, d)


def test_bert_self_attention(ours: Ask) -> None:
    """Three biased E x E projections and attention; the output projection is a class of its own.

    The fused kernel touches a score six times: scale, and softmax 5 (no mask, it is not causal).
    """
    whole = {"hidden_size": Hq * D}
    got = ours("transformers.models.bert.modeling_bert.BertSelfAttention")
    assert got.flops.subs(whole) == (3 * product(B * S, E, E)).subs(whole) + attended(S, S, Hq, D, D)
    assert got.pointwise_ops.subs(whole) == (3 * B * S * E).subs(whole) + 6 * B * Hq * S * S


def test_bert_self_attention_moves_no_output_twice(ours: Ask) -> None:
    """Three linear layers read the same input, the kernel reads q, k, v; all four results live at the end.

    A fused kernel writes its output position-major, so the reshape to B x S x E moves nothing.
    """
    whole = {"hidden_size": Hq * D}
    got = ours("transformers.models.bert.modeling_bert.BertSelfAttention")
    tensor = B * S * E * a
    assert got.reads.subs(whole) == ((3 + 3) * tensor + 3 * (E * E + E) * w).subs(whole)
    assert got.writes.subs(whole) == (4 * tensor).subs(whole)
    assert got.peak.subs(whole) == (4 * tensor).subs(whole)


def test_t5_attention(ours: Ask) -> None:
    """Four unbiased projections between d_model and heads * d_kv, attention; biases are looked up."""
    M, h, d = map(Expr.symbol, ["d_model", "num_heads", "d_kv"])
    got = ours("transformers.models.t5.modeling_t5.T5Attention")
    assert got.flops == 4 * product(B * S, M, h * d) + attended(S, S, h, d, d)


def llama_projections(rows: Expr) -> Expr:
    """Grouped-query attention: query and output projections for all heads, two more for the shared heads."""
    return 2 * product(rows, E, Hq * D) + 2 * product(rows, E, Hk * D)


def test_llama_attention(ours: Ask) -> None:
    """Shared key heads save projections, not attention: every query head meets every position."""
    got = ours(f"{LLAMA}.LlamaAttention")
    assert got.flops == llama_projections(B * S) + attended(S, S, Hq, D, D)
    assert got.weights == (2 * E * Hq * D + 2 * E * Hk * D) * w


def test_qwen3_moe_attention(ours: Ask) -> None:
    """As Llama's, with a norm of each head: head_dim is a size of its own though no config declares it.

    Qwen3-30B-A3B has heads of 128 where the hidden size shared out would give 64.
    """
    got = ours("transformers.models.qwen3_moe.modeling_qwen3_moe.Qwen3MoeAttention")
    assert got.flops == llama_projections(B * S) + attended(S, S, Hq, D, D)
    assert got.weights == (2 * E * Hq * D + 2 * E * Hk * D + 2 * D) * w


def test_llama_attention_pointwise(ours: Ask) -> None:
    """Rotary embedding of queries and keys, x cos + rotate_half(x) sin: 3 an element, and the negated half.

    A score is scaled, masked for causality, and normalised in 5.
    """
    got = ours(f"{LLAMA}.LlamaAttention")
    half = Expr.symbol("half")
    rotated = B * S * (Hq + Hk)
    expected = rotated * (3 * 2 * half + half) + B * Hq * S * S * (1 + 1 + 5)
    assert got.pointwise_ops.subs({"head_dim": 2 * half}) == expected


def test_llama_decode(ours: Ask) -> None:
    """One new position against kv_len cached ones and itself."""
    L = Expr.symbol("kv_len")
    got = ours(f"{LLAMA}.LlamaAttention", "decode")
    assert got.flops == llama_projections(B) + attended(Expr.const(1), L + 1, Hq, D, D)


def test_llama_decode_reads_the_cache_twice(ours: Ask) -> None:
    """Eager growth copies the cache (L read, L + 1 written), then attention reads L + 1 positions; K and V.

    The new position is read at the width of activations when it is appended.
    """
    L = Expr.symbol("kv_len")
    got = ours(f"{LLAMA}.LlamaAttention", "decode")
    only_cache = {"w_dtype_bytes": 0, "a_dtype_bytes": 0}
    position = 2 * B * Hk * D * kv
    assert got.reads.subs(only_cache) == position * L + position * (L + 1)
    assert got.writes.subs(only_cache) == position * (L + 1)
    # a cache that grows in place is read once and written at the new position
    assert got.boundary.subs(only_cache) == position * L + position


def test_latent_attention_of_deepseek(ours: Ask) -> None:
    """DeepSeek-V3 in prefill: queries and keys go through low ranks and are expanded (nothing is absorbed).

    Keys of a head are nope wide from the latent plus rope wide and shared; values have a width of their own.
    """
    names = "q_lora_rank kv_lora_rank qk_nope_head_dim qk_rope_head_dim v_head_dim"
    rq, rkv, nope, rope, v = map(Expr.symbol, names.split())
    rows = B * S
    queries = product(rows, E, rq) + product(rows, rq, Hq * (nope + rope))
    latent = product(rows, E, rkv + rope)
    expanded = product(rows, rkv, Hq * (nope + v))
    out = product(rows, Hq * v, E)
    got = ours(f"{DEEPSEEK}.DeepseekV3Attention")
    assert got.flops == queries + latent + expanded + attended(S, S, Hq, nope + rope, v) + out
    ranks = (rq + rkv) * w  # the weights of the two norms of the latents
    matrices = E * rq + rq * Hq * (nope + rope) + E * (rkv + rope) + rkv * Hq * (nope + v) + Hq * v * E
    assert got.weights == matrices * w + ranks
