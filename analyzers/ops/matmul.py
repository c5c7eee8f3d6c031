"""Matrix products: multiply-accumulates of mm, bmm, their added forms, vectors, distances, bilinear maps."""

from __future__ import annotations

from forwardbook.analyzers.ops.operation import Operation, Size, Work, product, total
from forwardbook.analyzers.ops.registry import aten, in_place, once, rule

MAC = 2  # a multiply-accumulate is one multiply and one add; of complex numbers it is 8 (registry.COMPLEX)


@rule(
    *aten("mm bmm _int_mm mv _sparse_mm"),
    reason="2: each output element sums k products, a multiply and an add each; k is the last "
    "dimension of self; 8 of complex numbers",
)
def matrix_product(op: Operation) -> Work:
    return Work(flops=MAC * op.output.numel * op.inputs[0].shape[-1])


def added(op: Operation, flops: Size) -> Work:
    """A product added to self; where beta is zero, self is neither read nor added."""
    if not op.vanishes("beta"):
        return Work(flops=flops, pointwise_ops=op.output.numel)
    return Work(flops=flops, reads=once(*(x for x in op.inputs if x is not op.inputs[0])))


@rule(
    *in_place("addmm addmv"),
    "aten._addmm_activation",
    "aten._sparse_addmm",
    reason="2 per multiply-accumulate (8 of complex numbers) over the last dimension of the matrix; 1 "
    "pointwise per output element adds self (none, and self is not read, where beta is 0); alpha rides in "
    "the accumulation",
)
def matrix_product_added(op: Operation) -> Work:
    matrix = op.inputs[1]
    return added(op, MAC * op.output.numel * matrix.shape[-1])


@rule(
    *in_place("baddbmm"),
    reason="as addmm for each matrix of the batch: 2 per multiply-accumulate (8 of complex numbers), 1 "
    "pointwise per output element adds self unless beta is 0",
)
def batched_product_added(op: Operation) -> Work:
    batch = op.tensor("batch1")
    return added(op, MAC * op.output.numel * batch.shape[-1])


@rule(
    *in_place("addbmm"),
    reason="2: each output element sums b * k products, over the batch and the inner dimension; 1 "
    "pointwise per output element adds self unless beta is 0",
)
def summed_batched_product(op: Operation) -> Work:
    batch = op.tensor("batch1")
    return added(op, MAC * op.output.numel * batch.shape[0] * batch.shape[-1])


@rule(
    *in_place("addr"),
    reason="2: the outer product of two vectors is accumulated into every element of self",
)
def outer_product_added(op: Operation) -> Work:
    return Work(flops=MAC * op.output.numel)


@rule(
    "aten.ger",
    "aten.outer",
    reason="1 pointwise: every output element is one product, nothing is accumulated",
)
def outer_product(op: Operation) -> Work:
    return Work(pointwise_ops=op.output.numel)


@rule(
    *aten("dot vdot"),
    reason="2: n products are summed, a multiply and an add each; 8 of complex numbers",
)
def inner_product(op: Operation) -> Work:
    return Work(flops=MAC * op.inputs[0].numel)


@rule("aten.linalg_vecdot", reason="2: every pair of elements is multiplied and summed")
def vector_products(op: Operation) -> Work:
    return Work(flops=MAC * op.inputs[0].numel)


@rule(
    *aten("linear mkldnn_linear"),
    "mkldnn._linear_pointwise",
    reason="2 per multiply-accumulate over in_features, the last dimension of the input; 1 pointwise "
    "per output element where there is a bias",
)
def linear(op: Operation) -> Work:
    bias = op.optional("bias")
    data = op.inputs[0]
    return Work(
        flops=MAC * op.output.numel * data.shape[-1],
        pointwise_ops=op.output.numel if bias is not None else 0,
    )


@rule(
    "aten.matmul",
    reason="2 per multiply-accumulate over the last dimension of self; two vectors give one element",
)
def matmul(op: Operation) -> Work:
    return Work(flops=MAC * op.output.numel * op.inputs[0].shape[-1])


@rule(
    *aten("_scaled_mm _scaled_mm_v2"),
    reason="2 per multiply-accumulate; 1 pointwise per output element where there is a bias; the "
    "scales are applied in the product's epilogue",
)
def scaled_product(op: Operation) -> Work:
    bias = op.optional("bias")
    return Work(
        flops=MAC * op.output.numel * op.inputs[0].shape[-1],
        pointwise_ops=op.output.numel if bias is not None else 0,
    )


@rule(
    *aten("_weight_int8pack_mm _weight_int4pack_mm _weight_int4pack_mm_for_cpu _dyn_quant_matmul_4bit"),
    reason="2 per multiply-accumulate over the last dimension of the activations; 1 pointwise per "
    "output element scales the integer weights back",
)
def packed_weight_product(op: Operation) -> Work:
    return Work(flops=MAC * op.output.numel * op.inputs[0].shape[-1], pointwise_ops=op.output.numel)


@rule(
    "aten._trilinear",
    reason="as it runs: the first two factors are contracted over the dimensions the third lacks, 2 "
    "per multiply-accumulate, then the result with the third over the rest, 2 again; Bilinear "
    "gives 2 * B * out * in2 * (in1 + 1)",
)
def trilinear(op: Operation) -> Work:
    first, second, third = (_by_dimension(op, f"i{i}", f"expand{i}") for i in (1, 2, 3))
    summed = {d for d in op.sizes("sumdim") if isinstance(d, int)}
    early = {d for d in summed if d not in third}
    inner = first | second
    kept = {d: size for d, size in inner.items() if d not in early}
    steps = ((product(*inner.values()), early), (product(*(kept | third).values()), summed - early))
    return Work(
        flops=MAC * total(*(size for size, over in steps if over)),
        pointwise_ops=total(*(size for size, over in steps if not over)),
    )


def _by_dimension(op: Operation, name: str, expand: str) -> dict[int, Size]:
    """The sizes of one factor by dimension of the common iteration space; the expanded ones are absent."""
    factor, absent = op.tensor(name), op.sizes(expand)
    places = [d for d in range(len(factor.shape) + len(absent)) if d not in absent]
    return dict(zip(places, factor.shape, strict=True))


@rule(
    "aten._euclidean_dist",
    reason="2 * P * R * M: the cross terms are a matrix product; pointwise: square and sum each of "
    "the P * M and R * M elements (2), and per distance add both norms, clamp, take the root "
    "(4)",
)
def euclidean_distance(op: Operation) -> Work:
    x1, x2 = op.tensor("x1"), op.tensor("x2")
    return Work(
        flops=MAC * op.output.numel * x1.shape[-1],
        pointwise_ops=2 * x1.numel + 2 * x2.numel + 4 * op.output.numel,
    )


@rule(
    *aten("_cdist_forward cdist"),
    reason="3 pointwise per pair and coordinate: subtract, raise to p, add; no product of two "
    "inputs, so no flops",
)
def distance(op: Operation) -> Work:
    return Work(pointwise_ops=3 * op.output.numel * op.inputs[0].shape[-1])


@rule(
    "aten._pdist_forward",
    reason="3 pointwise per pair and coordinate: subtract, raise to p, add",
)
def pair_distance(op: Operation) -> Work:
    return Work(pointwise_ops=3 * op.output.numel * op.inputs[0].shape[-1])
