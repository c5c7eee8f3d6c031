"""Source text in, the facts of its page out, for every test of the room."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import pytest

from forwardbook.analyzers.detail.facts import Detail
from forwardbook.analyzers.detail.read import detail
from forwardbook.analyzers.index.python import index_python

Read = Callable[..., Detail]


@pytest.fixture
def read() -> Read:
    """The facts of a dedented source text, as the file `package/module.py`."""

    def facts(text: str, path: str = "package/module.py") -> Detail:
        data = textwrap.dedent(text).lstrip("\n").encode()
        return detail(path, data, index_python(path, data, path.removesuffix(".py").replace("/", ".")))

    return facts
