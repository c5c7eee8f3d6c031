"""Code that changes torch itself."""

import pytest
import torch
from torch import nn

from forwardbook.pipeline.child.failure import described
from forwardbook.pipeline.child.request import Request
from forwardbook.pipeline.child.torch_parts import TorchParts


def test_what_was_replaced_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """What means something else than before is, what is new or as before is not."""
    parts = TorchParts()
    monkeypatch.setattr(nn.Module, "__call__", None)
    monkeypatch.setattr(torch.Tensor, "backward", len)
    monkeypatch.setattr(torch.Tensor, "own_name", 1, raising=False)

    assert ["torch.nn.Module.__call__", "torch.Tensor.backward"] == parts.replaced()


def test_a_fault_after_torch_was_replaced_is_the_code_s(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names what was replaced; without that it asks to report the fault."""
    request, parts = Request(target="toys.Toy"), TorchParts()
    try:
        raise TypeError("'NoneType' object is not callable")
    except TypeError as error:
        raised = error
    monkeypatch.setattr("forwardbook.pipeline.child.failure.spot", lambda request, error: None)
    before = described(request, raised, parts)
    monkeypatch.setattr(nn.Module, "__call__", None)
    after = described(request, raised, parts)

    assert "please report it" in str(before.problem)
    assert "put something else in place of torch.nn.Module.__call__" in str(after.problem)
    assert "unsupported" == after.problem_kind
