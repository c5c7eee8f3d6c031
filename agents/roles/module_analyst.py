"""The module analyst: a class that the static engine could not settle in, a task for proved formulas out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from pydantic import BaseModel

from forwardbook.agents.analyst import Task, TaskLimits, Verify
from forwardbook.agents.prompt import render
from forwardbook.agents.served import SHOWN, digest, rules_tool, source_tool
from forwardbook.agents.tools import Arguments, Tool, bounded
from forwardbook.profiling.claim import Claim

ROLE: Final = "module_analyst"


class Checked(Arguments):
    """Formulas to try."""

    claim: Claim


@dataclass(frozen=True)
class Question:
    """All that is known of the class; `texts` are the sources that may be asked for, by name."""

    name: str
    file: str
    source: str
    sizes: Mapping[str, int]
    meanings: Mapping[str, str] = field(default_factory=dict)
    inputs: str = "by their defaults"
    unresolved: tuple[str, ...] = ()
    candidates: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)
    versions: str = ""


def task(question: Question, check: Verify, limits: TaskLimits | None = None) -> Task:
    """The task; `check` measures a claim and says in words where it does not hold."""
    sizes = [
        {"name": name, "hint": hint, "meaning": question.meanings.get(name, "")}
        for name, hint in sorted(question.sizes.items())
    ]
    prompt = render(
        ROLE,
        {
            "name": question.name,
            "file": question.file,
            "sizes": sizes,
            "inputs": question.inputs,
            "unresolved": question.unresolved,
            "candidates": bounded(question.candidates, SHOWN),
            "others": sorted(question.texts),
            "source": bounded(question.source, SHOWN),
        },
    )
    texts = {**question.texts, question.name.rpartition(".")[2]: question.source}
    return Task(
        role=ROLE,
        prompt=prompt,
        answer=Claim,
        verify=check,
        tools=(source_tool(texts), rules_tool(), check_formula(check)),
        context=digest(question.versions, *(f"{name}={text}" for name, text in sorted(texts.items()))),
        limits=limits or TaskLimits(),
    )


def check_formula(check: Verify) -> Tool:
    """The tool that holds formulas against real runs without submitting them."""

    async def run(arguments: Arguments) -> str:
        assert isinstance(arguments, Checked)
        value: BaseModel = arguments.claim
        return await check(value) or "every line and total is equal at every point that was measured"

    return Tool(
        "check_formula",
        "Measures the class at random sizes and data, and holds your formulas against it, line by line. "
        "Where a number differs you get sizes, line, predicted and measured.",
        Checked,
        run,
        seconds=600,
    )
