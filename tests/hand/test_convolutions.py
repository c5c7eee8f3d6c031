"""Convolutions and pooling as written down by hand from the definition of a window sliding over its input."""

from __future__ import annotations

from forwardbook.formula import Expr

from .conftest import Ask

B, C, Ci, Co, G = map(Expr.symbol, ["batch_size", "channels", "in_channels", "out_channels", "groups"])
L, H, W = map(Expr.symbol, ["length", "height", "width"])
w, a = map(Expr.symbol, ["w_dtype_bytes", "a_dtype_bytes"])


def numbered(names: str, i: int) -> tuple[Expr, ...]:
    return tuple(Expr.symbol(f"{name}_{i}") for name in names.split())


def windows(extent: Expr, k: Expr, s: Expr, p: Expr, d: Expr | int = 1) -> Expr:
    """How many windows fit: the first starts at -p, the last ends, after d*(k-1)+1, within extent + p."""
    return (extent + 2 * p - (d * (k - 1) + 1)).floordiv(s) + 1


def test_conv1d(ours: Ask) -> None:
    """Each output sums k positions of the Ci/G channels of its group; a bias addition each; bytes once."""
    k, s, p, d = map(Expr.symbol, ["kernel_size", "stride", "padding", "dilation"])
    out = B * Co * windows(L, k, s, p, d)
    got = ours("torch.nn.Conv1d")
    assert got.flops == 2 * out * k * Ci.floordiv(G)
    assert got.pointwise_ops == out
    assert got.weights == (Co * Ci.floordiv(G) * k + Co) * w
    assert got.reads == B * Ci * L * a + got.weights
    assert got.writes == out * a



def test_conv2d(ours: Ask) -> None:
    """As in one dimension, windows counted along each of two; padding zeros count as products (dense)."""
    (k0, s0, p0, d0), (k1, s1, p1, d1) = (numbered("kernel_size stride padding dilation", i) for i in (0, 1))
    out = B * Co * windows(H, k0, s0, p0, d0) * windows(W, k1, s1, p1, d1)
    got = ours("torch.nn.Conv2d")
    assert got.flops == 2 * out * k0 * k1 * Ci.floordiv(G)
    assert got.pointwise_ops == out
    assert got.reads == B * Ci * H * W * a + (Co * Ci.floordiv(G) * k0 * k1 + Co) * w
    assert got.writes == out * a
    assert got.peak == out * a


def test_depthwise_convolution(ours: Ask) -> None:
    """With a group for every channel, and m outputs a group, an output sums k0*k1 products of one channel."""
    (k0, s0, p0, d0), (k1, s1, p1, d1) = (numbered("kernel_size stride padding dilation", i) for i in (0, 1))
    m = Expr.symbol("multiplier")
    got = ours("torch.nn.Conv2d").flops.subs({"groups": C, "in_channels": C, "out_channels": C * m})
    assert got == 2 * B * C * m * windows(H, k0, s0, p0, d0) * windows(W, k1, s1, p1, d1) * k0 * k1


def test_pointwise_convolution(ours: Ask) -> None:
    """A 1 x 1 kernel without stride or padding is a linear layer on B*H*W rows."""
    one = {f"{n}_{i}": 1 for n in ("kernel_size", "stride", "dilation") for i in (0, 1)}
    got = ours("torch.nn.Conv2d").flops.subs({**one, "padding_0": 0, "padding_1": 0, "groups": 1})
    assert got == 2 * B * H * W * Ci * Co


def test_conv2d_padding_same(ours: Ask) -> None:
    """Padding 'same' of odd kernels keeps the extent: an output at every position, k0*k1*Ci products each."""
    k0, k1 = (2 * Expr.symbol(f"half_{i}") + 1 for i in (0, 1))
    got = ours("torch.nn.Conv2d", "padding same").flops
    got = got.subs({"kernel_size_0": k0, "kernel_size_1": k1, "groups": 1})
    assert got == 2 * B * Co * H * W * Ci * k0 * k1


