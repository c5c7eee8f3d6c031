"""Blocks of language models as written down by hand: gated MLP, norms, experts, a layer, a mixer."""

from __future__ import annotations

from forwardbook.formula import Expr

from .conftest import Ask

B, S, E, F = map(Expr.symbol, ["batch_size", "seq_len", "hidden_size", "intermediate_size"])
w, a = map(Expr.symbol, ["w_dtype_bytes", "a_dtype_bytes"])
LLAMA = "transformers.models.llama.modeling_llama"
MIXTRAL = "transformers.models.mixtral.modeling_mixtral"
QWEN = "transformers.models.qwen3_moe.modeling_qwen3_moe"
MAMBA = "transformers.models.mamba.modeling_mamba"


def swiglu(rows: Expr, width: Expr) -> Expr:
    """Shazeer's SwiGLU, down(silu(gate(x)) * up(x)): three E x width products of every row."""
    return 3 * (2 * rows * E * width)


def test_swiglu(ours: Ask) -> None:
    """Beside the products, an activation and a product for each of F gated elements."""
    got = ours(f"{LLAMA}.LlamaMLP", holder=f"{LLAMA}.LlamaDecoderLayer")
    assert got.flops == swiglu(B * S, F)
    assert got.pointwise_ops == 2 * B * S * F
    # gate and up read x; silu reads 1 F wide tensor, the product 2, down 1
    assert got.reads == 2 * B * S * E * a + (1 + 2 + 1) * B * S * F * a + 3 * E * F * w
    # gate, silu, up, product, down
    assert got.writes == (1 + 1 + 1 + 1) * B * S * F * a + B * S * E * a
    assert got.intermediates == 4 * B * S * F * a


def test_swiglu_peak(ours: Ask) -> None:
    """Three F wide tensors live while the gate meets up; while down writes, only its input is beside it."""
    got = ours(f"{LLAMA}.LlamaMLP", holder=f"{LLAMA}.LlamaDecoderLayer")
    assert got.peak == Expr.maximum(3 * B * S * F * a, (F + E) * B * S * a)


def test_rms_norm_of_llama(ours: Ask) -> None:
    """Zhang and Sennrich's norm in steps (fp32: no casts): square, mean; per row eps, root; scale, weight."""
    got = ours(f"{LLAMA}.LlamaRMSNorm", holder=f"{LLAMA}.LlamaDecoderLayer")
    assert got.flops == Expr.const(0)
    assert got.pointwise_ops == B * S * (E + E + 1 + 1 + E + E)
    # square E; mean E; eps 1; root 1; x and its row's factor E + 1; the scaled row E and the weight
    assert got.reads == B * S * (E + E + 1 + 1 + (E + 1) + E) * a + E * w
    assert got.writes == B * S * (E + 1 + 1 + 1 + E + E) * a
    # when the weight is applied: the scaled row, the result, and the variance, a local of forward()
    assert got.peak == B * S * (E + E + 1) * a


def test_decoder_layer_is_the_sum_of_its_parts(ours: Ask) -> None:
    """x + attention(norm(x)), then x + mlp(norm(x)): two norms, attention, MLP, two additions of E."""
    layer = f"{LLAMA}.LlamaDecoderLayer"
    for scenario, rows in (("default", B * S), ("decode", B)):
        whole = ours(layer, scenario)
        attention, mlp, norm = (
            ours(f"{LLAMA}.Llama{part}", scenario, holder=layer) for part in ("Attention", "MLP", "RMSNorm")
        )
        assert whole.flops == attention.flops + mlp.flops
        assert (
            whole.pointwise_ops
            == attention.pointwise_ops + mlp.pointwise_ops + 2 * norm.pointwise_ops + 2 * rows * E
        )
        assert whole.reads == attention.reads + mlp.reads + 2 * norm.reads + 2 * (2 * rows * E * a)
        assert whole.writes == attention.writes + mlp.writes + 2 * norm.writes + 2 * rows * E * a
        assert whole.weights == attention.weights + mlp.weights + 2 * norm.weights


def test_experts_of_mixtral(ours: Ask) -> None:
    """Each token visits its top k experts, each a SwiGLU: k times the dense MLP, however many there are."""
    K = Expr.symbol("num_experts_per_tok")
    got = ours(f"{MIXTRAL}.MixtralExperts", holder=f"{MIXTRAL}.MixtralSparseMoeBlock")
    assert got.flops == swiglu(B * S * K, F)


def test_experts_read_only_chosen_matrices(ours: Ask) -> None:
    """Balanced, B*S*K rows wake min(rows, experts) experts; the matrices of the others stay unread."""
    K, X = Expr.symbol("num_experts_per_tok"), Expr.symbol("num_local_experts")
    got = ours(f"{MIXTRAL}.MixtralExperts", holder=f"{MIXTRAL}.MixtralSparseMoeBlock")
    matrices = 3 * E * F * Expr.minimum(B * S * K, X) * w
    no_weights = {"w_dtype_bytes": 0}
    assert got.reads - got.reads.subs(no_weights) == matrices
    assert got.boundary - got.boundary.subs(no_weights) == matrices


def test_experts_of_qwen3(ours: Ask) -> None:
    """The same with the experts' own width."""
    K, M = Expr.symbol("num_experts_per_tok"), Expr.symbol("moe_intermediate_size")
    assert ours(f"{QWEN}.Qwen3MoeExperts").flops == swiglu(B * S * K, M)


def test_sparse_block_of_mixtral(ours: Ask) -> None:
    """The router scores every expert for every token, E products each; then the experts."""
    K, X = Expr.symbol("num_experts_per_tok"), Expr.symbol("num_local_experts")
    got = ours(f"{MIXTRAL}.MixtralSparseMoeBlock")
    assert got.flops == 2 * B * S * E * X + swiglu(B * S * K, F)
    assert got.weights == (E * X + 3 * E * F * X) * w


def test_mamba_mixer(with_loops: Ask) -> None:
    """Gu and Dao's mixer in steps: in and out projections, causal depthwise convolution, selective scan.

    torch pads the convolution by k - 1 on both sides and drops the tail, so S + k - 1 positions are computed.
    The scan reads the state out with one product of N an element and step; its update is elementwise.
    """
    N, R, k = map(Expr.symbol, ["state_size", "time_step_rank", "conv_kernel"])
    rows = B * S
    projections = 2 * rows * E * (2 * F) + 2 * rows * F * E
    convolution = 2 * B * F * (S + k - 1) * k
    selection = 2 * rows * F * (R + N + N) + 2 * rows * R * F
    readout = 2 * rows * F * N
    assert with_loops(f"{MAMBA}.MambaMixer").flops == projections + convolution + selection + readout
