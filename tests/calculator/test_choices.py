"""Which build and which call a regime is of: an argument of a calculator, and never another one's answer."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from forwardbook import registry
from forwardbook.calculator import Calculator, CalculatorError
from forwardbook.schema import Entry, FlopAnalysis, MemoryAnalysis, Regime


def _regime(name: str, flops: str, choices: dict[str, object], conditions: tuple[str, ...] = ()) -> Regime:
    none = dict.fromkeys(("reads", "writes", "weights", "boundary", "intermediates", "peak"), "0")
    return Regime(
        name=name,
        conditions=conditions,
        choices=choices,  # type: ignore[arg-type]
        parameters=("width",),
        flop_analysis=FlopAnalysis(flops=flops, pointwise_ops="0"),
        memory_analysis=MemoryAnalysis(**none),
    )


@pytest.fixture
def calculator(make_entry: Callable[..., Entry]) -> Calculator:
    """Of an entry whose usual regime holds for 64 alone, beside one of another build."""
    regimes = (
        _regime("default", "{width}", {"weights": True, "repeats": 1}, ("{width} == 64",)),
        _regime("default, weights False", "3 * {width}", {"weights": False, "repeats": 1}),
    )
    return registry.from_entry(
        make_entry(regimes=regimes, defaults={"repeats": 1}, call_defaults={"weights": True})
    )


def test_without_a_choice_the_default_of_the_signature_is_meant(calculator: Calculator) -> None:
    assert calculator.flops(width=64) == 64


def test_a_regime_of_another_build_never_answers_for_the_usual_one(calculator: Calculator) -> None:
    with pytest.raises(CalculatorError, match=r"\{width\} == 64 does not hold"):
        calculator.flops(width=65)


def test_a_choice_takes_the_regime_of_that_build(calculator: Calculator) -> None:
    assert calculator.flops(width=65, choices={"weights": False}) == 195
    assert calculator.costs_at({"width": 65}, choices={"weights": False}).regime == "default, weights False"


@pytest.mark.parametrize("wanted", [{"weights": 3}, {"bias": True}, {"weights": 0}])
def test_a_choice_that_no_regime_has_is_an_error_that_lists_those_there_are(
    calculator: Calculator, wanted: dict[str, object]
) -> None:
    with pytest.raises(CalculatorError, match=r"its choices: weights=True or False"):
        calculator.flops(width=64, choices=wanted)


def test_a_size_that_the_build_fixed_is_refused_with_the_way_to_get_it(calculator: Calculator) -> None:
    with pytest.raises(CalculatorError, match=r"repeats=1.*--init repeats=4"):
        calculator.flops(width=64, repeats=4)


def test_a_choice_that_no_regime_has_is_refused_with_the_way_to_get_it(calculator: Calculator) -> None:
    with pytest.raises(CalculatorError, match=r"weights=3.*analyze-module \.\.\. --init weights=3"):
        calculator.flops(width=64, choices={"weights": 3})


def test_a_size_that_the_build_fixed_may_be_said(calculator: Calculator) -> None:
    assert calculator.flops(width=64, repeats=1) == 64
