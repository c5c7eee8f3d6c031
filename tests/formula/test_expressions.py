"""What expressions simplify to, how they print, and what they refuse."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

import numpy
import pytest

from forwardbook.errors import ForwardbookError
from forwardbook.formula import Condition, Expr, FormulaError, dominant, parse
from forwardbook.formula.limits import MAX_NESTING

B, S, H, KV = (Expr.symbol(name) for name in ("batch_size", "seq_len", "hidden_size", "kv_len"))
HEADS, D, X, W = (Expr.symbol(name) for name in ("num_heads", "head_dim", "x", "w"))
STRIDE, PAD, KERNEL = (Expr.symbol(name) for name in ("stride", "padding", "kernel"))
OUT = (X + 2 * PAD - KERNEL) // STRIDE + 1


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (2 * B * S * H + 2 * B * S * KV, "2 * {batch_size} * {seq_len} * ({kv_len} + {hidden_size})"),
        (
            (7 * B * S * D * (H + KV)).exact_div(2),
            "7 * {batch_size} * {seq_len} * {head_dim} * ({kv_len} + {hidden_size}) // 2",
        ),
        (B * H * H.exact_div(HEADS), "{batch_size} * {hidden_size} * {hidden_size} // {num_heads}"),
        (H.exact_div(HEADS) // 2, "floor({hidden_size} / (2 * {num_heads}))"),
        (S + (B * X).exact_div(2 * W), "{seq_len} + {batch_size} * {x} // (2 * {w})"),
        (OUT, "floor((2 * {padding} + {x} - {kernel}) / {stride}) + 1"),
        (X.ceildiv(W), "ceil({x} / {w})"),
        ((X + W - 1) // W, "ceil({x} / {w})"),
        (X - X // 2, "ceil({x} / 2)"),
        (X % W, "{x} % {w}"),
        (X % W * B, "{batch_size} * ({x} % {w})"),
        (X + (-X) % W, "{w} * ceil({x} / {w})"),
        ((H + D) * (B + S) * 6, "6 * ({batch_size} + {seq_len}) * ({head_dim} + {hidden_size})"),
        (1 - X, "1 - {x}"),
        (-X - B, "-({batch_size} + {x})"),
        (Expr.maximum(X, B * X, 3), "max(3, {batch_size} * {x}, {x})"),
        (Expr.const(0), "0"),
        (Expr.const(-3), "-3"),
    ],
)
def test_prints(value: Expr, expected: str) -> None:
    """Common factors stand in front, and the text reads back to the same polynomial."""
    assert expected == value.text()
    assert value == parse(value.text(), exact=True)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (B * S // S, B),
        ((B * S + 3 * S) // S, B + 3),
        ((B * B - S * S) // (B + S), B - S),
        ((B * B - S * S).exact_div(B - S), B + S),
        ((6 * X + 4) // 2, 3 * X + 2),
        ((2 * X + 1) // 2, X),
        ((2 * X + 1) // 4, X // 2),
        ((3 * X) // (6 * X), Expr.const(0)),
        (X // 6, X // 2 // 3),
        (223 // (2 * W), 111 // W),
        (X // 2 + X.ceildiv(2), X),
        (-(-X // W), (X + W - 1) // W),
        (X // W * W + X % W, X),
        ((X + (-X) % W) % W, Expr.const(0)),
        ((W - X % W) % W, (-X) % W),
        (H.exact_div(HEADS) * HEADS, H),
        (Expr.maximum(X, 0), X),
        (Expr.minimum(X, X + B), X),
        (Expr.maximum(Expr.maximum(X, B), S, B), Expr.maximum(S, B, X)),
        (Expr.maximum(2, 7), Expr.const(7)),
        (X**3, X * X * X),
        (7 // Expr.const(2), Expr.const(3)),
        ((X * X + B).subs({"x": 2, "batch_size": S}), S + 4),
        (H.exact_div(HEADS).subs({"hidden_size": HEADS * D}), D),
        ((X // 4).subs({"x": 8 * B}), 2 * B),
    ],
)
def test_simplifies(value: Expr, expected: Expr) -> None:
    """Two ways to the same size are the same polynomial."""
    assert expected == value
    assert hash(expected) == hash(value)


def test_zero_sizes_are_respected() -> None:
    """A maximum keeps the argument that counts only where a size is zero."""
    assert Expr.maximum(1, KV).evaluate({"kv_len": 0}) == 1


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: X // 0,
        lambda: X.exact_div(0),
        lambda: X % (B - B),
        lambda: X.exact_div(B + S),
        lambda: X.evaluate({}),
        lambda: X.evaluate({"x": -1}),
        lambda: X.evaluate({"x": 1.5}),  # type: ignore[dict-item]
        lambda: X.exact_div(2).evaluate({"x": 3}),
        lambda: X.exact_div(W).evaluate({"x": 3, "w": 0}),
        lambda: (X // W).evaluate({"x": 3, "w": 0}),
        lambda: (X // W).evaluate_many({"x": numpy.arange(3), "w": numpy.arange(3)}),
        lambda: X.exact_div(2).evaluate_many({"x": numpy.arange(3)}),
        lambda: X.evaluate_many({"x": numpy.array([1.0])}),
        lambda: X.evaluate_many({"x": numpy.array([-1])}),
        lambda: X.evaluate_many({}),
        lambda: X.const_value(),
        lambda: Expr.const(1).exact_div(2).const_value(),
        lambda: Expr.symbol("a b"),
        lambda: Expr.symbol(""),
        lambda: Expr.maximum(),
        lambda: X**-1,
        lambda: X**1000,
        lambda: Condition(X, "<>", B),
        lambda: Expr.const(10**5000),
    ],
)
def test_refuses(attempt: object) -> None:
    """What has no exact value is refused by the package's own error."""
    assert callable(attempt)
    with pytest.raises(FormulaError):
        attempt()
    assert issubclass(FormulaError, ForwardbookError)


