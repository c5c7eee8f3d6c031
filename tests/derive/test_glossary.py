"""Names are told with what they mean and with their defaults."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from forwardbook.analyzers.derive.boundary import Boundary
from forwardbook.analyzers.derive.handed import Handed
from forwardbook.analyzers.derive.local import Local
from forwardbook.analyzers.derive.names import Names
from forwardbook.formula import Expr
from forwardbook.pipeline.composed.glossary import LONGEST, Glossary, first_sentence


@dataclass
class Inner:
    """A part of a config.

    Args:
        depth (`int`, *optional*, defaults to 6): How many layers there are.
    """

    depth: int = 6


@dataclass
class Config:
    """What a class is built from.

    Args:
        hidden_size (`int`, *optional*, defaults to 4096):
            Dimension of the hidden representations. It is
            a multiple of the heads.
        dims (`list[int]`):
            Widths of the stages,
            from the first on.
        inner (`Inner`): The part.
    """

    hidden_size: int = 4096
    dims: list[int] = field(default_factory=lambda: [32, 64])
    inner: Inner = field(default_factory=Inner)
    is_wide: bool = True


class Layer(nn.Module):
    """A layer.

    Args:
        groups: Number of groups.
        width: Width.
    """

    def __init__(self, config: Config, width: int, groups: int = 4) -> None:
        super().__init__()

    def forward(self, hidden_states: Tensor, image: Tensor) -> Tensor:
        return hidden_states


def glossary(**paths: str) -> Glossary:
    """Of a layer whose names are at these places."""
    built = {"config": Config(8, [2, 3], Inner(2)), "width": 5, "groups": 2}
    called = {"hidden_states": torch.ones(2, 3, 4), "image": torch.ones(2, 3, 8, 9)}
    boundary = Boundary(Layer, Handed.of(built), Handed.of(called))
    sizes = {path.replace("__", "."): Expr.symbol(name) for name, path in paths.items()}
    return Glossary(Local(boundary, Names(), sizes))


def test_default_is_that_of_the_config_class() -> None:
    """And not what the config in hand has; of a list by its place, of a part by the part's class."""
    one = glossary(
        hidden_size="built.config.hidden_size", dims_1="built.config.dims.1", depth="built.config.inner.depth"
    )

    assert (4096, 64, 6) == tuple(map(one.default, ("hidden_size", "dims_1", "depth")))


def test_default_of_an_argument_is_in_the_signature() -> None:
    """A required argument has none, a truth value is no number, and what a caller hands over has none."""
    one = glossary(
        groups="built.groups",
        width="built.width",
        wide="built.config.is_wide",
        batch_size="called.hidden_states.0",
    )

    assert (4, None, None, None) == tuple(map(one.default, ("groups", "width", "wide", "batch_size")))


def test_meaning_is_the_first_sentence_of_the_docstring() -> None:
    """Of the config's, of that of a part, or of the class's own; over several lines."""
    one = glossary(
        hidden_size="built.config.hidden_size",
        dims_1="built.config.dims.1",
        depth="built.config.inner.depth",
        groups="built.groups",
    )

    assert "Dimension of the hidden representations." == one.meaning("hidden_size")
    assert "Widths of the stages, from the first on." == one.meaning("dims_1")
    assert "How many layers there are." == one.meaning("depth")
    assert "Number of groups." == one.meaning("groups")


def test_usual_words_have_a_meaning_by_the_tensor_that_they_are_of() -> None:
    """The last dimension of a sequence has no columns, that of an image has."""
    of_sequence = glossary(width="called.hidden_states.2")
    of_image = glossary(width="called.image.3", seq_len_2="called.hidden_states.1", size_7="called.image.2")

    assert "numbers at each position" == of_sequence.meaning("width")
    assert "columns of the input" == of_image.meaning("width")
    assert "positions of the sequence, of hidden_states" == of_image.meaning("seq_len_2")
    assert "dimension 2 of image" == of_image.meaning("size_7")


def test_a_long_sentence_ends_between_words() -> None:
    """And a link is its text."""
    text = "See [the paper](https://example.org/paper) for " + "many " * 40 + "words. More."

    short = first_sentence(text)

    assert len(short) <= LONGEST
    assert short.startswith("See the paper for many") and short.endswith(" many...")
    assert "Used e.g. for keys." == first_sentence("Used e.g. for keys. If not set, as many as queries.")
    assert "size of the input" == first_sentence("size of the input .. math:: [* x *]")
