"""Arguments that are made anew with other sizes."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from torch import nn

from forwardbook.analyzers.derive.handed import Handed, Unlifted


def test_leaves_are_made_anew_wherever_they_are() -> None:
    """In lists, in dictionaries, in objects within objects; all else stays, and so does the original."""
    tensor = torch.ones(2)
    cache = SimpleNamespace(layers=[SimpleNamespace(keys=tensor, name="first")], length=3)
    handed = Handed.of({"x": [tensor, 1], "cache": cache, "choice": {"deep": (tensor, "b")}})

    made = handed.anew(lambda path, leaf: path)

    assert {"x": ["x.0", 1], "choice": {"deep": ("x.0", "b")}} == {key: made[key] for key in ("x", "choice")}
    [layer] = made["cache"].layers
    assert ("x.0", "first", 3) == (layer.keys, layer.name, made["cache"].length)
    assert cache.layers[0].keys is tensor


def test_what_a_call_changes_later_is_kept_as_it_was() -> None:
    """A cache grows in the call; what was handed over did not have that yet."""
    cache = SimpleNamespace(layers=[torch.ones(2)])
    handed = Handed.of({"cache": cache})
    cache.layers.append(torch.ones(3))

    assert 1 == len(handed.anew(lambda path, leaf: leaf)["cache"].layers)


def test_a_module_is_refused() -> None:
    """Its weights would be those of another run."""
    with pytest.raises(Unlifted, match="a module of class Linear"):
        Handed.of({"layer": nn.Linear(2, 2)})


def test_an_object_that_holds_itself_ends() -> None:
    """Configs hold their parents."""
    config = SimpleNamespace(width=3)
    config.itself = config

    assert () == Handed.of({"config": config}).leaves


def test_values_tell_ways_to_call_apart() -> None:
    """Another choice is another way; the same one in another object is not."""

    def key(choice: str) -> object:
        return Handed.of({"config": SimpleNamespace(choice=choice)}).key(lambda path, leaf: "")

    assert key("a") == key("a") != key("b")
