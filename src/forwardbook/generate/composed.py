"""One entry of own costs and calls in, the text of the Python file of its calculator out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from forwardbook.calculator.composed import SUMMED
from forwardbook.entries.definitions import solution_parts
from forwardbook.entries.expressions import RegimeExpressions
from forwardbook.entries.record import Call, Entry, Own
from forwardbook.entries.regimes import Regimes
from forwardbook.formula import Expr
from forwardbook.generate.checksum import sealed
from forwardbook.generate.layout import WIDTH, documented, filled, listed, quoted, signature
from forwardbook.generate.naming import calculator_class, module_name, python_names, regime_class_names
from forwardbook.generate.python_code import python_condition, python_expression
from forwardbook.generate.rendering import RenderError

_MARGIN: Final = 10  # columns for what stands before some brackets
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_IMPORTED: Final = ("Call", "ComposedCalculator", "ComposedRegime", "Definition", "Own", "greatest", "least")
_FROM: Final = {"greatest": "arrays", "least": "arrays"}


def module_names(keys: Iterable[str]) -> dict[str, str]:
    """A module name for each key of a store, different for different keys."""
    taken: dict[str, str] = {}
    for key in sorted(keys):
        taken[module_name(key, taken)] = key
    return {key: name for name, key in taken.items()}


def render_composed(regimes: Regimes, key: str, modules: Mapping[str, str]) -> str:
    """The file of an entry's calculator, checksum first; `modules` are those of the entries that it calls.

    Raises:
        RenderError: the entry has no formulas, or calls one that has no module.
    """
    entry = regimes.entry(key)
    if not entry.regimes:
        raise RenderError(f"rendering {entry.full_class_name}: it has no formulas; those of {entry.same_as}?")
    names = regime_class_names(one.name for one in entry.regimes)
    parts = [
        _regime(regimes, modules, RegimeExpressions.of(key, entry, one), name)
        for one, name in zip(entry.regimes, names, strict=True)
    ]
    code = "\n\n\n".join([*parts, _calculator(entry, names)])
    words = set(_WORD.findall(code))
    imports = {
        module: [name for name in _IMPORTED if name in words and _FROM.get(name, "composed") == module]
        for module in ("arrays", "composed")
    }
    lines = [
        listed(f"from forwardbook.calculator.{module} import ", several, "()", 0)
        if len(several) > 5
        else f"from forwardbook.calculator.{module} import {', '.join(several)}"
        for module, several in imports.items()
        if several
    ]
    return sealed(
        f'"""The cost of `{documented(entry.full_class_name)}`."""\n\n' + "\n".join(lines) + f"\n\n\n{code}\n"
    )


def _calculator(entry: Entry, names: list[str]) -> str:
    return "\n".join(
        [
            f"class {class_name(entry)}(ComposedCalculator):",
            f'    """Costs of `{documented(entry.full_class_name)}`."""\n',
            f"    full_class_name = {quoted(entry.full_class_name)}",
            listed("regimes = ", names, "()", 4),
        ]
    )


def class_name(entry: Entry) -> str:
    """The name of an entry's calculator."""
    return calculator_class(entry.full_class_name.rpartition(".")[2])


