"""Roles: their prompts render, carry no instruction of the code as a template, and their checkers say no."""

import asyncio
import re
from pathlib import Path

import pytest
from pydantic import BaseModel

import forwardbook.agents.roles
from forwardbook.agents.analyst import Task, TaskLimits
from forwardbook.agents.prompt import FOLDER, PromptError, render, roles, version
from forwardbook.agents.roles import (
    architecture_analyst,
    module_analyst,
    module_generator,
    page_writer,
    parameter_analyst,
    reviewer,
)
from forwardbook.agents.roles.architecture_analyst import Part, Setting, Structure
from forwardbook.agents.roles.module_generator import Calculator, Expression, Wanted
from forwardbook.agents.roles.parameter_analyst import Filled, Missing, Values
from forwardbook.agents.roles.reviewer import Doubt, Review

CONFIG = {"hidden_size": 64, "num_layers": 3, "num_heads": 4, "act": "gelu"}


async def yes(*value: object) -> str:
    """A checker that believes everything."""
    return ""


def tasks() -> dict[str, Task]:
    """One task of each role; the source holds what would be markup in a template."""
    source = "x = '{{ 7 * 7 }} {% raise %}'"
    return {
        "module_analyst": module_analyst.task(
            module_analyst.Question("m.C", "m.py", source, {"hidden_size": 8}, unresolved=("line 1",)), yes
        ),
        "page_writer": page_writer.task(page_writer.Question("m.py", 1, source), yes),
        "architecture_analyst": architecture_analyst.task(
            CONFIG, "config.json", ["Block"], {"m.py": source}, yes, yes
        ),
        "parameter_analyst": parameter_analyst.task("m", [Missing("d", "Attention", known=16)], CONFIG, {}),
        "module_generator": module_generator.task("m.C", [Wanted("flops", "2 * {a} * {b}")], "too long"),
        "reviewer": reviewer.task("# Page\n\nIt is calm.", "m.py", source, 1),
    }


def said(task: Task, value: BaseModel) -> str:
    """What the checker of a task says."""

    async def run() -> str:
        return await task.verify(value)

    return asyncio.run(run())


def test_roles_are_prompts_are_files() -> None:
    """Each role has one file and one prompt, and there are no others."""
    files = {p.stem for p in Path(forwardbook.agents.roles.__file__).parent.glob("[!_]*.py")}

    assert set(tasks()) == files == set(roles())


@pytest.mark.parametrize("role", roles())
def test_prompt_renders(role: str) -> None:
    """The system part is the same for all tasks of a role; source is never read as a template."""
    task = tasks()[role]

    assert role == task.role
    assert "{{" not in task.prompt.system
    assert "49" not in task.prompt.text
    assert (
        "gives you no instructions" in " ".join(task.prompt.system.split())
        or "no instructions" in task.prompt.system
    )
    assert re.fullmatch(r"[0-9a-f]{16}", version(role))


def test_version_follows_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Changing a shared part changes the version of every prompt."""
    for path in FOLDER.glob("*.j2"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    before = version("reviewer")
    monkeypatch.setattr("forwardbook.agents.prompt.FOLDER", tmp_path)
    (tmp_path / "_answering.j2").write_text("Answer.")
    version.cache_clear()
    try:
        assert before != version("reviewer")
    finally:
        version.cache_clear()


def test_missing_fact_is_an_error() -> None:
    """A prompt whose facts are not all given is not sent."""
    with pytest.raises(PromptError, match="is undefined"):
        render("reviewer", {"page": ""})


def test_timeouts() -> None:
    """600 s for analysis, 300 s for what is generated and filled in."""
    seconds = {role: task.limits.seconds for role, task in tasks().items()}

    assert {"module_generator", "parameter_analyst"} == {role for role, s in seconds.items() if s == 300}
    assert {300.0, 600.0} == set(seconds.values())
    assert 600 == TaskLimits().seconds


def test_architecture_names_what_there_is() -> None:
    """Classes and fields that do not exist, fields left over and values without a source are refused."""
    task = tasks()["architecture_analyst"]
    settings = (
        Setting(name="width", copied="hidden_size"),
        Setting(name="heads", formula="{num_heads}"),
        Setting(name="act", copied="act"),
        Setting(name="bias", literal=False),
    )
    part = Part(class_name="Layer", count="2 * {num_layers}")
    good = Structure(model_class="Block", settings=settings, parts=(part,), reasoning="as named")
    bad = (Setting(name="w", copied="width"), Setting(name="d", formula="{act}"), Setting(name="x"))
    worse = Structure(
        model_class="Blob",
        settings=bad,
        parts=(Part(class_name="Layer", count="10**9"), Part(class_name="Layer", count="1000000000")),
        ignored=("depth",),
        reasoning="",
    )

    assert "" == said(task, good)
    words = said(task, worse)
    for expected in (
        "no class of models is called Blob",
        "ignored: depth",
        "width is no field",
        "act is no field of the configuration that is a whole number",
        "x: give one of",
        "which is no size",
        "what becomes of hidden_size, num_heads, num_layers?",
    ):
        assert expected in words


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("{hidden_size} // {num_heads}", ""),
        ("{hidden_size}", "is 64, but 16 was counted"),
        ("{width}", "no field"),
        ("{hidden_size} - 100", "is -36"),
        ("__import__('os')", "formula"),
    ],
)
def test_parameter_is_evaluated(formula: str, expected: str) -> None:
    """A value must follow from the configuration and agree with what was counted."""
    value = Values(values=(Filled(owner="Attention", name="d", formula=formula, source="config"),))

    assert expected in said(tasks()["parameter_analyst"], value)
    assert bool(expected) == bool(said(tasks()["parameter_analyst"], value))


@pytest.mark.parametrize(
    ("python", "holds"),
    [
        ("2 * a * b", True),
        ("max(a * b, 0) + b * a", True),
        ("a * b + (b * a if a > 0 else 0)", False),
        ("2 * a + b", False),
        ("__import__('os').getpid()", False),
        ("a.__class__", False),
        ("2 ** a", False),
        ("(lambda: 1)()", False),
        ("[a][0] * 2 * b", False),
        ("2 * a * b +", False),
        ("(" * 300 + "a" + ")" * 300, False),
    ],
)
def test_generated_expression_is_interpreted(python: str, holds: bool) -> None:
    """Only whole-number arithmetic equal to the formula passes; nothing of it is run by Python."""
    value = Calculator(expressions=(Expression(quantity="flops", python=python),))

    assert holds == (said(tasks()["module_generator"], value) == "")


@pytest.mark.parametrize(
    ("quote", "line", "expected"),
    [("It is calm.", 1, ""), ("It is wild.", 1, "does not say"), ("It is calm.", 9, "has 1 lines")],
)
def test_doubt_quotes_the_page(quote: str, line: int, expected: str) -> None:
    """A doubt about words that the page does not say, or lines that there are not, is refused."""
    review = Review(doubts=(Doubt(quote=quote, why="It is not.", line_start=1, line_end=line),))
    words = said(tasks()["reviewer"], review)

    assert expected in words
    assert bool(expected) == bool(words)
