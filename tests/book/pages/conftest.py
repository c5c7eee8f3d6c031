"""A small file with all its facts written by hand, and what its page needs around it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from forwardbook.analyzers.detail import facts as d
from forwardbook.analyzers.detail.steps import Arm, BranchStep, CallStep, LoopStep
from forwardbook.analyzers.index.facts import (
    Attribute,
    Call,
    Definition,
    Edge,
    FileFacts,
    Import,
    Parameter,
    Raised,
    Repository,
    Span,
)
from forwardbook.book.pages import Context, SectionFacts

PATH = "shop/till.py"
SOURCE = b'''"""A till that takes payments."""

import os

from shop.tax import rate

LIMIT = 100  # the most that is taken at once


class Till:
    """Takes payments and keeps count."""

    def __init__(self, name: str) -> None:
        self.name = name

    def take(self, amounts: list[int], *, tax: bool = True) -> int:
        """Take payments.

        >>> Till("a").take([1])
        1
        """
        if sum(amounts) > LIMIT:
            raise ValueError("too much")
        for amount in amounts:
            self._book(amount)
            if tax:
                rate(amount)
        return len(amounts)

    def _book(self, amount: int) -> None:
        open(os.environ["TILL_LOG"], "a").write(str(amount))
'''
TEST_PATH = "tests/test_till.py"
TEST = b"""from shop.till import Till


def test_take():
    assert Till("a").take([1, 2]) == 2
