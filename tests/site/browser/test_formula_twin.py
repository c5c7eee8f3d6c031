"""The formula language in the browser is the one of `forwardbook.formula`: same texts, values, refusals."""

from __future__ import annotations

import random
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from forwardbook import registry
from forwardbook.errors import FormulaError
from forwardbook.formula import parse
from forwardbook.formula.rational import rational_value
from forwardbook.generate import with_generated_names
from forwardbook.schema import CodeLocation, Entry, FlopAnalysis, MemoryAnalysis, Regime

if TYPE_CHECKING:
    from tests.site.browser.engine import Scripts

NAMES = ("a", "bb", "c_1", "d.e")
QUANTITIES = ("flops", "pointwise_ops", "reads", "writes", "weights", "boundary", "intermediates", "peak")
REFUSED = (
    "",
    "1 +",
    "{a} {bb}",
    "2 ** 3",
    "{a",
    "a",
    "{1a}",
    "1.5",
    "floor({a} + 1 / 2)",
    "floor({a} / 2 * 3)",
    "max()",
    "min({a},)",
    "({a}",
    "{a})",
    "{a} / 2",
    "ceil{a}",
    "{a} == 2",
    "min 3",
    "1e3",
    "{é}",
    "٣",
    "{a} ÷ 2",
    "1" * 101,
    "(" * 121 + "1" + ")" * 121,
    "alert(1)",
    "{a}; {bb}",
    "`{a}`",
    "{__proto__}[0]",
    "floor(1 - {a} / 2)",
)


def formula(draw: random.Random, depth: int) -> str:
    """A random text of the formula language."""
    if depth == 0 or draw.random() < 0.15:
        constant = draw.choice((0, 1, 2, 3, 7, 2**53 + 1, 10**30))
        return draw.choice((f"{{{draw.choice(NAMES)}}}", f"{{{draw.choice(NAMES)}}}", str(constant)))
    below = [formula(draw, depth - 1) for _ in range(3)]
    left, right, third = below
    return draw.choice(
        (
            f"{left} + {right}",
            f"{left} - {right}",
            f"{left} * {right}",
            f"({left}) * ({right})",
            f"({left})",
            f"({left}) // ({right})",
            f"({left}) % ({right})",
            f"-({left})",
            f"{left} - ({right})",
            f"--{left}",
            f"floor(({left}) / ({right}))",
            f"ceil(({left}) / ({right}))",
            f"ceil({left})",
            f"max({left}, {right}, {third})",
            f"min({left}, {right})",
            f"{left} // ({right} + 1) % 5",
        )
    )


def sizes(draw: random.Random) -> dict[str, int]:
    """A size for each name, small, usual, or beyond what a double can hold."""
    return {
        name: draw.choice((0, 1, draw.randint(2, 9), draw.getrandbits(14), draw.getrandbits(90)))
        for name in NAMES
    }


def python_value(text: str, at: Mapping[str, int]) -> int | None:
    """What forwardbook.formula gives, None where it refuses."""
    try:
        return parse(text).evaluate(at)
    except FormulaError:
        return None


def test_random_formulas_have_the_value_of_python(scripts: Scripts) -> None:
    """4,000 random formulas at random sizes up to 2^90: the same integer, many above 2^53."""
    draw = random.Random(7)
    cases = [{"formula": formula(draw, draw.randint(1, 4)), "sizes": sizes(draw)} for _ in range(4000)]
    found = scripts.each("value", [{**case, "sizes": _texts(case["sizes"])} for case in cases])
    expected = [python_value(str(case["formula"]), case["sizes"]) for case in cases]  # type: ignore[arg-type]
    large = 0
    for case, own, python in zip(cases, found, expected, strict=True):
        if isinstance(own, dict):
            # a simplification may remove a division by zero, the browser then still refuses
            assert own["error"] == "division by zero", case
        else:
            assert python is not None, case
            assert own == str(python), case
            large += abs(python) > 2**53
    assert large > 600
    assert sum(isinstance(own, str) for own in found) > 2000


def test_division_by_zero_is_refused_where_python_refuses(scripts: Scripts) -> None:
    """Wherever forwardbook.formula finds a division by zero, the browser does."""
    draw = random.Random(8)
    cases = [{"formula": formula(draw, 3), "sizes": sizes(draw)} for _ in range(2000)]
    found = scripts.each("value", [{**case, "sizes": _texts(case["sizes"])} for case in cases])
    for case, own in zip(cases, found, strict=True):
        if python_value(str(case["formula"]), case["sizes"]) is None:  # type: ignore[arg-type]
            assert isinstance(own, dict), case


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_formula_is_refused_with_the_message_of_python(scripts: Scripts, text: str) -> None:
    """The browser says the same about a text that is no formula, quotes apart."""
    with pytest.raises(FormulaError) as raised:
        parse(text)

    [found] = scripts.each("value", [{"formula": text, "sizes": {}}])

    assert found["kind"] == "FormulaError"
    assert found["error"] == str(raised.value)


