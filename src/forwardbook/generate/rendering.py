"""One entry rendered: its regimes in, the text of the Python file that holds its calculator out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from typing import TYPE_CHECKING, Final

from pydantic import JsonValue

from forwardbook.calculator import LineCost
from forwardbook.errors import FormulaError, ForwardbookError
from forwardbook.formula import parse
from forwardbook.generate.checksum import sealed
from forwardbook.generate.layout import documented, filled, listed, quoted, signature
from forwardbook.generate.naming import calculator_name, python_names, regime_class_names
from forwardbook.generate.python_code import python_condition, python_expression
from forwardbook.schema import QUANTITIES, Entry, Regime

if TYPE_CHECKING:
    from jinja2 import Template

_SYMBOL: Final = re.compile(r"\{([A-Za-z_][A-Za-z0-9_.]*)\}")
_LINE_QUANTITIES: Final = ("flops", "pointwise_ops", "reads", "writes")


class RenderError(ForwardbookError):
    """An entry cannot become a calculator."""


@dataclass(frozen=True, slots=True)
class RenderedRegime:
    """The parts of one regime's class, as Python text."""

    class_name: str
    summary: str
    name: str
    context: str
    parameters: str
    conditions: str
    python_names: str
    choices: str
    methods: tuple[str, ...]


def render(entry: Entry) -> str:
    """The file of the entry's calculator, checksum first.

    Raises:
        RenderError: the entry has no formulas; it says why, as the entry does. Or one that was written anew
            is not equal to the formula for which it stands.
    """
    if not entry.regimes:
        raise RenderError(
            f"rendering {entry.full_class_name}: it has no formulas to render"
            f"{f' ({entry.validation.reason})' if entry.validation.reason else ''}; "
            f"derive them with: forwardbook analyze-module {entry.full_class_name}"
        )
    spelled = _Spelled(entry)
    regimes = [
        _rendered(regime, name, spelled)
        for regime, name in zip(
            entry.regimes, regime_class_names(regime.name for regime in entry.regimes), strict=True
        )
    ]
    code = "\n".join(method for regime in regimes for method in regime.methods)
    imports = [name for name in ("LineCost", "greatest", "least") if f"{name}(" in code]
    body = _template().render(
        full_class_name=quoted(entry.full_class_name),
        summary=documented(entry.full_class_name),
        class_name=calculator_name(entry),
        imports=sorted([*imports, "Calculator", "RegimeFormulas"], key=lambda name: (name.islower(), name)),
        regimes=regimes,
        defaults=listed("defaults = ", _values(_defaults(entry)), "{}", 4) if _defaults(entry) else "",
        regime_tuple=listed("regimes = ", [regime.class_name for regime in regimes], "()", 4),
    )
    return sealed(body)


class _Spelled:
    """The formulas of an entry as they are rendered: as they stand, or written anew where both are equal."""

    def __init__(self, entry: Entry) -> None:
        self._name = entry.full_class_name
        self._anew = entry.rewritten.formulas if entry.rewritten is not None else {}

    def __call__(self, formula: str) -> str:
        anew = self._anew.get(formula, formula)
        if anew != formula and not is_same(anew, formula):
            raise RenderError(
                f"rendering {self._name}: {anew[:80]!r}, written anew for {formula[:80]!r}, "
                f"is not equal to it; derive the entry again: forwardbook analyze-module {self._name} --force"
            )
        return anew


def is_same(anew: str, formula: str) -> bool:
    """Whether two texts are one polynomial in the same rounded quotients and extremes."""
    try:
        return parse(anew) == parse(formula)
    except FormulaError:
        return False


def _defaults(entry: Entry) -> dict[str, JsonValue]:
    """The default of each argument that any regime has a choice for; of the constructor before forward()."""
    known = {**entry.call_defaults, **entry.defaults}
    return {n: known[n] for n in sorted({n for r in entry.regimes for n in r.choices}) if n in known}


def _values(values: Mapping[str, JsonValue]) -> list[str]:
    return [f"{quoted(name)}: {_value(value)}" for name, value in sorted(values.items())]


def _value(value: JsonValue) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(_values(value))}}}"
    if isinstance(value, float) and not isfinite(value):
        return f'float("{value}")'
    return quoted(value) if isinstance(value, str) else repr(value)