def _regime(regimes: Regimes, modules: Mapping[str, str], one: RegimeExpressions, name: str) -> str:
    regime = one.regime
    python = python_names(one.names)
    other = [f"{quoted(symbol)}: {quoted(word)}" for symbol, word in python.items() if symbol != word]
    zero = [quoted(symbol) for symbol, least in one.least.items() if not least]
    rows = [
        f"class {name}(ComposedRegime):",
        f'    """The regime {documented(regime.name)}."""\n',
        f"    name = {quoted(regime.name)}",
        f"    signature = {quoted(regime.signature)}",
        listed("parameters = ", [quoted(symbol) for symbol in sorted(one.names)], "()", 4),
        "    needed = parameters"
        if one.needed == one.names
        else listed("needed = ", [quoted(symbol) for symbol in sorted(one.needed)], "()", 4),
    ]
    rows += [listed("may_be_zero = ", zero, "()", 4)] if zero else []
    rows += [listed("python_names = ", other, "{}", 4)] if other else []
    rows += [listed("conditions = ", [quoted(text) for text in regime.conditions], "()", 4)] * bool(
        regime.conditions
    )
    definitions = [_definition(symbol, value, python) for symbol, value in one.definitions.items()]
    rows += [f"    {_laid('definitions = (', definitions, ')', 4)}"] if definitions else []
    if conditions := [python_condition(text, python) for text in regime.conditions]:
        rows += ["", "    @staticmethod", _method("holds", "tuple[bool, ...]", "", conditions, python)]
    own = _own(regime.own, python)
    if calls := [_call(regimes, modules, call, python) for call in regime.calls]:
        own.append(_laid("calls=(", calls, ")", 12))
    rows += ["", "    @staticmethod", _method("own", "Own", "Own", own, python)]
    return "\n".join(rows)


def _definition(name: str, value: Expr, python: Mapping[str, str]) -> str:
    """A definition as a function of the names it is made of, and for which of these it can be solved."""
    names = sorted(value.symbols())
    solved = [part for part in names if solution_parts(value, part) is not None]
    head = f"lambda {', '.join(python[part] for part in names)}".rstrip()
    function = f"{head}: {python_expression(value.text(), python)}"
    return _laid("Definition(", [quoted(name), _tuple(names), _tuple(solved), function], ")", 8)


def _own(own: Own, python: Mapping[str, str]) -> list[str]:
    """The quantities that are not nothing, as arguments by name."""
    found = []
    for name in (*SUMMED, "boundary"):
        if (formula := getattr(own, name)) != "0":
            found.append(filled(f"{name}=", python_expression(formula, python), "", 12).lstrip())
    if states := [filled("", python_expression(text, python), "", 16).lstrip() for text in own.states]:
        found.append(_laid("states=(", states, ")", 12))
    return found


def _call(regimes: Regimes, modules: Mapping[str, str], call: Call, python: Mapping[str, str]) -> str:
    key = regimes.holder(call.entry)
    if key not in modules:
        raise RenderError(f"rendering a call of {key}: it has no module; render it as well")
    bindings = [
        f"{quoted(n)}: {python_expression(text, python)}" for n, text in sorted(call.bindings.items())
    ]
    child = quoted(f"{modules[key]}.{class_name(regimes.entry(key))}")
    parts = [child, quoted(call.signature), _laid("{", bindings, "}", 20)]
    parts += [f"times={python_expression(call.times, python)}"] if call.times != "1" else []
    parts += [f"live={python_expression(call.live, python)}"] if call.live != "0" else []
    return _laid("Call(", parts, ")", 16)


def _method(name: str, result: str, of: str, items: list[str], python: Mapping[str, str]) -> str:
    """A method that returns items as a tuple, or as arguments of a class."""
    words = {word for item in items for word in _WORD.findall(item)}
    head = signature(name, [word for word in sorted(python.values()) if word in words], result)
    return f"{head}\n        return {_laid(f'{of}(', items, ')', 8)}"


def _laid(before: str, items: list[str], after: str, indent: int) -> str:
    """Items in brackets that stand so far from the edge: on one line where they fit, else one a line."""
    comma = "," if re.search(r"(^|= ?)\($", before) else ""
    line = f"{before}{', '.join(items)}{comma if len(items) == 1 else ''}{after}"
    if indent + len(line) + 1 <= WIDTH - _MARGIN and "\n" not in line:
        return line
    rows = "".join(f"{' ' * (indent + 4)}{item},\n" for item in items)
    return f"{before}\n{rows}{' ' * indent}{after}"


def _tuple(names: list[str]) -> str:
    return f"({', '.join(map(quoted, names))}{',' if len(names) == 1 else ''})"
