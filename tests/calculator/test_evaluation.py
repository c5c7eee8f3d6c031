"""Calculators: equal to their formulas, exact, over arrays too, and strict about where they hold."""

from collections.abc import Callable
from typing import TypeAlias

import numpy
import pytest

from forwardbook import registry
from forwardbook.calculator import Calculator, CalculatorError, LineCost, OutsideRegimesError
from forwardbook.formula import parse
from forwardbook.generate import line_formulas
from forwardbook.schema import QUANTITIES, Entry, Regime

Sizes: TypeAlias = dict[str, int]


@pytest.fixture
def calculator(entry: Entry) -> Calculator:
    """The calculator of the entry, rendered in memory."""
    return registry.from_entry(entry)


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_quantity_equals_its_formula(
    calculator: Calculator, prefill: Regime, sizes: Sizes, quantity: str
) -> None:
    """Each method gives what evaluating the stored formula gives."""
    assert parse(prefill.formula(quantity)).evaluate(sizes) == getattr(calculator, quantity)(**sizes)


def test_breakdown_equals_the_lines(calculator: Calculator, prefill: Regime, sizes: Sizes) -> None:
    """The breakdown holds the value of each line's formulas, in the order of the lines."""
    expected = tuple(
        LineCost(
            line.line,
            line.end_line,
            line.code,
            *(
                parse(text).evaluate(sizes)
                for text in (line.flops, line.pointwise_ops, line.reads, line.writes)
            ),
        )
        for line in line_formulas(prefill)
    )

    assert expected == calculator.breakdown(**sizes)
    assert calculator.flops(**sizes) == sum(line.flops for line in expected)


def test_all_quantities_at_once(calculator: Calculator, sizes: Sizes) -> None:
    """costs_at gives every quantity and the name of the regime."""
    costs = calculator.costs_at(sizes)

    assert "prefill" == costs.regime
    assert [getattr(calculator, quantity)(**sizes) for quantity in QUANTITIES] == [
        getattr(costs, quantity) for quantity in QUANTITIES
    ]


def test_large_sizes_are_exact(calculator: Calculator, sizes: Sizes) -> None:
    """Integers beyond 64 bits are exact, alone and in arrays."""
    large = 10**13
    expected = 2 * large * 50 * 24 * 6 + large * 50 * 11 * 7
    swept = calculator.flops(**{**sizes, "batch_size": numpy.array([1, large])})

    assert expected == calculator.flops(**{**sizes, "batch_size": large})
    assert numpy.int64 == swept.dtype
    assert expected == int(swept[1])

    huge = 10**30
    swept = calculator.flops(**{**sizes, "batch_size": numpy.array([1, huge])})
    assert object == swept.dtype
    assert expected * 10**17 == swept[1]


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_arrays_give_what_each_element_gives(calculator: Calculator, sizes: Sizes, quantity: str) -> None:
    """Arrays broadcast against each other, and each element equals a call of its own."""
    batches, lengths = numpy.arange(1, 4)[:, None], numpy.array([1, 7, 11, 12, 64, 1000])
    swept = getattr(calculator, quantity)(**{**sizes, "batch_size": batches, "seq_len": lengths})
    expected = [
        [getattr(calculator, quantity)(**{**sizes, "batch_size": int(b), "seq_len": int(s)}) for s in lengths]
        for b in batches[:, 0]
    ]

    assert expected == swept.tolist()


def test_breakdown_over_arrays(calculator: Calculator, sizes: Sizes) -> None:
    """Each line of a breakdown over an array holds arrays of its shape."""
    lines = calculator.breakdown(**{**sizes, "seq_len": numpy.array([8, 16])})

    assert [line.flops for line in calculator.breakdown(**{**sizes, "seq_len": 16})] == [
        line.flops[1] for line in lines
    ]
    assert {(2,)} == {line.writes.shape for line in lines}


def test_elements_of_an_array_fall_into_their_own_regimes(entry: Entry, decode: Regime) -> None:
    """In one array each element is answered by the first regime that holds for it."""
    small = decode.model_copy(
        update={"name": "small", "conditions": ("{text_config.kv_len} <= {batch_size}",)}
    )
    small = small.model_copy(update={"flop_analysis": decode.flop_analysis.model_copy(update={"flops": "1"})})
    calculator = registry.from_entry(entry.model_copy(update={"regimes": (decode, small)}))

    assert [1, 24] == calculator.flops(batch_size=3, **{"text_config.kv_len": numpy.array([2, 4])}).tolist()


def test_regime_is_chosen_by_the_names_given(calculator: Calculator) -> None:
    """The regime that takes exactly the given names answers."""
    assert 2 * 3 * 10 == calculator.flops(batch_size=3, **{"text_config.kv_len": 10})