def regime_parameters(regime: Regime) -> tuple[str, ...]:
    """All names a regime depends on: those it lists, then any other that its formulas or conditions hold."""
    texts = [*regime.conditions, *(regime.formula(quantity) for quantity in QUANTITIES)]
    texts += [text for line in line_formulas(regime) for text in (line.flops, line.pointwise_ops)]
    texts += [text for line in line_formulas(regime) for text in (line.reads, line.writes)]
    found = {symbol for text in texts for symbol in _SYMBOL.findall(text)}
    return (*regime.parameters, *sorted(found - set(regime.parameters)))


def line_formulas(regime: Regime) -> list[LineCost[str]]:
    """The lines of the two analyses as one table, by line."""
    table: dict[tuple[int, int, str], dict[str, list[str]]] = {}
    for flop_line in regime.flop_analysis.lines:
        row = table.setdefault((flop_line.line, flop_line.end_line, flop_line.code), {})
        row.setdefault("flops", []).append(flop_line.flops)
        row.setdefault("pointwise_ops", []).append(flop_line.pointwise_ops)
    for memory_line in regime.memory_analysis.lines:
        row = table.setdefault((memory_line.line, memory_line.end_line, memory_line.code), {})
        row.setdefault("reads", []).append(memory_line.reads)
        row.setdefault("writes", []).append(memory_line.writes)
    return [
        LineCost(line, end, code, *(" + ".join(row.get(quantity, ["0"])) for quantity in _LINE_QUANTITIES))
        for (line, end, code), row in sorted(table.items())
    ]


def _rendered(regime: Regime, class_name: str, spelled: _Spelled) -> RenderedRegime:
    parameters = regime_parameters(regime)
    python = python_names(parameters)
    names = {symbol: python[symbol] for symbol in parameters}
    other = {symbol: name for symbol, name in names.items() if symbol != name}
    pairs = [f"{quoted(symbol)}: {quoted(name)}" for symbol, name in other.items()]
    return RenderedRegime(
        class_name,
        documented(regime.context or f"The regime {regime.name}."),
        quoted(regime.name),
        f"    context = {quoted(regime.context)}",
        listed("parameters = ", [quoted(name) for name in parameters], "()", 4),
        listed("conditions = ", [quoted(text) for text in regime.conditions], "()", 4),
        listed("python_names = ", pairs, "{}", 4) if other else "",
        listed("choices = ", _values(regime.choices), "{}", 4) if regime.choices else "",
        (
            _holds(regime, names),
            *(_method(quantity, regime, names, spelled) for quantity in QUANTITIES),
            _lines(regime, names, spelled),
        ),
    )


def _holds(regime: Regime, names: dict[str, str]) -> str:
    conditions = [python_condition(text, names) for text in regime.conditions]
    head = signature("holds", _used(conditions, names), "tuple[bool, ...]")
    return f"{head}\n{listed('return ', conditions, '()', 8)}"


def _method(quantity: str, regime: Regime, names: dict[str, str], spelled: _Spelled) -> str:
    expression = python_expression(spelled(regime.formula(quantity)), names)
    head = signature(quantity, _used([expression], names), "int")
    return f"{head}\n{filled('return ', expression, '', 8)}"


def _lines(regime: Regime, names: dict[str, str], spelled: _Spelled) -> str:
    rows, expressions = [], []
    for line in line_formulas(regime):
        texts = [getattr(line, quantity) for quantity in _LINE_QUANTITIES]
        amounts = [python_expression(spelled(text), names) for text in texts]
        expressions += amounts
        place = f"            LineCost(\n                {line.line},\n                {line.end_line},"
        costs = [
            filled(f"{quantity}=", text, ",", 16)
            for quantity, text in zip(_LINE_QUANTITIES, amounts, strict=True)
        ]
        code = f"                {quoted(line.code)},"
        rows.append("\n".join([place, code, *costs, "            ),"]))
    head = signature("lines", _used(expressions, names), "tuple[LineCost[int], ...]" if rows else "tuple[()]")
    return "\n".join([head, "        return (", *rows, "        )"]) if rows else f"{head}\n        return ()"


def _used(expressions: list[str], names: dict[str, str]) -> list[str]:
    """The Python names that occur, in the order of the parameters."""
    words = {word for expression in expressions for word in re.findall(r"[A-Za-z_]\w*", expression)}
    return [name for name in names.values() if name in words]


@lru_cache(maxsize=1)
def _template() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("forwardbook", "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("calculator.py.j2")
