"""What the quantities of a cost are called, counted in, and mean: one place for every page."""

from __future__ import annotations

from typing import Final

from forwardbook.book.site.data import Quantity

QUANTITY_LIST: Final = (
    Quantity(name="flops", unit="op", meaning="matrix products and other contractions; a multiply-add is 2"),
    Quantity(name="pointwise_ops", unit="op", meaning="arithmetic, comparison, activation, reduction"),
    Quantity(name="reads", unit="B", meaning="what every operation reads"),
    Quantity(name="writes", unit="B", meaning="what every operation writes"),
    Quantity(name="weights", unit="B", meaning="parameters and buffers touched"),
    Quantity(name="boundary", unit="B", meaning="inputs, weights and results once each"),
    Quantity(name="intermediates", unit="B", meaning="storages born in the call that are not the result"),
    Quantity(name="peak", unit="B", meaning="live bytes beyond weights and inputs at their fullest"),
)
