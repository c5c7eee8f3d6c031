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
from forwardbook.agents.served import SHOWN, digest, source_tool
from forwardbook.agents.tools import bounded
from forwardbook.errors import FormulaError
from forwardbook.formula import Expr, parse
from forwardbook.generate import is_same
from forwardbook.generate.naming import python_names

ROLE: Final = "module_generator"
POINTS: Final = 64
_DEEPEST: Final = 60
_OPERATORS: Final = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
_SIGNS: Final[Mapping[type[ast.operator], str]] = dict(
    zip(_OPERATORS, ("+", "-", "*", "//", "%"), strict=True)
)


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
    """The task; its checker compares expressions with formulas at random sizes, then as polynomials."""
    formulas = {one.quantity: parse(one.formula) for one in wanted}
    texts = {one.quantity: one.formula for one in wanted}
    names = names_of(wanted)

    async def check(value: BaseModel) -> str:
        assert isinstance(value, Calculator)
        given = {one.quantity: one.python for one in value.expressions}
        lines = [f"{quantity} is missing" for quantity in formulas.keys() - given.keys()]
        lines += [f"nobody asked for {quantity}" for quantity in given.keys() - formulas.keys()]
        lines += [
            f"{quantity}: {problem}"
            for quantity, formula in formulas.items()
            if quantity in given
            and (
                problem := difference(given[quantity], formula, names)
                or _apart(given[quantity], texts[quantity], names)
            )
        ]
        return "\n".join(lines)

    shown = [Wanted(one.quantity, bounded(one.formula, SHOWN // len(wanted))) for one in wanted]
    facts = {"name": name, "formulas": shown, "reason": reason, "parameters": sorted(names.values())}
    tools = (source_tool(texts),)
    context = digest(*(f"{one.quantity}={one.formula}" for one in wanted))
    return Task(
        ROLE, render(ROLE, facts), Calculator, check, tools, context, limits or TaskLimits(seconds=300)
    )


def names_of(wanted: Sequence[Wanted]) -> dict[str, str]:
    """The name in Python of each symbol of the formulas."""
    return python_names({symbol for one in wanted for symbol in parse(one.formula).symbols()})


def difference(python: str, formula: Expr, names: Mapping[str, str]) -> str:
    """Where an expression over Python's names of symbols differs from a formula; empty where it never did."""
    try:
        tree = _tree(python)
    except NotArithmetic as error:
        return str(error)
    rng = random.Random(formula.text())
    for attempt in range(POINTS):
        sizes = {name: rng.randint(1, 4 if attempt % 4 == 0 else 4096) for name in names}
        try:
            expected = formula.evaluate(sizes)
        except FormulaError:
            continue
        try:
            actual = value_of(tree, {names[symbol]: size for symbol, size in sizes.items()})
        except (NotArithmetic, ZeroDivisionError) as error:
            return str(error)
        if actual != expected:
            shown = ", ".join(f"{name}={value}" for name, value in sizes.items())
            return f"at {shown} it is {actual}, the formula {expected}"
    return ""


def _apart(python: str, formula: str, names: Mapping[str, str]) -> str:
    """What is to be said of an expression that had the formula's values but is another polynomial."""
    try:
        if is_same(formula_of(python, names), formula):
            return ""
    except NotArithmetic as error:
        return str(error)
    return (
        "it had the values of the formula wherever it was tried, but it is not proved equal: "
        "only factor, and leave divisions, remainders, minima and maxima as they stand"
    )


def formula_of(python: str, names: Mapping[str, str]) -> str:
    """An expression that passed the checker as a formula over the symbols behind Python's names.

    Raises:
        NotArithmetic: it is none.
    """
    return _text(_tree(python), {python: symbol for symbol, python in names.items()})


def _tree(python: str) -> ast.expr:
    try:
        return ast.parse(python.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NotArithmetic("it is no Python expression") from error


def _text(node: ast.expr, symbols: Mapping[str, str]) -> str:
    match node:
        case ast.Constant(value=value):
            return str(value)
        case ast.Name(id=name):
            return f"{{{symbols[name]}}}"
        case ast.UnaryOp(operand=operand):
            return f"-({_text(operand, symbols)})"
        case ast.BinOp(left=left, op=op, right=right):
            return f"({_text(left, symbols)} {_SIGNS[type(op)]} {_text(right, symbols)})"
        case ast.Call(func=ast.Name(id=name), args=inner):
            return f"{name}({', '.join(_text(one, symbols) for one in inner)})"
    raise NotArithmetic("it is no arithmetic")


def value_of(node: ast.expr, sizes: Mapping[str, int], depth: int = 0) -> int:
    """The value of whole-number arithmetic, interpreted: nothing of Python itself runs.

    Raises:
        NotArithmetic: anything else stands in it.
    """
    if depth > _DEEPEST:
        raise NotArithmetic(f"it is nested more than {_DEEPEST} deep: group long sums in parentheses")

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