def test_deep_nesting_prints_and_is_bounded() -> None:
    """Roundings nest to a stated depth, print and read back there, and are refused beyond it."""
    chain = X
    for place in range(MAX_NESTING):
        chain = (chain + 1) // Expr.symbol(f"s{place}")
    assert chain == parse(chain.text(), exact=True)
    with pytest.raises(FormulaError, match="nested"):
        (chain + 1) // W


@pytest.mark.parametrize(
    ("larger", "smaller", "expected"),
    [
        (B * S, B, True),
        (B * S + 1, B + S, True),
        (B, B * S, False),
        (B * S, B + S, False),
        (X, X // W, True),
        (X.ceildiv(W) * W, X, True),
        (W - 1, X % W, True),
        (Expr.maximum(B, S), S, True),
        (S, Expr.minimum(B, S), True),
        (B * S, Expr.maximum(B, S), True),
        (H.exact_div(HEADS) * (HEADS + 1), H, True),
        (2 * OUT * B, OUT * B, False),
    ],
)
def test_at_least(larger: Expr, smaller: Expr, expected: bool) -> None:
    """Comparisons are proved for sizes from one on, through roundings where their bounds suffice."""
    assert expected == larger.at_least(smaller)


def test_sizes_known_to_be_positive_help() -> None:
    """A dimension that is a rounded quotient compares as a size when it is said to be one."""
    assert (2 * OUT * OUT * B).at_least(OUT * B, sizes=[OUT])
    assert dominant([OUT * OUT, 3 * OUT * OUT, OUT], sizes=[OUT]) == [3 * OUT * OUT]


def test_dominant_drops_what_another_covers() -> None:
    """Equal candidates are kept once, covered ones not at all, the rest in order."""
    assert dominant([S * S, B * H, B * S * H, S * S]) == [S * S, B * S * H]


@pytest.mark.parametrize(
    ("value", "degree"),
    [(B + S, 0), (B * X + 1, 1), ((B * X * (X - 1)).exact_div(2) + S, 2), (X**3 * B - X, 3)],
)
def test_interpolates(value: Expr, degree: int) -> None:
    """The polynomial comes back from its values when one point beyond its degree confirms it."""
    points = {place: value.subs({"x": place}) for place in range(1, degree + 3)}
    assert value == Expr.interpolate("x", points)
    assert value == Expr.interpolate("x", {2: value, **{place * 3: value for place in range(1, degree + 2)}})
    del points[1]
    assert Expr.interpolate("x", points) is None if degree else value


def test_interpolation_is_confirmed() -> None:
    """A value off the polynomial, or a degree beyond the limit, gives nothing."""
    assert Expr.interpolate("x", {1: B, 2: 2 * B, 3: 4 * B}) is None
    assert Expr.interpolate("x", {place: B * place**4 for place in range(1, 8)}) is None
    assert Expr.interpolate("x", {place: B * place**4 for place in range(1, 8)}, max_degree=4) == B * X**4


def test_monomials() -> None:
    """Terms are listed with exact coefficients and the exponents of named atoms."""
    value = (3 * B * B).exact_div(2 * W)
    assert [(Fraction(3, 2), {"{batch_size}": 2, "{w}": -1})] == list(value.monomials())
    assert [(Fraction(1), {"floor({x} / {w})": 1})] == list((X // W).monomials())


@pytest.mark.parametrize(
    ("text", "sizes", "expected", "trivial"),
    [
        ("{hidden_size} % {num_heads} == 0", {"hidden_size": 12, "num_heads": 5}, False, False),
        ("{kv_len} > 0", {"kv_len": 0}, False, True),
        ("{kv_len} >= 0", {"kv_len": 0}, True, True),
        ("{x} != 0", {"x": 3}, True, True),
        ("{x} < {x} * {w} + 1", {"x": 3, "w": 2}, True, True),
        ("{x} == {x}", {"x": 3}, True, True),
        ("{x} <= 4", {"x": 5}, False, False),
    ],
)
def test_conditions(text: str, sizes: dict[str, int], expected: bool, trivial: bool) -> None:
    """A condition reads, prints, holds or not, and is trivial when proved for sizes from one on."""
    condition = Condition.parse(text)
    assert expected == condition.holds(sizes)
    assert trivial == condition.is_trivially_true()
    assert condition == Condition.parse(condition.text())
    assert set(sizes) == condition.symbols()


def test_arrays_keep_64_bits_where_they_fit() -> None:
    """Small results are 64-bit integers, large ones Python integers, and shapes broadcast."""
    small = (B * S).evaluate_many({"batch_size": numpy.arange(3)[:, None], "seq_len": numpy.arange(4)})
    assert (numpy.dtype(numpy.int64), (3, 4)) == (small.dtype, small.shape)
    large = (B * S).evaluate_many({"batch_size": numpy.array([2**40]), "seq_len": 2**40})
    assert list(large) == [2**80]
    assert list(Expr.const(7).evaluate_many({"batch_size": numpy.arange(2)})) == [7, 7]
    assert list((B // S).evaluate_many({"batch_size": numpy.arange(0), "seq_len": 0})) == []
    assert list(B.evaluate_many({"batch_size": numpy.array([2**64 - 1], dtype=numpy.uint64)})) == [2**64 - 1]


def test_importing_stays_light() -> None:
    """The formula package imports neither numpy nor sympy nor torch."""
    code = "import sys, forwardbook.formula; print({'numpy', 'sympy', 'torch'} & set(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "set()"
