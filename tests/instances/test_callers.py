"""The method that would call a part is found in the code of what holds it."""

from __future__ import annotations

from torch import Tensor, nn

from forwardbook.analyzers.instances.callers import caller_of, mentions, reached


class Part(nn.Module):
    """Something to hold."""


class Other(nn.Module):
    """Something else."""


class Coder(nn.Module):
    """Its part is called by two methods, the other by forward()."""

    def __init__(self) -> None:
        super().__init__()
        self.parts = nn.ModuleList([Part()])
        self.other = Other()

    def forward(self, x: Tensor) -> Tensor:
        """Comes to the other by a method of its own."""
        return self._mixed(x)

    def get_decoder(self) -> nn.ModuleList:
        """Hands the part out, and does not call it."""
        return self.parts

    def _step(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x

    def _mixed(self, x: Tensor) -> Tensor:
        return self.other(x)  # type: ignore[no-any-return]

    def encode(self, x: Tensor) -> Tensor:
        """For callers."""
        return self._step(x)


class Model(nn.Module):
    """Holds the coder, and has a forward() that calls it."""

    def __init__(self) -> None:
        super().__init__()
        self.coder = Coder()

    def forward(self, x: Tensor) -> Tensor:
        """The coder's."""
        return self.coder(x)  # type: ignore[no-any-return]


def name(cls: type) -> str:
    """The full name."""
    return f"{cls.__module__}.{cls.__qualname__}"


def test_a_method_for_callers_is_named_though_another_says_it() -> None:
    """`encode` comes to the part by `_step`; `get_decoder` calls nothing."""
    assert caller_of(Model(), name(Part)) == "Coder.encode"


def test_what_forward_comes_to_has_no_other_caller() -> None:
    """By whatever methods it comes there: with these inputs it did not."""
    assert caller_of(Model(), name(Other)) == ""


def test_what_is_not_in_the_tree_has_none() -> None:
    """Nor has the model itself."""
    assert caller_of(Model(), name(nn.Linear)) == ""
    assert caller_of(Model(), name(Model)) == ""


def test_a_method_says_what_those_say_that_it_calls() -> None:
    """But for forward(), which is asked by itself; and nothing of classes of other packages is read."""
    said = mentions(Coder)

    assert {"_step", "parts"} == reached("encode", said)
    assert {"_mixed", "other"} == reached("forward", said)
    assert {} == mentions(Coder, "transformers.")
