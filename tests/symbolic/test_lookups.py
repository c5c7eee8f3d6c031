"""Tables that sizes are looked up in and texts of sizes: what a run needed of the number is written down."""

import pytest
import torch

from forwardbook.analyzers.symbolic.bridges import teach_torch
from forwardbook.analyzers.symbolic.ledger import Ledger
from forwardbook.saying import SPELLED

DEPTHS = {32: 2, 64: 4}
MANY = {128 * number: number for number in range(1, 100)}


class Settings:
    """Holds a table."""

    depths = DEPTHS


def by_display(size: int) -> object:
    return {32: 2, 64: 4}.get(size, 1)


def by_name(size: int) -> object:
    return DEPTHS[size] if size in DEPTHS.keys() else 1  # noqa: SIM118 - as people write it


def by_attribute(size: int) -> object:
    return Settings.depths.get(size, 1)


def by_set(size: int) -> object:
    return size in {32, 64}


def by_pair(size: int) -> object:
    return {(32, 3): 1, (64, 3): 2}.get((size, 3))


def by_text(size: int) -> object:
    return {"32": 2, "64": 4}.get(f"{size}", 1)


def by_str(size: int) -> object:
    return str(size) in ("32", "64")


@pytest.mark.parametrize("look", [by_display, by_name, by_attribute, by_set, by_pair, by_text, by_str])
def test_a_size_that_is_not_found_differs_from_every_key(look: object) -> None:
    """Of 11 a table of 32 and 64 tells that the size is neither, whatever the table is written as."""
    teach_torch()
    ledger = Ledger()
    look(ledger.symbol("size", 11))  # type: ignore[operator]
    told = {guard.node.args[1].number for guard in ledger.guards if not guard.value}

    assert {32, 64} <= told


def test_a_size_looked_up_among_many_lies_between_its_neighbours() -> None:
    """In a table of the 99 multiples of 128, 300 is more than 256 and less than 384."""
    teach_torch()
    ledger = Ledger()
    MANY.get(ledger.symbol("size", 300))  # type: ignore[call-overload]

    assert [("gt", 256), ("lt", 384)] == [(one.node.op, one.node.args[1].number) for one in ledger.guards]


def test_the_length_of_a_text_is_the_number_of_digits() -> None:
    """That `len(str(size))` is 2 says that the size is at least 10 and less than 100."""
    teach_torch()
    ledger = Ledger()

    assert 2 == len(str(ledger.symbol("size", 11)))
    assert [("ge", 10), ("lt", 100)] == [(one.node.op, one.node.args[1].number) for one in ledger.guards]


def test_a_cache_of_sizes_says_nothing_of_them() -> None:
    """A dictionary that is empty, or whose keys are the size itself, compares it with no number."""
    teach_torch()
    ledger = Ledger()
    cache: dict[torch.SymInt, int] = {}
    size = ledger.symbol("size", 11)
    for _ in range(2):
        if size not in cache:
            cache[size] = 1

    assert (1, []) == (len(cache), ledger.guards)


def test_a_message_keeps_the_name_of_a_size_and_needs_no_number() -> None:
    """What is raised may tell a size; a text that code goes on with needs its number."""
    teach_torch()
    ledger = Ledger()
    size = ledger.symbol("size", 11)
    with pytest.raises(ValueError, match="size<11>"):
        raise ValueError(f"bad {size}")

    assert [] == ledger.consumed
    text = f"{size}"

    assert ("11", 1) == (text, len(ledger.consumed))
    assert [f'{SPELLED}`text = f"{{size}}"`'] == [said for said, _, _ in ledger.spelled]
