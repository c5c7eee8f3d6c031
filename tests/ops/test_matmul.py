"""Matrix products against counts from first principles."""

from collections.abc import Callable

from forwardbook.analyzers.ops import Operand, Operation, Size
from forwardbook.cost import Cost

Make = Callable[..., Operand]
MakeOp = Callable[..., Operation]
Tally = Callable[..., Cost]


def test_mm_multiplies_and_adds_k_times(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """(2 x 3) times (3 x 5): 10 sums of 3 products; bytes of 6 + 15 read and 10 written."""

    def build(m: Size, k: Size, n: Size) -> Operation:
        return operation("aten.mm", (m, n), self=tensor(m, k), mat2=tensor(k, n))

    assert tally(build, m=2, k=3, n=5) == Cost(2 * 10 * 3, 0, 4 * 21, 4 * 10)


def test_bmm_is_mm_for_each(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """7 products of (2 x 3) by (3 x 5)."""

    def build(b: Size, m: Size, k: Size, n: Size) -> Operation:
        return operation("aten.bmm", (b, m, n), self=tensor(b, m, k), mat2=tensor(b, k, n))

    assert tally(build, b=7, m=2, k=3, n=5) == Cost(7 * 60, 0, 7 * 84, 7 * 40)


def test_addmm_adds_the_bias_to_every_output(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """A bias of 5 is read once and added to 10 outputs."""

    def build(m: Size, k: Size, n: Size) -> Operation:
        return operation("aten.addmm", (m, n), self=tensor(n), mat1=tensor(m, k), mat2=tensor(k, n))

    assert tally(build, m=2, k=3, n=5) == Cost(60, 10, 4 * (5 + 21), 40)


def test_beta_zero_does_not_read_self(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """baddbmm with beta=0 is bmm: self only lends its shape."""

    def build(b: Size, m: Size, k: Size, n: Size) -> Operation:
        first, second = tensor(b, m, k), tensor(b, k, n)
        return operation("aten.baddbmm", (b, m, n), self=tensor(b, m, n), batch1=first, batch2=second, beta=0)

    assert tally(build, b=7, m=2, k=3, n=5) == Cost(7 * 60, 0, 7 * 84, 7 * 40)


def test_addbmm_sums_over_the_batch_too(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """10 outputs, each of 7 * 3 products."""

    def build(b: Size, m: Size, k: Size, n: Size) -> Operation:
        first, second = tensor(b, m, k), tensor(b, k, n)
        return operation("aten.addbmm", (m, n), self=tensor(m, n), batch1=first, batch2=second)

    assert tally(build, b=7, m=2, k=3, n=5) == Cost(2 * 10 * 21, 10, 4 * (10 + 42 + 105), 40)


def test_vectors(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """mv and dot are products with one column; addr accumulates an outer product."""

    def mv(m: Size, k: Size) -> Operation:
        return operation("aten.mv", (m,), self=tensor(m, k), vec=tensor(k))

    def addmv(m: Size, k: Size) -> Operation:
        return operation("aten.addmv", (m,), self=tensor(m), mat=tensor(m, k), vec=tensor(k))

    def dot(m: Size, k: Size) -> Operation:
        return operation("aten.dot", (), self=tensor(m), tensor=tensor(m))

    def addr(m: Size, k: Size) -> Operation:
        return operation("aten.addr", (m, k), self=tensor(m, k), vec1=tensor(m), vec2=tensor(k))

    flops = [tally(build, m=64, k=63).flops for build in (mv, addmv, dot, addr)]
    assert flops == [2 * 64 * 63, 2 * 64 * 63, 2 * 64, 2 * 64 * 63]


def test_linear_keeps_leading_dimensions(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """A (2, 4, 3) input through 3 -> 5: 8 rows, and the bias once per output."""

    def build(b: Size, s: Size, i: Size, o: Size) -> Operation:
        return operation("aten.linear", (b, s, o), input=tensor(b, s, i), weight=tensor(o, i), bias=tensor(o))

    assert tally(build, b=2, s=4, i=3, o=5) == Cost(2 * 40 * 3, 40, 4 * (24 + 15 + 5), 160)


def test_matmul_of_two_vectors_is_one_sum(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """An output without dimensions is one element."""

    def build(n: Size) -> Operation:
        return operation("aten.matmul", (), self=tensor(n), other=tensor(n))

    assert tally(build, n=9).flops == 18


def test_trilinear_of_bilinear(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """torch.nn.Bilinear contracts x1 with the weight, in1 products, then the result with x2."""

    def build(b: Size, o: Size, p: Size, q: Size) -> Operation:
        factors = {"i1": tensor(b, p), "i2": tensor(o, p, q), "i3": tensor(b, q)}
        expand = {"expand1": [1, 3], "expand2": [0], "expand3": [1, 2]}
        return operation("aten._trilinear", (b, o), **factors, **expand, sumdim=[2, 3])

    # at (2, 8, 64, 64) the number that a separate study of torch's counter expected: 133120
    assert tally(build, b=2, o=8, p=64, q=64).flops == 133120
    assert tally(build, b=2, o=5, p=3, q=7).flops == 2 * 2 * 5 * 7 * 3 + 2 * 2 * 5 * 7


def test_euclidean_distance_has_a_product_inside(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """4 by 6 points of 3 coordinates: 24 sums of 3 products, 30 coordinates squared, 4 steps each."""

    def build(p: Size, r: Size, m: Size) -> Operation:
        return operation("aten._euclidean_dist", (p, r), x1=tensor(p, m), x2=tensor(r, m))

    assert tally(build, p=4, r=6, m=3) == Cost(2 * 24 * 3, 2 * 30 + 4 * 24, 4 * 30, 4 * 24)


def test_other_distances_have_none(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """Per pair and coordinate three elementwise steps."""

    def build(p: Size, r: Size, m: Size) -> Operation:
        return operation("aten._cdist_forward", (p, r), x1=tensor(p, m), x2=tensor(r, m), p=1.0)

    cost = tally(build, p=4, r=6, m=3)
    assert (cost.flops, cost.pointwise_ops) == (0, 3 * 24 * 3)


def test_integer_and_scaled_products_count_as_products(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """int8 and fp8 products are 2 per multiply-accumulate too, at their own byte width."""

    def build(m: Size, k: Size, n: Size) -> Operation:
        left, right = tensor(m, k, width=1), tensor(k, n, width=1)
        return operation("aten._int_mm", (m, n), self=left, mat2=right)

    def scaled(m: Size, k: Size, n: Size) -> Operation:
        left, right = tensor(m, k, width=1), tensor(k, n, width=1)
        scales = {"scale_a": tensor(), "scale_b": tensor()}
        return operation("aten._scaled_mm", (m, n), self=left, mat2=right, **scales, bias=tensor(n))

    assert tally(build, m=2, k=3, n=5) == Cost(60, 0, 21, 40)
    assert tally(scaled, m=2, k=3, n=5) == Cost(60, 10, 21 + 8 + 20, 40)
