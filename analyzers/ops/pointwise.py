"""Element by element work: how many operations an output element takes, every operation named."""

from __future__ import annotations

from forwardbook.analyzers.ops.operation import Operation, Work
from forwardbook.analyzers.ops.registry import aten, in_place, rule

# An activation or special function counts 1 however many instructions it takes, and so does a complex
# element: what is counted is results computed, which no kernel or device changes.
ONCE_ALSO_IN_PLACE = """
    add sub mul div true_divide floor_divide divide multiply subtract remainder fmod pow float_power
    square reciprocal neg negative abs absolute sgn sign clamp clamp_max clamp_min clip round floor
    ceil trunc fix frac nan_to_num copysign hypot gcd lcm nextafter heaviside conj_physical deg2rad
    rad2deg sqrt rsqrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan atan2 sinh
    cosh tanh asinh acosh atanh sinc erf erfc erfinv digamma lgamma mvlgamma polygamma igamma
    igammac i0 eq ne lt le gt ge less less_equal greater greater_equal not_equal logical_and
    logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor bitwise_not
    bitwise_left_shift bitwise_right_shift masked_fill relu relu6 leaky_relu elu selu celu gelu silu
    mish sigmoid hardsigmoid hardswish hardtanh threshold logit _add_relu
"""
ONCE = """
    rsub signbit positive maximum minimum fmax fmin frexp _conj_physical angle logaddexp logaddexp2
    isfinite isinf isnan isneginf isposinf isclose isreal where __and__ __or__ __xor__ __iand__
    __ior__ __ixor__ __lshift__ __rshift__ __ilshift__ __irshift__ _prelu_kernel prelu hardshrink
    softshrink softplus log_sigmoid_forward log_sigmoid gelu_backward logit_backward
    native_dropout_backward sigmoid_backward silu_backward tanh_backward threshold_backward
    special_airy_ai special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1
    special_chebyshev_polynomial_t special_chebyshev_polynomial_u special_chebyshev_polynomial_v
    special_chebyshev_polynomial_w special_entr special_erfcx special_hermite_polynomial_h
    special_hermite_polynomial_he special_i0e special_i1 special_i1e special_laguerre_polynomial_l
    special_legendre_polynomial_p special_log_ndtr special_modified_bessel_i0
    special_modified_bessel_i1 special_modified_bessel_k0 special_modified_bessel_k1 special_ndtri
    special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1
    special_shifted_chebyshev_polynomial_t special_shifted_chebyshev_polynomial_u
    special_shifted_chebyshev_polynomial_v special_shifted_chebyshev_polynomial_w
    special_spherical_bessel_j0 special_zeta
"""


@rule(
    *in_place(*ONCE_ALSO_IN_PLACE.split()),
    *aten(*ONCE.split()),
    reason="1 per output element: an arithmetic operation, a comparison, a selection or an "
    "activation, each result once",
)
def one_each(op: Operation) -> Work:
    return Work(pointwise_ops=op.output.numel)


@rule(
    *in_place("addcmul addcdiv"),
    reason="2 per output element: multiply (divide) and add; value rides along",
)
def multiply_add(op: Operation) -> Work:
    return Work(pointwise_ops=2 * op.output.numel)


@rule(
    *in_place("xlogy"),
    "aten.special_xlog1py",
    reason="2 per output element: logarithm and multiply",
)
def times_logarithm(op: Operation) -> Work:
    return Work(pointwise_ops=2 * op.output.numel)


@rule(
    *in_place("ldexp"),
    reason="2 per output element: power of two and multiply",
)
def times_power(op: Operation) -> Work:
    return Work(pointwise_ops=2 * op.output.numel)


@rule(
    "aten.glu",
    reason="2 per output element: the sigmoid of one half and its product with the other",
)
def gated_linear_unit(op: Operation) -> Work:
    return Work(pointwise_ops=2 * op.output.numel)


@rule(
    *in_place("lerp"),
    reason="3 per output element: subtract, multiply by the weight, add",
)
def interpolate_between(op: Operation) -> Work:
    return Work(pointwise_ops=3 * op.output.numel)


@rule(
    "aten.linalg_cross",
    "aten.cross",
    reason="3 per output element: two products and their difference",
)
def cross_product(op: Operation) -> Work:
    return Work(pointwise_ops=3 * op.output.numel)


@rule("aten.polar", reason="4 per output element: cosine, sine, and the modulus times each")
def from_polar(op: Operation) -> Work:
    return Work(pointwise_ops=4 * op.output.numel)


@rule(
    "aten.equal",
    reason="1 per element of self: a comparison; the answer is a Python bool, so nothing is written",
)
def all_equal(op: Operation) -> Work:
    return Work(pointwise_ops=op.inputs[0].numel, writes=0)
