"""The parser counts its steps: hostile texts end soon, alike everywhere, and what is read has its value."""

from __future__ import annotations

import ast
import random
import re
import subprocess
import sys
import time
from fractions import Fraction
from math import ceil, floor

import pytest

from forwardbook.errors import FormulaError
from forwardbook.formula import parse
from forwardbook.formula.limits import MAX_PARSED_WORK, SHORT_TEXT
from forwardbook.formula.work import WorkError, at_most, remembered, spend, spent

NAMES = tuple("abcdefgh")


def independent(text: str, sizes: dict[str, int]) -> int:
    """The value of a formula by Python's own parser and fractions, without our algebra."""
    return int(_value(ast.parse(re.sub(r"\{(\w+)\}", r"\1", text), mode="eval").body, sizes))


def _value(node: ast.expr, sizes: dict[str, int]) -> Fraction:
    match node:
        case ast.Constant(value=int(value)):
            return Fraction(value)
        case ast.Name(id=name):
            return Fraction(sizes[name])
        case ast.UnaryOp(op=op, operand=operand):
            return -_value(operand, sizes) if isinstance(op, ast.USub) else _value(operand, sizes)
        case ast.BinOp(left=left, op=op, right=right):
            return _combined(op, _value(left, sizes), _value(right, sizes))
        case ast.Call(func=ast.Name(id=name), args=[ast.BinOp(op=ast.Div()) as inner]):
            ratio = _value(inner.left, sizes) / _value(inner.right, sizes)
            return Fraction(floor(ratio) if name == "floor" else ceil(ratio))
        case ast.Call(func=ast.Name(id=name), args=inner):
            return {"min": min, "max": max}[name](_value(one, sizes) for one in inner)
    raise AssertionError(ast.dump(node))


def _combined(op: ast.operator, left: Fraction, right: Fraction) -> Fraction:
    match op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.FloorDiv():
            return Fraction(floor(left / right))
        case _:
            return left - right * floor(left / right)


def _formula(rng: random.Random, depth: int) -> str:
    if depth == 0 or rng.random() < 0.15:
        return rng.choice([*(f"{{{name}}}" for name in NAMES), str(rng.randrange(1, 40))])
    left, right = _formula(rng, depth - 1), _formula(rng, depth - 1)
    forms = ("({} + {})", "({} - {})", "({}) * ({})", "({}) // ({})", "({}) % ({})", "-({}) + {}")
    calls = ("ceil(({}) / ({}))", "floor(({}) / ({}))", "max({}, {})", "min({}, {})", "max({}, 2, {})")
    return rng.choice(forms + calls).format(left, right)


def test_parsed_formulas_have_their_values() -> None:
    """Some hundred formulas have, at random sizes, the value that fractions give."""
    rng = random.Random(5)
    compared = 0
    for _ in range(400):
        text = _formula(rng, rng.randrange(1, 6))
        try:
            value = parse(text)
        except FormulaError:
            continue
        for largest in (4, 60, 10**9):
            sizes = {name: rng.randint(1, largest) for name in NAMES}
            try:
                expected = independent(text, sizes)
            except ZeroDivisionError:
                continue
            try:
                assert expected == value.evaluate(sizes), text
            except FormulaError as error:
                assert "division by zero" in str(error)  # noqa: PT017 - of a part that a fraction cancels
                continue
            compared += 1
    assert compared > 600


NASTY = {
    "product of sums": "*".join(
        "(" + "+".join(f"{{v{i * j % 37}}}" for j in range(1, 7)) + ")" for i in range(1, 190)
    ),
    "power": "*".join(["({a}+{b}+{c}+{d}+1)"] * 60),
    "two by two": "*".join(f"({{a{i}}}+{{b{i}}})" for i in range(60)),
    "divisions": "//".join(f"({{a{i}}}+{{b{i}}}-{i})" for i in range(400)),
    "remainders": "%".join(f"({{a{i}}}*{{b}}+{i})" for i in range(400)),
    "quotient": f"floor({'*'.join(f'({{a{i}}}+{{b{i}}})' for i in range(11))} / "
    f"({'*'.join(f'({{a{i}}}+{{b{i}}})' for i in range(5))}+1))",
    "extremes": "+".join(
        "max(" + ",".join(f"{{a{j}}}-{i}*{{b{j}}}" for j in range(32)) + ")" for i in range(20)
    ),
    "product of extremes": "*".join(f"(max({{a{i}}},{{b{i}}}-{i})+1)" for i in range(200)),
    "alike extremes": "max(" + ",".join(f"{{a}}*{i}+{{b}}*{300 - i}" for i in range(256)) + ")",
    "digits": "*".join(f"({'9' * 99}*{{a{i}}}+{'7' * 98})" for i in range(45)),
    "nested": "floor((" * 38 + "{a}" + "+{b})/3)" * 38,
    "wide and nested": "max(" * 30 + "{a}" + "".join(f",{{b}}-{{c}}*{i},{{d}}*{{a}}-{i})" for i in range(30)),
    "by zero": f"({'*'.join(f'({{a{i}}}+{{b{i}}})' for i in range(9))}) // ({{a}}-{{a}})",
    "sum of roundings": "+".join(f"{{a}}*ceil(({{b}}+{i})/{i + 2})" for i in range(400)),
    "unclosed": "max({a}," * 1250,
    "minus": "-" * 9_999 + "1",
    "sum": "+".join(["{a}*{b}"] * 1200),
}


@pytest.mark.parametrize("kind", NASTY)
def test_ends_within_a_second(kind: str, a_second: float) -> None:
    """Ten thousand characters of any kind are read, or refused by a short message, within a second."""
    text = NASTY[kind][:SHORT_TEXT]
    began = time.process_time()
    try:
        parse(text)
    except FormulaError as error:
        assert len(str(error)) < 1500  # noqa: PT017 - either outcome is right
    assert time.process_time() - began < a_second


def test_count_hangs_on_the_text_alone() -> None:
    """A text takes as many steps in a new process as in one that has read others before it, and again."""
    text = NASTY["extremes"]
    code = "from forwardbook.formula import parse, work\n"
    code += f"parse({text!r})\nprint(work.spent())"
    fresh = int(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    )
    for _ in range(2):
        before = spent()
        parse(text)
        assert fresh == spent() - before
    assert fresh < MAX_PARSED_WORK


def test_refusal_says_the_limit() -> None:
    """What takes too many steps is refused with their number, not with seconds."""
    with pytest.raises(FormulaError, match=f"needs more than {MAX_PARSED_WORK} steps"):
        parse(NASTY["two by two"])


def test_what_is_remembered_counts_as_at_first() -> None:
    """A result from memory takes the steps that it took when it was found; a limit holds for it as well."""

    @remembered(8)
    def found(number: int) -> int:
        spend(number)
        return number

    with at_most(100):
        found(60)
    with pytest.raises(WorkError), at_most(100):
        found(60)
        found(60)
    with at_most(10):
        pass
    found(60)  # without a limit there is none
