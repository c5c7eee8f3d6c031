"""forwardbook turns the forward() of a PyTorch module into exact cost formulas, and proves them."""

from typing import Final

__version__: Final = "0.1.0"
