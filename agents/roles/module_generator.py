"""The module generator: formulas that no template renders in, a task for equal Python expressions out."""

from __future__ import annotations

import ast
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from forwardbook.agents.analyst import Task, TaskLimits
from forwardbook.agents.prompt import render
from forwardbook.errors import FormulaError
from forwardbook.formula import Expr, parse

ROLE: Final = "module_generator"
POINTS: Final = 64
_DEEPEST: Final = 60
_OPERATORS: Final = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A quantity and its formula."""

    quantity: str
    formula: str


class Expression(BaseModel):
    """The Python expression of one quantity."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    quantity: str
    python: str = Field(max_length=4000)


class Calculator(BaseModel):
    """An expression for each quantity."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    expressions: tuple[Expression, ...] = Field(min_length=1, max_length=20)


class NotArithmetic(ValueError):
    """An expression with anything in it but whole-number arithmetic over parameters."""


def task(name: str, wanted: Sequence[Wanted], reason: str, limits: TaskLimits | None = None) -> Task:
    """The task; its checker interprets each expression and compares it with its formula at random sizes."""
    formulas = {one.quantity: parse(one.formula) for one in wanted}
    names = sorted({symbol for formula in formulas.values() for symbol in formula.symbols()})

    async def check(value: BaseModel) -> str:
        assert isinstance(value, Calculator)
        given = {one.quantity: one.python for one in value.expressions}
        lines = [f"{quantity} is missing" for quantity in formulas.keys() - given.keys()]
        lines += [f"nobody asked for {quantity}" for quantity in given.keys() - formulas.keys()]
        lines += [
            f"{quantity}: {problem}"
            for quantity, formula in formulas.items()
            if quantity in given and (problem := difference(given[quantity], formula, names))
        ]
        return "\n".join(lines)

    facts = {"name": name, "formulas": list(wanted), "reason": reason, "parameters": names}
    return Task(ROLE, render(ROLE, facts), Calculator, check, (), "", limits or TaskLimits(seconds=300))


def difference(python: str, formula: Expr, names: Sequence[str]) -> str:
    """Where an expression and a formula give different numbers; empty where they never did."""
    try:
        tree = ast.parse(python.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "it is no Python expression"
    rng = random.Random(formula.text())
    for attempt in range(POINTS):
        sizes = {name: rng.randint(1, 4 if attempt % 4 == 0 else 4096) for name in names}
        try:
            expected = formula.evaluate(sizes)
        except FormulaError:
            continue
        try:
            actual = value_of(tree, sizes)
        except (NotArithmetic, ZeroDivisionError) as error:
            return str(error)
        if actual != expected:
            shown = ", ".join(f"{name}={value}" for name, value in sizes.items())
            return f"at {shown} it is {actual}, the formula {expected}"
    return ""


def value_of(node: ast.expr, sizes: Mapping[str, int], depth: int = 0) -> int:
    """The value of whole-number arithmetic, interpreted: nothing of Python itself runs.

    Raises:
        NotArithmetic: anything else stands in it.
    """
    if depth > _DEEPEST:
        raise NotArithmetic("it is nested too deeply")

    def of(inner: ast.expr) -> int:
        return value_of(inner, sizes, depth + 1)

    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool) and abs(value) < 10**18:
            return value
        case ast.Name(id=name) if name in sizes:
            return sizes[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -of(operand)
        case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _OPERATORS):
            return _arithmetic(op, of(left), of(right))
        case ast.Call(func=ast.Name(id="min" | "max" as name), args=[_, _, *_] as inner, keywords=[]):
            return (min if name == "min" else max)(of(one) for one in inner)
    raise NotArithmetic(f"{type(node).__name__} at column {node.col_offset} is no whole-number arithmetic")


def _arithmetic(op: ast.operator, left: int, right: int) -> int:
    match op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.FloorDiv():
            return left // right
        case _:
            return left % right