def test_required_parameters(calculator: Calculator, prefill: Regime) -> None:
    """The names of the first regime, or of the one asked for."""
    assert prefill.parameters == calculator.get_required_parameters()
    assert ("batch_size", "text_config.kv_len") == calculator.get_required_parameters("decode")
    assert ("prefill", "decode") == calculator.regime_names()


def test_outside_every_regime_all_reasons_are_named(calculator: Calculator, sizes: Sizes) -> None:
    """The error says for each regime which condition fails, which name is missing, which is not its own.

    A name that another regime has is nothing that the class does not depend on.
    """
    del sizes["chunk_size"]
    with pytest.raises(OutsideRegimesError) as caught:
        calculator.flops(**{**sizes, "windows": 2})
    message = str(caught.value)

    assert "prefill: missing {chunk_size}; does not depend on {windows}" in message
    assert "decode: missing {text_config.kv_len}; has no size {seq_len}" in message
    assert "windows is not a name of this class; did you mean window?" in message


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"num_heads": 5}, r"prefill: \{hidden_size\} % \{num_heads\} == 0 does not hold"),
        ({"num_heads": 0}, r"prefill: \{num_heads\} must be at least 1, not 0"),
        ({"seq_len": -4}, r"prefill: \{seq_len\} must be at least 1, not -4"),
    ],
)
def test_failing_condition_is_named(calculator: Calculator, sizes: Sizes, change: Sizes, reason: str) -> None:
    """Sizes at which a condition fails are refused, also in an array and in a forced regime."""
    with pytest.raises(OutsideRegimesError, match=reason):
        calculator.flops(**{**sizes, **change})
    with pytest.raises(OutsideRegimesError, match=reason):
        calculator.flops(regime="prefill", **{**sizes, **change})
    with pytest.raises(OutsideRegimesError, match=reason):
        calculator.flops(**{**sizes, **{name: numpy.array([4, value]) for name, value in change.items()}})


def test_forced_regime_ignores_names_of_others(calculator: Calculator, sizes: Sizes) -> None:
    """With regime= the given names may be more than the regime takes, not fewer."""
    both = {**sizes, "text_config.kv_len": 10}

    assert 60 == calculator.flops(regime="decode", **both)
    assert [60] == calculator.flops(regime="decode", **{**both, "batch_size": numpy.array([3])}).tolist()
    with pytest.raises(OutsideRegimesError, match="decode: missing"):
        calculator.flops(regime="decode", **sizes)
    with pytest.raises(CalculatorError, match=r"there is no regime 'train'; its regimes: prefill, decode"):
        calculator.flops(regime="train", **sizes)


def test_widths_may_always_be_given(calculator: Calculator) -> None:
    """Bytes of an element are no foreign names, even where the cost does not depend on them."""
    sizes = {"text_config.kv_len": 10, "w_dtype_bytes": 2}

    assert 60 == calculator.flops(batch_size=3, **sizes)


def test_zero_is_allowed_where_a_condition_says_so(entry: Entry, decode: Regime) -> None:
    """A size of 0 is taken only where the regime states that it may be 0."""
    regime = decode.model_copy(update={"conditions": ("{text_config.kv_len} >= 0",)})
    calculator = registry.from_entry(entry.model_copy(update={"regimes": (regime,)}))

    assert 0 == calculator.flops(batch_size=3, **{"text_config.kv_len": 0})


@pytest.mark.parametrize("value", [2.0, "3", None, numpy.array([1.5]), numpy.array([True])])
def test_sizes_are_whole_numbers(calculator: Calculator, sizes: Sizes, value: object) -> None:
    """Anything but integers and integer arrays is refused."""
    flops: Callable[..., int] = calculator.flops
    with pytest.raises(CalculatorError, match="sizes are whole numbers"):
        flops(**{**sizes, "batch_size": value})


def test_numpy_integers_are_integers(calculator: Calculator, sizes: Sizes) -> None:
    """A NumPy scalar is a size like any other, and the result is Python's own integer."""
    flops: Callable[..., int] = calculator.flops
    result = flops(**{**sizes, "batch_size": numpy.int32(3)})

    assert calculator.flops(**sizes) == result
    assert int is type(result)


def test_division_by_zero_is_an_error_of_ours(entry: Entry, decode: Regime) -> None:
    """A formula that divides by zero at the given sizes says so, alone and in arrays."""
    flop_analysis = decode.flop_analysis.model_copy(update={"flops": "7 // ({batch_size} - 3)"})
    regime = decode.model_copy(update={"flop_analysis": flop_analysis, "conditions": ()})
    calculator = registry.from_entry(entry.model_copy(update={"regimes": (regime,)}))

    with pytest.raises(CalculatorError, match="divides by zero at batch_size=3"):
        calculator.flops(batch_size=3, **{"text_config.kv_len": 1})
    with pytest.raises(CalculatorError, match="divides by zero"):
        calculator.flops(batch_size=numpy.array([5, 3]), **{"text_config.kv_len": 1})
