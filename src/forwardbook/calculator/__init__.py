"""Calculators turn sizes into costs: exact integers for integers, arrays for NumPy arrays."""

from forwardbook.calculator.arrays import IntegerArray, greatest, least
from forwardbook.calculator.choice import CalculatorError, OutsideRegimesError
from forwardbook.calculator.evaluation import Calculator
from forwardbook.calculator.formulas import Costs, LineCost, RegimeFormulas

__all__ = [
    "Calculator",
    "CalculatorError",
    "Costs",
    "IntegerArray",
    "LineCost",
    "OutsideRegimesError",
    "RegimeFormulas",
    "greatest",
    "least",
]
