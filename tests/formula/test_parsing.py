"""The formula language: what it reads, what it refuses, and that no text makes it run code or run on."""

from __future__ import annotations

import random
import time

import pytest

from forwardbook.errors import FormulaError
from forwardbook.formula import Condition, Expr, parse
from forwardbook.formula.limits import MAX_TEXT

A, B = Expr.symbol("a"), Expr.symbol("b")

REFUSED = [
    "",
    " ",
    "{a",
    "a",
    "{}",
    "{1a}",
    "{a b}",
    "{a}{b}",
    "{a} {b}",
    "{a} / {b}",
    "{a} ** 2",
    "2 ** 3",
    "9**9**9",
    "1.5",
    "1e9",
    "0x10",
    "1_000",
    "٣",
    "{é}",
    "+",
    "{a} +",
    "* {a}",
    "()",
    "(",
    ")",
    "min()",
    "max({a},)",
    "min {a}",
    "ceil({a} / {b}",
    "ceil({a} + {b} / 2)",
    "floor({a}, {b})",
    "{a} // 0",
    "{a} % 0",
    "{a} // ({b} - {b})",
    "{a} == {b}",
    "{a} < 3",
    "{a};{b}",
    "{a}\x00",
    "lambda: 0",
    "__import__('os').system('true')",
    "{__import__('os')}",
    "{a.__class__}()",
    "exec('1')",
    "{a} if 1 else 2",
    "[{a}]",
    "{a}" + "*{a}" * 10**5,
    "(" * 10**5,
    "(" * 10**5 + "1" + ")" * 10**5,
    "9" * 10**5,
    "min(" * 5000,
    "(" + "+".join(f"{{x{i}}}" for i in range(300)) + ")" + "*(1+{a}+{b}*{b})" * 50,
    "*".join(f"({{a{i}}}+1)" for i in range(60)),
    "*".join(f"({{a{i}}}+{{b{i}}})" for i in range(14)),
    "*".join(f"({{a{i}}}+{{b{i}}}+{{c{i}}})" for i in range(200)),
    "*".join("9" * 99 for _ in range(1500)),
    "//".join(f"({{a{i}}}+{{b{i}}})" for i in range(3000)),
    "%".join(f"({{a{i}}}+{{b{i}}})" for i in range(60)),
    "max(" + ",".join(f"{{x{i}}}" for i in range(9000)) + ")",
    "1" * (MAX_TEXT + 1),
]


LONG = [
    "+".join("max(" + ",".join(f"{{a{j}}}-{i}*{{b{j}}}" for j in range(32)) + ")" for i in range(150)),
    "max(" + ",".join("+".join(f"{{a{i}_{j}}}-{{b{j}_{i}}}" for j in range(60)) for i in range(32)) + ")",
]


@pytest.mark.parametrize("text", LONG, ids=lambda text: repr(text[:30]))
def test_extremes_of_many_are_read(text: str) -> None:
    """Extremes whose arguments are told apart at a few sizes are read: no proof is looked for."""
    assert parse(text).atoms()


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: repr(text[:30]))
def test_refuses(text: str) -> None:
    """What is not a formula, or too large a one, is refused by a short formula error in bounded time."""
    start = time.thread_time()
    with pytest.raises(FormulaError) as caught:
        parse(text)
    assert time.thread_time() - start < (1 if len(text) <= 10_000 else 5)
    assert len(str(caught.value)) < 1500


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7", Expr.const(7)),
        ("-{a}", -A),
        ("--{a}", A),
        ("2 - 3 - {a}", -1 - A),
        ("-{a} // 2", (-A).floordiv(2)),
        ("-({a} // 2)", -(A.floordiv(2))),
        ("{a} * {b} // {b}", A),
        ("{a} // {b} * {b}", A.floordiv(B) * B),
        ("{a}\n*\t{b}", A * B),
        ("{a} % {b} + {a} // {b} * {b}", A),
        ("ceil({a} / {b})", A.ceildiv(B)),
        ("ceil(2 * {a} / {b})", (2 * A).ceildiv(B)),
        ("ceil(({a} + {b}) / 2)", (A + B).ceildiv(2)),
        ("floor({a} / {b})", A.floordiv(B)),
        ("floor({a})", A),
        ("ceil(-{a} / 2)", (-A).ceildiv(2)),
        ("min({a}, 3, {b}, 5)", Expr.minimum(A, B, 3)),
        ("max(min({a}, {b}), 0)", Expr.minimum(A, B)),
        ("{text_config.hidden_size}", Expr.symbol("text_config.hidden_size")),
    ],
)
def test_reads(text: str, expected: Expr) -> None:
    """Operators bind as in Python, and a single slash stands only inside ceil and floor."""
    assert expected == parse(text)


