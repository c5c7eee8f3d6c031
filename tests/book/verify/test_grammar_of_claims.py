"""Each rule of the grammar of claims, on single lines about the small repository."""

from __future__ import annotations

import pytest

from forwardbook.book.verify import Verifier

OURS = '---\nchecksum: "sha256:0"\n---\n\n'

TRUE = {
    "a span": "`Circle` (`shapes/flat.py:8-17`)",
    "a span with its decorator": "`Shape.area` (`shapes/base.py:25-27`)",
    "a span of a file found by its end": "`Circle` (`flat.py:8-17`)",
    "a line that mentions the symbol": "`add` (`shapes/flat.py:44`)",
    "a line by itself": "see `shapes/flat.py:58`",
    "a constant": "`PRECISION` (`shapes/base.py:8`)",
    "a file as a whole": "`shapes/flat.py` (`shapes/flat.py:1-58`)",
    "a member of a base": "`Square.describe`",
    "an attribute of a base": "`Circle.scale`",
    "a name through its package": "`shapes.Circle`",
    "a name through its module": "`shapes.flat.power`",
    "a count of a class": "**3** methods in `Square`",
    "a count of a module": "**2** classes in `shapes.flat`",
    "a call": "`total` calls `add`",
    "a call with its line": "`total` (`shapes/flat.py:41-45`) calls `add` at `shapes/flat.py:44`",
    "a call with its target": "`total` calls `add` (`shapes/flat.py:48-50`) at `shapes/flat.py:44`",
    "a call of a class's method": "`Shape` calls `shorten`",
    "a call into the library": "`power` calls `math.pow`",
    "a passive": "`add` is called by `total`",
    "a list": "`report` calls `total`, `power` and `Shape.describe`",
    "an indirect base": "`Circle` inherits from `Shape`",
    "a base outside": "`ShapeError` inherits from `ValueError`",
    "an override": "`Circle.area` overrides `Shape.area`",
    "a raise": "`Circle` raises `ShapeError`",
    "an import of a name": "`shapes/flat.py` imports `ShapeError`",
    "an import of a module": "`shapes.flat` imports `shapes.base`",
    "what is imported by": "`shapes/base.py` is imported by `shapes/flat.py`",
    "an instance": "`Square.inner` instantiates `Circle`",
    "a mention": "`total` uses `Shape`",
    "a decorator": "`abstractmethod` decorates `Shape.area`",
    "a folder": "`shapes/`",
    "a name of the outside": "`scale_kernel` (`kernels/scale.cu:3-6`) reads `threadIdx.x`",
    "a link to a heading": "[there](shapes.md#errors)",
    "a link with its place": "[shapes/flat.py:8-17]()",
}
FALSE = {
    "a span one line off": ("`Circle` (`shapes/flat.py:8-18`)", "shapes/flat.py:8-17"),
    "a span elsewhere": ("`Circle` (`shapes/base.py:8-17`)", "not defined in shapes/base.py"),
    "lines behind the end": ("see `shapes/flat.py:58-59`", "58 lines"),
    "a line without the symbol": ("`add` (`shapes/flat.py:43`)", "44, 48"),
    "a file that is not there": ("see `shapes/round.py:1`", "no file shapes/round.py"),
    "a name that is nowhere": ("`Cirkle`", "did it mean Circle?"),
    "a member that is not there": ("`Circle.corner`", "did it mean corners?"),
    "a member of a module": ("`shapes.flat.powers`", "did it mean power?"),
    "a member of the outside": ("`scale_kernel` (`scale.cu:3-6`) reads `threadIdx.n`", "no threadIdx.n"),
    "a path": ("`shapes/bases.py`", "no shapes/bases.py"),
    "a count": ("**4** methods in `Square`", "there are 3"),
    "a call that is not made": ("`total` calls `power`", "add"),
    "a call on another line": ("`total` calls `add` at `shapes/flat.py:45`", "shapes/flat.py:44"),
    "a call the other way round": ("`total` is called by `add`", "calls nothing"),
    "a base": ("`Circle` inherits from `Square`", "Shape"),
    "a raise": ("`total` raises `ShapeError`", "raises nothing"),
    "an import": ("`shapes/base.py` imports `math`", "os"),
    "an override": ("`Square.inner` overrides `Shape.area`", "no base"),
    "a mention": ("`add` uses `Circle`", "never mentions Circle"),
    "a link": ("[there](shape.md)", "no docs/shape.md"),
    "an anchor": ("[there](shapes.md#error)", "no heading"),
}


@pytest.mark.parametrize("rule", TRUE)
def test_true_line_is_supported(rule: str, verifier: Verifier) -> None:
    """Every claim of the line is supported, and there is at least one."""
    claims = verifier.verify(OURS + TRUE[rule] + ".\n", "docs/page.md")

    assert {"supported"} == {claim.state for claim in claims}, claims


@pytest.mark.parametrize("rule", FALSE)
def test_false_line_is_contradicted(rule: str, verifier: Verifier) -> None:
    """A claim of the line is contradicted, on line 5, and its message says what is true instead."""
    text, truth = FALSE[rule]
    claims = verifier.verify(f"{OURS}{text}.\n", "docs/page.md")
    wrong = [one for one in claims if one.state == "contradicted"]

    assert wrong and {5} == {one.line for one in wrong}
    assert any(truth in one.truth for one in wrong), wrong


@pytest.mark.parametrize(
    "text",
    [
        "`--verbose`, `pip install shapes`, `a + b`, `3.11`, `'text'`, `{}` and `https://example.org/a_b`",
        "`Circle` never calls `total`, and says nothing",
        "`shape_maker.build()` and `OTHER_UNIT` are of another tool, as is `torch.nn.Linear`",
        "`total` may raise what `Shape.area` raises: `total` raises `ShapeError`",
        "\\`Cirkle\\` is escaped, <!-- `Cirkle` --> is not",
    ],
)
def test_pages_of_others_are_not_accused(text: str, verifier: Verifier) -> None:
    """On a page that is none of ours, what cannot be known is not called wrong."""
    wrong = [one for one in verifier.verify(text.replace("<!-- `Cirkle` -->", ""), "README.md")
             if one.state == "contradicted"]  # fmt: skip

    assert [] == wrong


def test_possible_call_must_say_may(verifier: Verifier) -> None:
    """`total` calls `area` on any shape: an override may be called, and the page has to say so."""
    sure = verifier.verify(f"{OURS}`total` calls `Square.area`.\n", "docs/page.md")
    may = verifier.verify(f"{OURS}`total` may call `Square.area`.\n", "docs/page.md")

    assert ["contradicted"] == [one.state for one in sure if one.kind == "relation"]
    assert ["supported"] == [one.state for one in may if one.kind == "relation"]
