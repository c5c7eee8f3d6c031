"""The calculator of a class: sizes by name in, costs of one forward() out, from the regime that holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import ClassVar, Final, TypeAlias, TypeVar, cast

from forwardbook.calculator.arrays import IntegerArray, is_array, whole
from forwardbook.calculator.choice import (
    CalculatorError,
    Regimes,
    fitting,
    named,
    not_sizes,
    of_build,
    outside,
    takes,
)
from forwardbook.calculator.formulas import Costs, LineCost, RegimeFormulas
from forwardbook.calculator.sweep import evaluate_arrays, line_arrays

Number = TypeVar("Number", int, IntegerArray)
"""What a quantity is: an integer when all sizes are, an array when one size is an array."""

Sizes: TypeAlias = Mapping[str, "int | IntegerArray"]

Choices: TypeAlias = Mapping[str, object]
"""Arguments of the constructor and of forward() that are no sizes, by name: `{"need_weights": False}`."""

TOTALS: Final = ("flops", "pointwise_ops", "reads", "writes", "weights", "boundary", "intermediates", "peak")


class Calculator:
    """The costs of one class: integers given by name give exact integers, NumPy arrays exact arrays.

    The first regime that takes exactly the given names and whose conditions hold is used. `regime="name"`
    forces one, which then may ignore names of the others, but still needs its own names and its conditions.
    Only regimes of one way to build and call the module are asked: `choices={"need_weights": False}` says
    what is not as by default.
    """

    full_class_name: ClassVar[str] = ""
    defaults: ClassVar[dict[str, object]] = {}
    """The default of each choice of a regime, as constructor and forward() have it."""
    regimes: ClassVar[Regimes] = ()

    @property
    def class_name(self) -> str:
        """The last part of the full class name."""
        return self.full_class_name.rpartition(".")[2]

    def get_required_parameters(self, regime: str | None = None) -> tuple[str, ...]:
        """The names a regime needs; without a name, of the first regime, which is the usual call."""
        if regime is not None:
            return named(self.regimes, regime, self.class_name).parameters
        return self.regimes[0].parameters if self.regimes else ()

    def regime_names(self) -> tuple[str, ...]:
        """The names of the regimes, in the order in which they are tried."""
        return tuple(regime.name for regime in self.regimes)

    def flops(
        self, /, *, regime: str | None = None, choices: Choices | None = None, **sizes: Number | int
    ) -> Number:
        """Operations of matrix products and other contractions; a multiply-accumulate counts 2."""
        return cast(Number, self._value("flops", sizes, regime, choices))

    def pointwise_ops(
        self, /, *, regime: str | None = None, choices: Choices | None = None, **sizes: Number | int
    ) -> Number:
        """One per output element of arithmetic, comparison, activation; reductions one per input element."""
        return cast(Number, self._value("pointwise_ops", sizes, regime, choices))

    def reads(
        self, /, *, regime: str | None = None, choices: Choices | None = None, **sizes: Number | int
    ) -> Number:
        """Bytes read: the distinct bytes of each operation's inputs, summed over operations."""
        return cast(Number, self._value("reads", sizes, regime, choices))

    def writes(
        self, /, *, regime: str | None = None, choices: Choices | None = None, **sizes: Number | int
    ) -> Number:
        """Bytes written: each operation's outputs once, summed over operations."""
        return cast(Number, self._value("writes", sizes, regime, choices))

    def weights(
        self, /, *, regime: str | None = None, choices: Choices | None = None, **sizes: Number | int
    ) -> Number:
        """Bytes of parameters and buffers touched."""
        return cast(Number, self._value("weights", sizes, regime, choices))

    def boundary(
        self, /, *, regime: str | None = None, choices: Choices | None = None, **sizes: Number | int
    ) -> Number:
        """Distinct bytes of inputs, weights and new outputs: what perfect fusion would still move."""
        return cast(Number, self._value("boundary", sizes, regime, choices))

    def intermediates(
        self, /, *, regime: str | None = None, choices: Choices | None = None, **sizes: Number | int
    ) -> Number:
        """Bytes of storages born in the call that are not the result."""
        return cast(Number, self._value("intermediates", sizes, regime, choices))

    def peak(
        self, /, *, regime: str | None = None, choices: Choices | None = None, **sizes: Number | int
    ) -> Number:
        """Largest sum of live bytes beyond weights and inputs."""
        return cast(Number, self._value("peak", sizes, regime, choices))

    def breakdown(
        self, /, *, regime: str | None = None, choices: Choices | None = None, **sizes: Number | int
    ) -> tuple[LineCost[Number], ...]:
        """The cost of each line of forward(); with arrays, all elements must fall into one regime."""
        lines: object = (
            self._line_arrays(sizes, regime, choices)
            if _any_array(sizes)
            else self.lines_at(self._integers(sizes), regime, choices)
        )
        return cast("tuple[LineCost[Number], ...]", lines)

    def costs_at(
        self, sizes: Mapping[str, int], regime: str | None = None, choices: Choices | None = None
    ) -> Costs[int]:
        """All quantities of one call, and the name of the regime that gave them."""
        chosen, python_sizes = self._chosen(self._integers(sizes), regime, choices)
        with self._dividing(sizes):
            return Costs(chosen.name, *(getattr(chosen, quantity)(**python_sizes) for quantity in TOTALS))

    def lines_at(
        self, sizes: Mapping[str, int], regime: str | None = None, choices: Choices | None = None
    ) -> tuple[LineCost[int], ...]:
        """The cost of each line of forward() in one call."""
        chosen, python_sizes = self._chosen(self._integers(sizes), regime, choices)
        with self._dividing(sizes):
            return chosen.lines(**python_sizes)

    def choices_of(self, regime: str) -> dict[str, object]:
        """How the module of a regime is built and called, as far as that is no size."""
        return dict(named(self.regimes, regime, self.class_name).choices)

    def _value(
        self, quantity: str, sizes: Sizes, regime: str | None, choices: Choices | None
    ) -> int | IntegerArray:
        if _any_array(sizes):
            with self._dividing(sizes):
                candidates, sizes = self._candidates(sizes, regime, choices)
                return evaluate_arrays(candidates, _total(quantity), sizes, self._outside)
        chosen, python_sizes = self._chosen(self._integers(sizes), regime, choices)
        try:
            return _total(quantity)(chosen)(**python_sizes)
        except ZeroDivisionError:
            raise self._division(sizes) from None

    def _line_arrays(
        self, sizes: Sizes, regime: str | None, choices: Choices | None
    ) -> tuple[LineCost[IntegerArray], ...]:
        chosen, _ = self._chosen(self._integers(_first_elements(sizes)), regime, choices)
        with self._dividing(sizes):
            return line_arrays(chosen, sizes, self._outside)

    def _chosen(
        self, sizes: Mapping[str, int], regime: str | None, choices: Choices | None
    ) -> tuple[type[RegimeFormulas], dict[str, int]]:
        candidates, kept = self._candidates(sizes, regime, choices)
        sizes = self._integers(kept)
        for candidate in candidates:
            python_sizes = fitting(candidate, sizes)
            if python_sizes is not None:
                return candidate, python_sizes
        if regime is None:
            of_class = {*self.defaults, *(name for one in self.regimes for name in one.parameters)}
            raise outside(self.class_name, self._of_build(choices or {}), sizes, others=of_class)
        raise outside(self.class_name, candidates, sizes, forced=True)

    def _candidates(
        self, sizes: Sizes, regime: str | None, choices: Choices | None
    ) -> tuple[list[type[RegimeFormulas]], Sizes]:
        """The regimes to try, and the sizes without what is a choice."""
        wanted = {**not_sizes(self.class_name, self.regimes, self.defaults, sizes), **(choices or {})}
        sizes = {name: size for name, size in sizes.items() if name not in wanted}
        if regime is None:
            given = sizes.keys()
            return [one for one in self._of_build(wanted) if takes(one, given)], sizes
        forced = named(self.regimes, regime, self.class_name)
        if wanted and forced not in self._of_build({**forced.choices, **wanted}):
            said = ", ".join(f"{name}={value!r}" for name, value in wanted.items())
            raise CalculatorError(f"evaluating {self.class_name}: the regime {regime!r} is not of {said}")
        if any(name not in sizes for name in forced.parameters):
            raise outside(self.class_name, [forced], self._integers(_first_elements(sizes)), forced=True)
        return [forced], sizes

    def _of_build(self, wanted: Choices) -> list[type[RegimeFormulas]]:
        return of_build(self.class_name, self.regimes, self.defaults, wanted)

    def _outside(self, sizes: Mapping[str, int]) -> CalculatorError:
        return outside(self.class_name, self.regimes, sizes)

    def _integers(self, sizes: Mapping[str, object]) -> dict[str, int]:
        return {name: size if type(size) is int else whole(name, size) for name, size in sizes.items()}

    @contextmanager
    def _dividing(self, sizes: Sizes) -> Iterator[None]:
        try:
            yield
        except (ZeroDivisionError, FloatingPointError):
            raise self._division(sizes) from None

    def _division(self, sizes: Sizes) -> CalculatorError:
        given = ", ".join(f"{name}={value}" for name, value in sizes.items())
        return CalculatorError(f"evaluating {self.class_name}: a formula divides by zero at {given}")


def _any_array(sizes: Sizes) -> bool:
    return any(is_array(value) for value in sizes.values())


def _first_elements(sizes: Sizes) -> dict[str, object]:
    return {name: size if isinstance(size, int) else size.flat[0] for name, size in sizes.items()}


def _total(quantity: str) -> Callable[[type[RegimeFormulas]], Callable[..., int]]:
    return lambda regime: cast(Callable[..., int], getattr(regime, quantity))
