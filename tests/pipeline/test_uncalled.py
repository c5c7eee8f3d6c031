"""A class that no call reached is told with the method that would call it."""

from __future__ import annotations

from torch import nn

from forwardbook.analyzers.instances.adapters import Way
from forwardbook.analyzers.instances.recipe import Recipe, Sizes
from forwardbook.pipeline.catalogue.record import ClassResult
from forwardbook.pipeline.catalogue.uncalled import UNCALLED, with_callers


class Part(nn.Module):
    """What a method calls."""


class Holder(nn.Module):
    """Calls its part in another method."""

    def __init__(self) -> None:
        super().__init__()
        self.part = Part()

    def encode(self) -> object:
        """Calls the part."""
        return self.part()


PART = f"{Part.__module__}.{Part.__qualname__}"


def told(build: object, reason: str = UNCALLED) -> str:
    """The reason of the part where `build` makes what holds it."""
    recipe = Recipe(
        target=PART,
        library="toys",
        build=build,  # type: ignore[arg-type]
        inputs=lambda sizes, model, maker: ((), {}),
        scenario="default",
    )
    failed = {PART: ClassResult(name=PART, state="unreached", kind="not called", reason=reason)}
    return with_callers(failed, {PART: Way("Holder", frozenset({PART}), recipe)})[PART].reason


def test_the_method_is_in_the_reason() -> None:
    """Its class before it."""
    assert told(lambda sizes: Holder()) == f"{UNCALLED}: Holder.encode() does"


def test_another_reason_stays() -> None:
    """What was refused is not told anew."""
    assert told(lambda sizes: Holder(), "no inputs") == "no inputs"


def test_a_model_that_cannot_be_built_again_changes_nothing() -> None:
    """The plain reason is kept."""

    def refuse(sizes: Sizes) -> nn.Module:
        raise ValueError("no")

    assert told(refuse) == UNCALLED
