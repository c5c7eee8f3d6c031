"""What documents show of classes is read as text: literals, shapes, constructor calls, nothing else."""

from __future__ import annotations

import pytest

from forwardbook.analyzers.instances.adapters.examples import ClassNamed, Example, Made, Shown, read_document
from forwardbook.analyzers.instances.adapters.feedback import ranks, reordered
from forwardbook.analyzers.instances.adapters.plan import Names, Plan

README = """
# Title

```bash
$ pip install package
```

```python
import torch
from package.parts import Model, Part

dim = 4 * 16
model = Model(dim = dim, part = Part(depth = 2), sizes = (1, 2))
ids = torch.randint(0, 100, (2, 8))
mask = torch.ones(2, 8).bool()
out = model(ids, mask = mask) # (2, 8)
```
"""


def test_a_description_shows_models_and_their_inputs() -> None:
    """Names are followed, arithmetic done, nested objects kept; the call comes with its tensors."""
    part = Made(ClassNamed("Part", "package.parts"), (), {"depth": 2})
    model = Made(ClassNamed("Model", "package.parts"), (), {"dim": 64, "part": part, "sizes": (1, 2)})

    found = read_document(README)

    ids, mask = Shown("integers", (2, 8)), Shown("mask", (2, 8))
    assert [Example(model), Example(model, True, (ids,), {"mask": mask})] == found


def test_docstrings_are_read_by_their_prompts() -> None:
    """Lines behind prompts are code, what they print is not."""
    text = """
    Example
    -------
    >>> layer = Layer(input_shape=[8, 60, 64], n=3)
    >>> out = layer(torch.rand([8, 60, 64]))
    >>> out.shape
    torch.Size([8, 60, 3])
    """
    [made, called] = read_document(text)

    assert {"input_shape": [8, 60, 64], "n": 3} == made.made.named
    assert (Shown("floats", (8, 60, 64)),) == called.positional


@pytest.mark.parametrize(
    "code",
    [
        "model = Model(open('secret').read())",
        "model = Model(**settings)",
        "model = Model(unknown)",
        "model = Model(10 ** 9 ** 9)",
        "model = Model(10 // 0)",
        "model = Model(999999999 ** 999999999)",
        "model = Model(",
    ],
)
def test_what_is_not_certain_is_left_out(code: str) -> None:
    """Calls of functions, unknown names, numbers without end and broken code show nothing."""
    assert [] == read_document(f"```python\n{code}\n```\n")


def test_an_error_chooses_what_is_tried_next() -> None:
    """Inputs of the rank asked for come first, ids where an index was; the others keep their order."""
    names = Names({})
    texts = ("floats(a, b, c)", "floats(a, b, c, d)", "integers(7, a, b)", "floats(a, b, c, d, e)")
    plans = [Plan({"x": text}, names) for text in texts]

    volume = reordered(plans, ValueError("not enough values to unpack (expected 5, got 4)"))
    table = reordered(
        plans, RuntimeError("to have one of the following scalar types: Long, Int; but got Float")
    )

    assert [[3], [4], [2], [5]] == [ranks(plan) for plan in plans]
    assert [texts[3], *texts[:3]] == [plan.expressions["x"] for plan in volume]
    assert texts[2] == table[0].expressions["x"]
    assert plans == reordered(plans, RuntimeError("something else"))