def test_texts_with_random_faults_are_refused_alike(scripts: Scripts) -> None:
    """Of 1,500 formulas with a character changed, removed or doubled, the same are formulas."""
    draw = random.Random(9)
    texts = [_faulty(draw, formula(draw, 2)) for _ in range(1500)]
    ones = dict.fromkeys(NAMES, "1")
    found = scripts.each("value", [{"formula": text, "sizes": ones} for text in texts])
    refused = 0
    for text, own in zip(texts, found, strict=True):
        problem = own.get("error") if isinstance(own, dict) else None
        if problem is None or problem == "division by zero" or problem.startswith("no value for"):
            _accepted_by_python(text)
        else:
            refused += 1
            with pytest.raises(FormulaError):
                parse(text)
    assert refused > 300


def test_conditions_choose_the_regime_of_python(scripts: Scripts) -> None:
    """Random regimes with random conditions: the same one holds, or each fails for the same reasons."""
    draw = random.Random(10)
    held = 0
    for _ in range(60):
        entry = with_generated_names("x_Random", _entry(draw), {})
        calculator = registry.from_entry(entry)
        regimes = [_plain(regime) for regime in entry.regimes]
        points = [_some(draw, sizes(draw)) for _ in range(12)]
        found = scripts.each("costs", [{"regimes": regimes, "sizes": _texts(at)} for at in points])
        for at, own in zip(points, found, strict=True):
            try:
                costs = calculator.costs_at(at)
            except Exception as error:  # compared just below
                _same_refusal(str(error), own)
            else:
                held += 1
                assert own["regime"] == costs.regime
                assert own["values"] == {name: str(getattr(costs, name)) for name in QUANTITIES}
    assert held > 100


def test_fractions_of_a_byte_are_exact(scripts: Scripts) -> None:
    """With widths of 4 and 6 bits the browser gives the rational number that Python gives."""
    text = "{a} * {w} // 2 + max({w} * {bb}, floor({a} / 3)) * {w} + ceil({a} / (2 * {bb} + 1)) * {w}"
    draw = random.Random(11)
    points = [
        {"a": Fraction(draw.getrandbits(60)), "bb": Fraction(draw.getrandbits(9)), "w": Fraction(bits, 8)}
        for bits in range(2, 33)
    ]
    found = scripts.each("value", [{"formula": text, "sizes": _texts(at), "exact": True} for at in points])
    expected = parse(text, exact=True)

    assert found == [str(rational_value(expected, at)) for at in points]


def _accepted_by_python(text: str) -> None:
    try:
        parse(text)
    except FormulaError as error:
        assert "division by zero" in str(error), text


def _texts(at: object) -> dict[str, str]:
    assert isinstance(at, dict)
    return {name: str(value) for name, value in at.items()}


def _faulty(draw: random.Random, text: str) -> str:
    place = draw.randrange(len(text))
    return (
        text[:place]
        + draw.choice(("", "+", "*", "(", ")", "{a}", "7", "/", "/ 2", ",", " "))
        + text[place + 1 :]
    )


def _some(draw: random.Random, at: dict[str, int]) -> dict[str, int]:
    return {name: value for name, value in at.items() if name != "d.e" or draw.random() < 0.7}


def _entry(draw: random.Random) -> Entry:
    regimes = []
    for place in range(draw.randint(1, 4)):
        texts = {name: formula(draw, 2) for name in QUANTITIES}
        flops = FlopAnalysis(flops=texts["flops"], pointwise_ops=texts["pointwise_ops"])
        memory = MemoryAnalysis.model_validate({name: texts[name] for name in QUANTITIES[2:]})
        names = NAMES if draw.random() < 0.5 else NAMES[:3]
        texts_used = (texts, *(_condition(draw, names) for _ in range(draw.randint(0, 3))))
        conditions = tuple(str(each) for each in texts_used[1:])
        regimes.append(
            Regime(
                name=f"r{place}",
                conditions=conditions,
                parameters=NAMES if "{d.e}" in str(texts) else names,
                flop_analysis=flops,
                memory_analysis=memory,
            )
        )
    location = CodeLocation(file="x.py", line_start=1, line_end=2)
    return Entry(
        full_class_name="x.Random",
        library="x",
        code_location=location,
        source_hash="",
        regimes=tuple(regimes),
    )


def _condition(draw: random.Random, names: tuple[str, ...]) -> str:
    name = draw.choice(names)
    return draw.choice(
        (
            f"{{{name}}} >= 0",
            f"{{{name}}} > 1",
            f"{{{name}}} % 2 == 0",
            f"1 // {{{name}}} == 0",
            f"{{{name}}} != 3",
        )
    )


def _plain(regime: Regime) -> dict[str, object]:
    return {
        "name": regime.name,
        "conditions": regime.conditions,
        "parameters": regime.parameters,
        "formulas": {name: regime.formula(name) for name in QUANTITIES},
    }


def _same_refusal(message: str, own: dict[str, object]) -> None:
    if "divides by zero at" in message:
        assert own.get("error") == "division by zero"
        return
    lines = [line.strip() for line in message.splitlines()[1:] if "did you mean" not in line]
    reasons = own["reasons"]
    assert isinstance(reasons, list)
    assert lines == [f"{each['regime']}: {'; '.join(each['problems'])}" for each in reasons]
