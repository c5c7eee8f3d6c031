"""A method that takes what forward() takes as `**kwargs` is asked for all of it."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import torch
from torch import nn

from forwardbook.analyzers.instances.pretrained.handed_on import whole_docstring, whole_signature
from forwardbook.analyzers.instances.pretrained.inputs import plans
from forwardbook.analyzers.instances.pretrained.mended import built
from forwardbook.analyzers.instances.pretrained.methods import by_method
from forwardbook.analyzers.instances.pretrained.models import Holder
from forwardbook.analyzers.instances.pretrained.strict import accept_symbolic_sizes

accept_symbolic_sizes()
ESMFOLD2 = "transformers.models.esmfold2.modeling_esmfold2"


class Folding(nn.Module):
    """A trunk, and methods that run it."""

    def forward(self, tokens: torch.Tensor, mask: torch.Tensor, rounds: int | None = None) -> torch.Tensor:
        """tokens (`torch.Tensor` of shape `(batch_size, num_tokens)`)"""
        return tokens * mask

    def fold(self, mask: torch.Tensor, **rest: Any) -> torch.Tensor:
        """mask (`torch.Tensor` of shape `(batch_size, num_tokens)`)"""
        places = rest.pop("places")
        scale = rest["scale"]
        rest.pop("seed", None)
        rest["kept"] = True
        return self(mask=mask, **rest) * scale + places

    def plain(self, mask: torch.Tensor, **rest: Any) -> torch.Tensor:
        """Hands nothing on."""
        return mask

    def steps(self, count: int) -> torch.Tensor:
        """Takes no more than it says."""
        return torch.ones(count)


def test_a_method_is_asked_for_what_it_takes_out_and_hands_on() -> None:
    """Keys without another value are needed, and of forward() what has no default and is not given."""
    found = whole_signature(Folding, "fold").parameters

    assert ["self", "mask", "places", "scale", "tokens", "rest"] == list(found)
    assert found["tokens"].kind is inspect.Parameter.KEYWORD_ONLY


def test_a_method_that_hands_nothing_on_has_its_own_signature() -> None:
    """Without `**kwargs`, or where these go nowhere."""
    assert ["self", "mask", "rest"] == list(whole_signature(Folding, "plain").parameters)
    assert ["self", "count"] == list(whole_signature(Folding, "steps").parameters)


def test_its_docstring_is_that_of_forward_too() -> None:
    """What is handed on, forward() describes."""
    said = whole_docstring(Folding, "fold")

    assert said.startswith("mask (")
    assert "tokens (" in said


def test_a_protein_is_folded_with_what_three_docstrings_state() -> None:
    """`fold` of EsmFold 2 says four tensors, takes seven out of its kwargs, and hands six on."""
    with torch.device("meta"):
        _, model = built(Holder(importlib.import_module(ESMFOLD2).EsmFold2Model, {}))
    found = plans(by_method(model, "fold"))  # type: ignore[arg-type]

    stated = {
        "attention_mask": "mask(batch_size, num_tokens)",
        "ref_pos": "floats(batch_size, num_atoms, 3)",
        "ref_atom_name_chars": "full(1, batch_size, num_atoms, max_chars)",
        "token_bonds": "floats(batch_size, num_tokens, num_tokens, 1)",
    }
    assert any(stated.items() <= plan.items() and len(plan) == 17 for plan in found)
    assert model.config.structure_head.inference_num_steps == 2
