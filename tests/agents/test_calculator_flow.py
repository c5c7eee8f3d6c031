"""The module generator: only a calculator that the template cannot render is put to a model."""

from itertools import combinations_with_replacement
from math import factorial, prod
from pathlib import Path
from typing import Any

import pytest

from forwardbook import registry
from forwardbook.agents.choose import Chosen
from forwardbook.generate import RenderError, stuck
from forwardbook.pipeline.analysis.one import Options, analyze
from forwardbook.pipeline.child.job import Limits
from forwardbook.pipeline.child.request import Request, Response
from forwardbook.workspace import Workspace

from .conftest import api
from .inside import run_inside
from .script import Json, say, tool_results, use
from .server import Scripted

CODE = """\
from torch import nn


class Plain(nn.Module):
    def forward(self, x):
        return x + x
"""
LETTERS = "abcdefghijkl"
SUM = " + ".join(LETTERS)
FACTORED = " * ".join([f"({SUM})"] * 5)


def expanded() -> str:
    """The fifth power of a sum of twelve, multiplied out: 4,368 terms, more than Python can compile."""
    terms = []
    for picked in combinations_with_replacement(LETTERS, 5):
        count = factorial(5) // prod(factorial(picked.count(one)) for one in set(picked))
        terms.append(" * ".join([str(count), *(f"{{{one}}}" for one in picked)]))
    return " + ".join(terms)


LONG = expanded()
PLACE = "default, pointwise_ops"


def run(request: Request, limits: Limits | None = None) -> Response:
    """The analysis of the class, with a formula in it that no template renders."""
    response = run_inside(request, limits)
    assert response.entry is not None
    regimes: Any = response.entry["regimes"]
    regimes[0]["flop_analysis"]["pointwise_ops"] = LONG
    regimes[0]["parameters"] = [*regimes[0]["parameters"], *LETTERS]
    sizes = {name: number for number, name in enumerate(LETTERS, 1)}
    for point in regimes[0]["proof"]["points"]:
        point["sizes"] |= sizes
        for numbers in (point["predicted"], point["measured"]):
            numbers["pointwise_ops"] = sum(sizes.values()) ** 5
    return response


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with plain.py and no database."""
    monkeypatch.setattr("forwardbook.workspace.folder.shipped_path", lambda: None)
    monkeypatch.chdir(tmp_path)
    code = (
        "from torch import nn\n\n\nclass Plain(nn.Module):\n    def forward(self, x):\n        return x + x\n"
    )
    (tmp_path / "plain.py").write_text(code)
    return tmp_path


OPTIONS = Options(inputs={"x": "batch_size,seq_len"}, explore=False)


def answer(python: str) -> Json:
    """What is submitted."""
    return use("submit", {"expressions": [{"quantity": PLACE, "python": python}]})


def test_formula_that_cannot_be_rendered_is_written_anew(folder: Path) -> None:
    """A wrong expression gets the sizes at which it differs; an equal one makes the calculator work."""
    read: list[str] = []

    def mend(body: Json) -> object:
        read.append(tool_results(body))
        return say(answer(FACTORED))

    with Scripted([say(answer(SUM)), mend]) as server:  # type: ignore[list-item]
        made = api(server.url)
        chosen = Chosen("api", made, made.settings, made.ledger)
        done = analyze("plain.py:Plain", OPTIONS, limits=Limits(), run=run, chosen=chosen)

    assert f"{PLACE}: at " in read[0] and "the formula" in read[0]
    assert 2 == len(server.bodies)
    assert len(str(server.bodies[0])) < 60_000
    entry = Workspace.find().load()[done.key]
    assert entry.rewritten is not None and "claude-sonnet-5-5" == entry.rewritten.model
    assert () == stuck(entry)
    calculator = registry.load("Plain")
    sizes = {name: number for number, name in enumerate(LETTERS, 2)}
    others = {"batch_size": 3, "seq_len": 5, "a_dtype_bytes": 2, "w_dtype_bytes": 2}
    needed = {n: v for n, v in {**sizes, **others}.items() if n in calculator.get_required_parameters()}
    assert sum(sizes.values()) ** 5 == calculator.pointwise_ops(**needed)


def test_nobody_is_asked_without_being_chosen(folder: Path) -> None:
    """The error names the formula and what to do; nothing is stored, no file that cannot be imported."""
    with pytest.raises(RenderError, match="default, pointwise_ops"):
        analyze("plain.py:Plain", OPTIONS, limits=Limits(), run=run)

    assert not (folder / "module_db.json").exists()
    assert not list(folder.rglob("generated_modules/*.py"))


def test_equal_numbers_are_not_enough(folder: Path) -> None:
    """An expression with a term that is zero at all sizes that are tried is refused."""
    hidden = f"{FACTORED} + a // 123456789"
    with Scripted(forever=lambda body: say(answer(hidden))) as server:
        made = api(server.url)
        chosen = Chosen("api", made, made.settings, made.ledger)
        with pytest.raises(RenderError, match="not proved equal"):
            analyze("plain.py:Plain", OPTIONS, limits=Limits(), run=run, chosen=chosen)

    assert not (folder / "module_db.json").exists()


def test_liar_leaves_no_calculator(folder: Path) -> None:
    """Expressions that are never equal end unresolved, with diagnostics and nothing stored."""
    with Scripted(forever=lambda body: say(answer(SUM))) as server:
        made = api(server.url)
        chosen = Chosen("api", made, made.settings, made.ledger)
        with pytest.raises(RenderError, match="unresolved \\(invalid\\)"):
            analyze("plain.py:Plain", OPTIONS, limits=Limits(), run=run, chosen=chosen)

    assert 5 == len(server.bodies)
    assert not (folder / "module_db.json").exists()
    assert 1 == len(list(folder.rglob("*_diagnostics.json")))


def test_whatever_is_rendered_asks_nobody(folder: Path) -> None:
    """A class that the template renders never costs anything, whoever was chosen."""
    with Scripted() as server:
        made = api(server.url)
        chosen = Chosen("api", made, made.settings, made.ledger)
        done = analyze("plain.py:Plain", OPTIONS, limits=Limits(), run=run_inside, chosen=chosen)

    assert [] == server.log
    assert done.entry.rewritten is None
