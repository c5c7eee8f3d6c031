"""What stands in files says what the code has: nothing is lost, whatever an entry holds."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forwardbook.schema import Entry
from forwardbook.workspace import Workspace
from forwardbook.workspace.layout import WIDTH, laid_out
from forwardbook.workspace.packing import PLAIN, PackingError, packed, unpacked

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
SHIPPED = Workspace(Path(__file__).resolve().parent.parent.parent).load()


def _again(raw: dict[str, object]) -> dict[str, object]:
    """What is read back from the text of a file."""
    return unpacked(json.loads(laid_out(packed(raw), 2)))


@pytest.mark.parametrize("key", sorted(SHIPPED)[::9])
def test_a_shipped_entry_is_read_back_equal(key: str) -> None:
    """Each entry is packed, none is left as it is, and what comes back is the same in every field."""
    raw = SHIPPED[key].model_dump(mode="json")

    assert PLAIN not in packed(raw)
    assert raw == _again(raw)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.text(max_size=8), VALUES, max_size=4))
def test_whatever_else_stands_there_is_kept(raw: dict[str, object]) -> None:
    """An entry of another shape is stored as it is."""
    assert raw == _again(raw)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_entries_with_a_part_replaced_are_kept(data: st.DataObject) -> None:
    """An entry in which any one value is replaced by another comes back with it."""
    raw = SHIPPED["transformers_LlamaMLP"].model_dump(mode="json")
    place: object = raw
    for _ in range(data.draw(st.integers(1, 6))):
        names = list(place) if isinstance(place, dict) else range(len(place))  # type: ignore[arg-type]
        if not names:
            break
        name = data.draw(st.sampled_from(list(names)))
        inner = place[name]  # type: ignore[index]
        if not isinstance(inner, dict | list) or data.draw(st.booleans()):
            place[name] = data.draw(VALUES)  # type: ignore[index]
            break
        place = inner

    assert raw == _again(raw)


def test_a_regime_says_only_what_an_earlier_one_does_not(entry: Entry) -> None:
    """Formulas, lines and reasons of a second regime that are those of the first lead to it."""
    first = SHIPPED["transformers_LlamaMLP"].regimes[0]
    twice = SHIPPED["transformers_LlamaMLP"].model_copy(
        update={
            "regimes": (first, first.model_copy(update={"name": "other", "conditions": ("{seq_len} > 2",)}))
        }
    )

    stored = packed(twice.model_dump(mode="json"))

    assert "as default" == stored["regimes"][1]["formulas"]  # type: ignore[index]
    assert "as default" == stored["regimes"][1]["lines"]  # type: ignore[index]
    assert twice == Entry.model_validate(unpacked(stored))


@pytest.mark.parametrize(
    "stored",
    [
        {"regimes": [{"name": "a", "formulas": "as b", "lines": []}]},
        {"regimes": [{"name": "a", "formulas": {}, "lines": [{"at": "3"}]}]},
        {"regimes": [3]},
        {"conditions": ["x"], "regimes": [{"name": "a", "conditions": [7], "formulas": {}, "lines": []}]},
    ],
)
def test_what_nobody_packed_is_an_error(stored: dict[str, object]) -> None:
    """A reference that leads nowhere is told as one error, whatever Python makes of it."""
    with pytest.raises(PackingError):
        unpacked(stored)


def test_what_is_short_stands_on_one_line() -> None:
    """A value that fits a line is one; else each part has its own, so that a change is a small diff."""
    text = laid_out({"short": [1, 2], "long": ["x" * 60, "y" * 60]})

    assert '{\n "long": [\n  "' in text
    assert '\n "short": [1, 2]\n}' in text
    assert max(map(len, text.splitlines())) < WIDTH
