"""Linear layers, embeddings, norms and losses as written down by hand, term by term."""

from __future__ import annotations

from forwardbook.formula import Expr

from .conftest import Ask

B, S, K, N, F = map(Expr.symbol, ["batch_size", "seq_len", "in_features", "out_features", "features"])
w, a = map(Expr.symbol, ["w_dtype_bytes", "a_dtype_bytes"])


def test_linear(ours: Ask) -> None:
    """y = x W' + b: B*S rows, N outputs each, each sums K products; the bias is one addition an output."""
    got = ours("torch.nn.Linear", "sequence")
    assert got.flops == 2 * B * S * N * K
    assert got.pointwise_ops == B * S * N
    assert got.weights == (N * K + N) * w
    assert got.reads == B * S * K * a + (N * K + N) * w  # the input, the matrix and the bias, once each
    assert got.writes == B * S * N * a
    assert got.boundary == got.reads + got.writes  # one kernel: nothing is left to fuse
    assert got.peak == B * S * N * a  # beyond weights and input only the output lives


def test_linear_without_bias(ours: Ask) -> None:
    """No bias: the product alone, no addition, no vector read."""
    got = ours("torch.nn.Linear", "sequence, no bias")
    assert got.flops == 2 * B * S * N * K
    assert got.pointwise_ops == Expr.const(0)
    assert got.reads == B * S * K * a + N * K * w


def test_bilinear(ours: Ask) -> None:
    """y_o = x1' W_o x2 + b_o: contracting x1 first gives I2 sums of I1 products, then one sum of I2 products.

    Contracting x2 first is as good and swaps I1 and I2; which one runs is what torch's kernel does.
    """
    I1, I2 = Expr.symbol("in1_features"), Expr.symbol("in2_features")
    got = ours("torch.nn.Bilinear")
    first, second = 2 * B * N * I2 * I1, 2 * B * N * I2
    assert got.flops == first + second
    assert got.pointwise_ops == B * N
    # the three factors; then product and bias for the addition
    assert got.reads == B * I1 * a + B * I2 * a + N * I1 * I2 * w + B * N * a + N * w
    assert got.writes == B * N * a + B * N * a


def test_conv1d_of_gpt2(ours: Ask) -> None:
    """transformers' Conv1D is a linear layer whose matrix is stored transposed: the cost of Linear."""
    got, linear = ours("transformers.pytorch_utils.Conv1D"), ours("torch.nn.Linear", "sequence")
    assert got == linear


def test_gpt2_mlp(ours: Ask) -> None:
    """E to 4E and back; both biases; tanh-GELU on 4E written out as eight operations an element.

    0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))):
    halve, cube, scale, add, scale, tanh, add, multiply.
    """
    E = Expr.symbol("n_embd")
    got = ours("transformers.models.gpt2.modeling_gpt2.GPT2MLP")
    rows, wide = B * S, 4 * E
    assert got.flops == 2 * rows * E * wide + 2 * rows * wide * E
    assert got.pointwise_ops == rows * wide + 8 * rows * wide + rows * E
    matrices = (E * wide + wide + wide * E + E) * w
    # each of the eight reads one tensor as wide as 4E, the addition of x and the last product two
    assert got.reads == matrices + rows * E * a + (8 + 2) * rows * wide * a + rows * wide * a
    assert got.writes == (rows * wide + 8 * rows * wide + rows * E) * a


def test_embedding(ours: Ask) -> None:
    """A lookup: no arithmetic; reads 8 bytes an index and a row for each, not the table; writes the rows."""
    V, D = Expr.symbol("num_embeddings"), Expr.symbol("embedding_dim")
    got = ours("torch.nn.Embedding")
    assert got.flops == got.pointwise_ops == Expr.const(0)
    assert got.reads == 8 * B * S + B * S * D * w
    assert got.writes == B * S * D * a
    assert got.weights == V * D * w


def test_embedding_bag(ours: Ask) -> None:
    """The rows of a bag are added, one addition an element; torch makes the bags' offsets, 8 bytes each."""
    G, L, D = map(Expr.symbol, ["num_bags", "bag_size", "embedding_dim"])
    got = ours("torch.nn.EmbeddingBag", "sum")
    assert got.flops == Expr.const(0)
    assert got.pointwise_ops == G * L * D
    assert got.reads == 8 * G * L + 8 * G + G * L * D * w
    assert got.writes == 8 * G + G * D * a


