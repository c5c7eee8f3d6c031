"""What an entry says of the defaults of its class: plain values as the signature has them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from forwardbook.guard.change import class_change
from forwardbook.pipeline.child import work
from forwardbook.pipeline.child.request import Request
from forwardbook.pipeline.derivation.defaults import constructor_defaults, plain_defaults
from forwardbook.pipeline.located import located
from forwardbook.schema import CodeLocation, Entry
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


@dataclass
class Heads:
    """A part of a config."""

    heads: int = 4


@dataclass
class Settings:
    """A config with a part, a field without a default and one that is no whole number."""

    width: int
    hidden: int = 1024
    gated: bool = True
    attention: Heads = field(default_factory=Heads)


class Configured(nn.Module):
    """Takes a config, a number, and a module, whose defaults are its own."""

    def __init__(self, cfg: Settings, layer: Layered, depth: int = 2) -> None:
        super().__init__()


def test_whole_numbers_of_a_config_are_defaults_of_the_constructor_that_takes_it() -> None:
    assert constructor_defaults(f"{__name__}.Configured") == {"hidden": 1024, "heads": 4, "depth": 2}


def test_a_changed_field_of_a_config_is_told_at_its_line(tmp_path: Path) -> None:
    (tmp_path / "sizes.py").write_text("class Cfg:\n    width: int = 8\n    hidden: int = 64\n")
    (tmp_path / "net.py").write_text(
        "from torch import nn\nfrom sizes import Cfg\nclass Net(nn.Module):\n"
        "    def __init__(self, cfg: Cfg, depth: int = 2):\n        super().__init__()\n"
        "    def forward(self, x):\n        return x\n"
    )
    location = CodeLocation(file="net.py", line_start=3, line_end=5)
    before = Entry(full_class_name="net.Net", library="net", code_location=location, source_hash="0")
    before = before.model_copy(update={"defaults": {"hidden": 32, "depth": 1}})
    after = before.model_copy(update={"defaults": {"hidden": 64, "depth": 2}})

    told = located(class_change("net_Net", before, after), after, tmp_path).defaults

    places = {one.name: (one.file, one.line) for one in told}
    assert places == {"hidden": ("sizes.py", 3), "depth": ("net.py", 4)}
