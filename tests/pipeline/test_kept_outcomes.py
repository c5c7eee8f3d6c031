"""Outcomes kept in `.forwardbook`: which of them answer for a task."""

from collections.abc import Iterator

import pytest

from forwardbook.pipeline.regenerate import derive as room
from forwardbook.pipeline.regenerate.derive import Keeping, Task
from forwardbook.pipeline.regenerate.run import kept_outcome
from forwardbook.schema import Entry
from forwardbook.workspace.kept_outcomes import KeptOutcomes

from .toys import Toys, derived


class Wider(Entry):
    """An entry that tells more of a class."""

    tells_more: str = ""


@pytest.fixture
def another_product(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Patches whose product is asked for anew, and forgotten afterwards."""
    room._product.cache_clear()
    yield monkeypatch
    room._product.cache_clear()


@pytest.mark.parametrize(("name", "value"), [("__version__", "0.0.1"), ("Entry", Wider)])
def test_what_another_product_kept_is_not_taken(
    toys: Toys, another_product: pytest.MonkeyPatch, name: str, value: object
) -> None:
    """An earlier version of the product, or one whose entries tell less, leaves the class to be derived."""
    place = toys(1)
    key, entry = "toy_Toy00", place.load()["toy_Toy00"]
    task = Task(key=key, entry=entry.model_dump(mode="json"), folder=str(place.root), memory_gb=1, seconds=60)
    kept = KeptOutcomes(place.root)
    another_product.setattr(room, name, value)
    Keeping(derived, str(place.root))(task)

    assert kept_outcome(kept, task) is not None
    another_product.undo()
    room._product.cache_clear()
    assert kept_outcome(kept, task) is None