def test_layer_norm(ours: Ask) -> None:
    """(x - mean) / std * gamma + beta: sum; subtract, square, sum; subtract, multiply; scale; shift: 8.

    Convention: mean and reciprocal deviation of every row are outputs of the kernel and are written too.
    """
    D = Expr.symbol("normalized_shape")
    got = ours("torch.nn.LayerNorm")
    assert got.flops == Expr.const(0)
    assert got.pointwise_ops == (1 + 3 + 2 + 1 + 1) * B * S * D
    assert got.reads == B * S * D * a + 2 * D * w
    assert got.writes == B * S * D * a + 2 * B * S * a
    assert got.peak == B * S * D * a + 2 * B * S * a


def test_rms_norm(ours: Ask) -> None:
    """x / sqrt(mean(x**2) + eps) * gamma, which torch composes on the CPU and on meta (CUDA has one kernel).

    On elements square, sum, scale, weight; on rows eps in place and the reciprocal root.
    """
    D = Expr.symbol("normalized_shape")
    got = ours("torch.nn.RMSNorm")
    assert got.flops == Expr.const(0)
    assert got.pointwise_ops == B * S * (D + D + 1 + 1 + D + D)
    assert got.reads == B * S * (D + D + 1 + 1 + (D + 1) + D) * a + D * w
    assert got.writes == B * S * (D + 1 + 1 + 1 + D + D) * a
    # the scaled rows, the result, and the roots, which the composite still holds
    assert got.peak == B * S * (D + D + 1) * a


def test_group_norm(ours: Ask) -> None:
    """As layer norm over a group's channels; statistics for each group and sample, an affine map."""
    C, G, H, W = map(Expr.symbol, ["num_channels", "num_groups", "height", "width"])
    got = ours("torch.nn.GroupNorm")
    assert got.flops == Expr.const(0)
    assert got.pointwise_ops == 8 * B * C * H * W
    assert got.reads == B * C * H * W * a + 2 * C * w
    assert got.writes == B * C * H * W * a + 2 * B * G * a


def test_batch_norm(ours: Ask) -> None:
    """In eval mode an affine map: subtract the running mean, times its reciprocal deviation, scale, shift."""
    C, H, W = map(Expr.symbol, ["num_features", "height", "width"])
    got = ours("torch.nn.BatchNorm2d")
    assert got.flops == Expr.const(0)
    assert got.pointwise_ops == 4 * B * C * H * W
    assert got.reads == B * C * H * W * a + 4 * C * w  # running mean and variance, gamma, beta
    assert got.writes == B * C * H * W * a


def test_softmax(ours: Ask) -> None:
    """exp(x - max) / sum: maximum, subtract, exponential, sum, divide."""
    got = ours("torch.nn.Softmax")
    assert got.flops == Expr.const(0)
    assert got.pointwise_ops == 5 * B * F
    assert got.reads == got.writes == B * F * a


def test_gelu(ours: Ask) -> None:
    """An activation is one operation an element whatever its formula takes inside (convention)."""
    got = ours("torch.nn.GELU")
    assert got.flops == Expr.const(0)
    assert got.pointwise_ops == B * F
    assert got.reads == got.writes == got.peak == B * F * a


def test_glu(ours: Ask) -> None:
    """Half of the features gates the other half: a sigmoid and a product for each output."""
    got = ours("torch.nn.GLU")
    assert got.pointwise_ops.subs({"features": 2 * F}) == 2 * B * F
    assert got.writes.subs({"features": 2 * F}) == B * F * a


def test_cross_entropy(ours: Ask) -> None:
    """Log-softmax of every logit: maximum, subtract, exponential, sum, subtract; negation and sum a sample.

    The loss reads a log-probability and a label (8 bytes) a sample; it writes the mean and the total weight.
    """
    C = Expr.symbol("num_classes")
    got = ours("torch.nn.CrossEntropyLoss")
    assert got.flops == Expr.const(0)
    assert got.pointwise_ops == 5 * B * C + 2 * B
    assert got.reads == B * C * a + B * a + 8 * B
    assert got.writes == B * C * a + 2 * a


def test_mse(ours: Ask) -> None:
    """Subtract, square, add into the mean: three an element; two inputs read, one number written."""
    got = ours("torch.nn.MSELoss")
    assert got.pointwise_ops == 3 * B * F
    assert got.reads == 2 * B * F * a
    assert got.writes == a


def test_cosine_similarity_has_no_matrix_product(ours: Ask) -> None:
    """x . y / (|x| |y|) is done elementwise: no flops of the matrix class."""
    assert ours("torch.nn.CosineSimilarity").flops == Expr.const(0)
