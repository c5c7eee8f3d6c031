"""What is left out of transformers is left out for the reason that is stated."""

from __future__ import annotations

import importlib
import inspect

import pytest

from forwardbook.analyzers.instances.adapters.transformers_exceptions import exceptions


@pytest.mark.parametrize("name", sorted(exceptions()))
def test_a_class_left_out_assigns_on_the_host(name: str) -> None:
    """Its source, or that of a class that it derives from, calls the assignment or a matcher."""
    home, _, short = name.rpartition(".")
    cls = getattr(importlib.import_module(home), short)
    sources = [inspect.getsource(one) for one in cls.__mro__ if one.__module__.startswith("transformers.")]

    asked = "linear_sum_assignment(" if short.endswith("Matcher") else "self.matcher("
    assert any(asked in source for source in sources)