@pytest.mark.parametrize("text", ["{a} =< 3", "{a} == {b} == 3", "{a} 3", "{a}", "== 3", "{a} >", "{a} = 3"])
def test_refuses_conditions(text: str) -> None:
    """A condition has exactly one comparison between two formulas."""
    with pytest.raises(FormulaError):
        Condition.parse(text)


def test_names_the_place() -> None:
    """A refusal shows the character at which the text stops being a formula."""
    with pytest.raises(FormulaError, match=r"character 6 of '\{a\} \+ \* 2', found '\*'"):
        parse("{a} + * 2")


def test_exact_reading_restores_the_polynomial() -> None:
    """With exact, a printed exact division is one again, while floor still rounds."""
    value = (A * B).exact_div(2) + A.floordiv(3)
    assert value == parse(value.text(), exact=True)
    assert value != parse(value.text())


_ALPHABET = "{}()+-*/%,<>= \n.0123456789abminxceilfor_'\"\\\x00é"
_WORDS = [
    "{a}",
    "{b.c}",
    "{kv_len}",
    "0",
    "1",
    "7",
    "99999999999",
    "+",
    "-",
    "*",
    "//",
    "%",
    "/",
    "(",
    ")",
    ",",
]
_CALLS = [
    "ceil(",
    "floor(",
    "min(",
    "max(",
    "==",
    "<=",
    "**",
    "{",
    "}",
    "__import__('os')",
    "lambda:",
    "\\",
    " ",
]


def _grammatical(rng: random.Random, depth: int) -> str:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(["{a}", "{b}", "{c}", str(rng.randrange(12)), "-{a}"])
    left, right = _grammatical(rng, depth - 1), _grammatical(rng, depth - 1)
    form = rng.choice(["{} + {}", "({} - {})", "({}) * ({})", "({}) // ({})", "({}) % ({})", "min({}, {})"])
    form = rng.choice([form, "ceil(({}) / ({}))", "max({}, {})", "floor(({}) / ({}))"])
    return form.format(left, right)


def _fuzzed(rng: random.Random) -> str:
    kind = rng.randrange(5)
    if kind == 0:
        return bytes(rng.randrange(256) for _ in range(rng.randrange(60))).decode("latin-1")
    if kind == 1:
        return "".join(rng.choice(_ALPHABET) for _ in range(rng.randrange(60)))
    if kind == 2:
        return "".join(rng.choice(_WORDS + _CALLS) for _ in range(rng.randrange(40)))
    text = _grammatical(rng, rng.randrange(6))
    if kind == 3:
        return text
    for _ in range(rng.randrange(1, 4)):
        place = rng.randrange(len(text) + 1)
        text = text[:place] + rng.choice([*_ALPHABET, *_WORDS]) + text[place + rng.randrange(4) :]
    return text


def test_fuzz() -> None:
    """Ten thousand strings give an expression that reads back, or a formula error; none takes long."""
    rng = random.Random(20)
    slowest = 0.0
    read = 0
    for _ in range(10_000):
        text = _fuzzed(rng)
        start = time.process_time()
        try:
            value = parse(text)
            assert parse(value.text(), exact=True) == value
            read += 1
        except FormulaError as error:
            assert len(str(error)) < 1500
        slowest = max(slowest, time.process_time() - start)
    assert read > 1000
    assert slowest < 5