def test_conv_transpose2d(ours: Ask) -> None:
    """The adjoint: every input element is scaled by k0*k1 weights into each of Co/G channels of its group.

    It fills (H - 1) * s + d * (k - 1) + 1 rows; 2 p of them are cropped, output_padding adds some.
    """
    names = "kernel_size stride padding dilation output_padding"
    (k0, s0, p0, d0, o0), (k1, s1, p1, d1, o1) = (numbered(names, i) for i in (0, 1))
    got = ours("torch.nn.ConvTranspose2d")
    assert got.flops == 2 * B * Ci * H * W * k0 * k1 * Co.floordiv(G)
    rows = (H - 1) * s0 + d0 * (k0 - 1) + 1 - 2 * p0 + o0
    columns = (W - 1) * s1 + d1 * (k1 - 1) + 1 - 2 * p1 + o1
    whole = {"out_channels": G * C}  # so that Co / G is a whole number
    assert got.writes.subs(whole) == B * G * C * rows * columns * a
    assert got.pointwise_ops.subs(whole) == B * G * C * rows * columns
    assert got.reads.subs(whole) == B * Ci * H * W * a + (Ci * C * k0 * k1 + G * C) * w


def test_conv_transpose1d(ours: Ask) -> None:
    """One dimension of the same."""
    k = Expr.symbol("kernel_size")
    assert ours("torch.nn.ConvTranspose1d").flops == 2 * B * Ci * L * k * Co.floordiv(G)


def test_conv3d(ours: Ask) -> None:
    """Three dimensions of windows, k0*k1*k2*Ci/G products each."""
    axes = [numbered("kernel_size stride padding dilation", i) for i in range(3)]
    D = Expr.symbol("depth")
    out = B * Co
    for extent, (k, s, p, d) in zip((D, H, W), axes, strict=True):
        out = out * windows(extent, k, s, p, d)
    assert ours("torch.nn.Conv3d").flops == 2 * out * Ci.floordiv(G) * axes[0][0] * axes[1][0] * axes[2][0]


def test_max_pool2d(ours: Ask) -> None:
    """A comparison for each of k0*k1 positions of a window; the place of the maximum is written too, 8 bytes.

    Convention: positions that fall into the padding count, and the first of k0*k1 candidates too.
    """
    (k0, s0, p0, d0), (k1, s1, p1, d1) = (numbered("kernel_size stride padding dilation", i) for i in (0, 1))
    out = B * C * windows(H, k0, s0, p0, d0) * windows(W, k1, s1, p1, d1)
    got = ours("torch.nn.MaxPool2d")
    assert got.flops == Expr.const(0)
    assert got.pointwise_ops == out * k0 * k1
    assert got.reads == B * C * H * W * a
    assert got.writes == out * a + out * 8


def test_avg_pool2d(ours: Ask) -> None:
    """An addition for each position of a window (the one division an output is left out)."""
    (k0, s0, p0), (k1, s1, p1) = (numbered("kernel_size stride padding", i) for i in (0, 1))
    out = B * C * windows(H, k0, s0, p0) * windows(W, k1, s1, p1)
    got = ours("torch.nn.AvgPool2d")
    assert got.flops == Expr.const(0)
    assert got.pointwise_ops == out * k0 * k1
    assert got.reads == B * C * H * W * a
    assert got.writes == out * a


def test_patch_embedding_of_vit(ours: Ask) -> None:
    """Each of (image / patch)**2 patches is one product of patch*patch*channels with the hidden size."""
    image, P, N, E = map(Expr.symbol, ["image_size", "patch_size", "num_channels", "hidden_size"])
    side = Expr.symbol("side")
    whole = {"image_size": side * P}
    got = ours("transformers.models.vit.modeling_vit.ViTPatchEmbeddings")
    assert got.flops.subs(whole) == 2 * B * (side * side) * (P * P * N) * E
    assert got.pointwise_ops.subs(whole) == B * side * side * E
    assert got.reads == B * N * image * image * a + (E * N * P * P + E) * w
    assert got.writes.subs(whole) == B * side * side * E * a