"""


@dataclass(frozen=True)
class Calls:
    """A call graph that is given."""

    edges: dict[str, tuple[Edge, ...]] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    users: tuple[str, ...] = ()

    def edges_from(self, path: str, qualname: str) -> tuple[Edge, ...]:
        return self.edges.get(qualname, ())

    def edges_to(self, path: str, qualname: str) -> tuple[Edge, ...]:
        return ()

    def imports_of(self, path: str) -> tuple[str, ...]:
        return self.needs

    def imported_by(self, path: str) -> tuple[str, ...]:
        return self.users


def _method(name: str, start: int, end: int, signature: str, **more: object) -> Definition:
    span = Span(start, end)
    public = not name.startswith("_") or name == "__init__"
    return Definition(
        name, f"Till.{name}", "method", span, span, signature, parent="Till", is_public=public, **more
    )  # type: ignore[arg-type]


TAKE = "def take(self, amounts: list[int], *, tax: bool = True) -> int"
FACTS = FileFacts(
    PATH,
    "python",
    "0123456789abcdef" * 4,
    31,
    module="shop.till",
    parser="ast",
    docstring="A till that takes payments.",
    definitions=(
        Definition(
            "Till", "Till", "class", Span(10, 31), Span(10, 31), "class Till",
            docstring="Takes payments and keeps count.", attributes=(Attribute("name", 14, "", "name"),),
        ),
        _method("__init__", 13, 14, "def __init__(self, name: str) -> None",
                parameters=(Parameter("self"), Parameter("name", "", "str"))),
        _method("take", 16, 28, TAKE, docstring="Take payments.",
                raised=(Raised(23, 'ValueError("too much")', "sum(amounts) > LIMIT"),)),
        _method("_book", 30, 31, "def _book(self, amount: int) -> None"),
    ),
    imports=(Import(3, "os"), Import(5, "shop.tax", "rate")),
    constants=(Attribute("LIMIT", 7, "", "100"),),
)  # fmt: skip
TEST_FACTS = FileFacts(
    TEST_PATH, "python", "f" * 64, 5, module="tests.test_till", parser="ast",
    definitions=(
        Definition("test_take", "test_take", "function", Span(4, 5), Span(4, 5), "def test_take()",
                   calls=(Call(5, 11, "Till().take", ("[1, 2]",)), Call(5, 11, "Till", ('"a"',)))),
    ),
    imports=(Import(1, "shop.till", "Till"),),
)  # fmt: skip


def _function(name: str, start: int, end: int, signature: str, **more: object) -> d.FunctionDetail:
    public = not name.startswith("_") or name == "__init__"
    span = Span(start, end)
    more |= {"parent": "Till", "is_public": public}
    return d.FunctionDetail(f"Till.{name}", span, span, "method", signature, **more)  # type: ignore[arg-type]


DETAIL = d.Detail(
    PATH,
    "ast",
    d.FunctionDetail("", Span(1, 31), Span(1, 31), "module"),
    summary="A till that takes payments.",
    functions=(
        _function("__init__", 13, 14, "def __init__(self, name: str) -> None", magic="",
                  parameters=(d.ParameterDetail("self"), d.ParameterDetail("name", "", "str"))),
        _function(
            "take", 16, 28, TAKE, summary="Take payments.", docstring="Take payments.",
            parameters=(
                d.ParameterDetail("self"),
                d.ParameterDetail("amounts", "", "list[int]", "", "what is paid"),
                d.ParameterDetail("tax", "keyword", "bool", "True"),
            ),
            returns=d.Returned("int", values=(d.Line(28, "len(amounts)"),)),
            raises=(d.Raise(23, "ValueError", "sum(amounts) > LIMIT", '"too much"'),),
            checks=(d.Check(22, "raise", "sum(amounts) > LIMIT", 'raise ValueError("too much")'),),
            flow=(
                LoopStep(24, "for amount in amounts", (
                    CallStep(25, 12, "self._book", ("amount",)),
                    BranchStep(26, (Arm(26, "tax", (CallStep(27, 16, "rate", ("amount",)),)),)),
                )),
                CallStep(28, 15, "len", ("amounts",)),
            ),
        ),
        _function(
            "_book", 30, 31, "def _book(self, amount: int) -> None",
            effects=(d.Effect("file write", 31, 'open(os.environ["TILL_LOG"], "a")'),),
            environment=(d.EnvironmentVariable("TILL_LOG", 31, "required"),),
        ),
    ),
    classes=(
        d.ClassDetail("Till", Span(10, 31), Span(10, 31), "class Till",
                      summary="Takes payments and keeps count.",
                      docstring="Takes payments and keeps count.",
                      attributes=(d.AttributeDetail("name", 14, "", "name"),),
                      methods=("Till.__init__", "Till.take", "Till._book")),
    ),
    constants=(
        d.Constant("LIMIT", 7, Span(7, 7), "100", comment="the most that is taken at once", uses=(22,)),
    ),
    dependencies=(
        d.Dependency("os", "standard library", (3,)),
        d.Dependency("shop", "first party", (5,), ("rate",)),
    ),
)  # fmt: skip
CALLS = Calls(
    {
        "Till.take": (
            Edge(PATH, "Till.take", 25, "exact", PATH, "Till._book"),
            Edge(PATH, "Till.take", 27, "exact", "shop/tax.py", "rate"),
            Edge(PATH, "Till.take", 28, "external", "", "builtins.len"),
        ),
        "Till._book": (Edge(PATH, "Till._book", 31, "external", "", "builtins.open"),),
    },
    ("shop/tax.py",),
    (TEST_PATH,),
)
Make = Callable[..., SectionFacts]


@pytest.fixture
def calls() -> type[Calls]:
    """A call graph whose edges are given."""
    return Calls


@pytest.fixture
def till() -> SectionFacts:
    """The facts of the small file."""
    tax = FileFacts("shop/tax.py", "python", "e" * 64, 1, module="shop.tax")
    files = {PATH: FACTS, TEST_PATH: TEST_FACTS, "shop/tax.py": tax}
    context = Context(
        Repository("/", files),
        updated="2025-01-02",
        commit="0a1b2c3",
        pages={"shop/tax.py": "tax.md"},
        read={TEST_PATH: TEST, PATH: SOURCE}.get,
    )
    return SectionFacts(PATH, SOURCE, FACTS, DETAIL, CALLS, context)
