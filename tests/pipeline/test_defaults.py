"""What an entry says of the defaults of its class: plain values as the signature has them."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from forwardbook.pipeline.child import work
from forwardbook.pipeline.child.request import Request
from forwardbook.pipeline.derivation.defaults import plain_defaults
from forwardbook.schema import Entry
from forwardbook.workspace.packing import packed, unpacked


class Layered(nn.Module):
    """Defaults of every kind, plain ones and others."""

    def __init__(
        self, width: int = 24, ratio: float = 0.5, sides: tuple[int, ...] = (1, 2), of: type = nn.ReLU
    ) -> None:
        super().__init__()
        self.project = nn.Linear(width, width, bias=False)

    def forward(self, x: Tensor, scale: float | None = None, *, causal: bool = True) -> Tensor:
        projected: Tensor = self.project(x)
        return projected


def test_the_plain_defaults_of_constructor_and_forward_are_read() -> None:
    name = f"{__name__}.Layered"

    assert plain_defaults(name, "__init__") == {"width": 24, "ratio": 0.5, "sides": [1, 2]}
    assert plain_defaults(name, "forward") == {"scale": None, "causal": True}
    assert plain_defaults("no.such.module.Layered", "__init__") == {}


def test_an_entry_stores_the_defaults_of_its_class() -> None:
    request = Request(target="torch.nn.GELU", derive="symbolic", points=1, explore=False)
    made = Entry.model_validate(work.work(request).entry)
    stored = packed(made.model_dump(mode="json"))

    assert made.defaults == {"approximate": "none"}
    assert stored["defaults"] == {"approximate": "none"}
    assert unpacked(stored)["defaults"] == {"approximate": "none"}


class Handing(Layered):
    """Hands on to its base what it does not name."""

    def __init__(self, depth: int = 2, **others: Any) -> None:
        super().__init__(**others)


def test_what_a_constructor_hands_on_has_the_defaults_of_its_base() -> None:
    given = plain_defaults(f"{__name__}.Handing", "__init__")

    assert given == {"depth": 2, "width": 24, "ratio": 0.5, "sides": [1, 2]}
