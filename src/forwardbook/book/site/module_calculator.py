"""An entry and presets in; the data of its live calculator out, with defaults at which it has an answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from forwardbook.book.site.data import EAGER, Calculator, CalculatorRegime, Input
from forwardbook.book.site.formula_tree import NotAFormulaError, value
from forwardbook.book.site.module_subject import ModuleSubject
from forwardbook.book.site.parts import Callees, parts_of
from forwardbook.book.site.quantities import QUANTITY_LIST
from forwardbook.calculator.choice import of_build
from forwardbook.schema import (
    QUANTITIES,
    USUAL_SIZES,
    WIDTH_NAMES,
    Entry,
    Parameter,
    Regime,
)
from forwardbook.stored_names import is_symbol

_NAME: Final = re.compile(r"\{([^{}]*)\}")


def module_calculator(subject: ModuleSubject) -> Calculator:
    """The calculator of a class that has regimes."""
    holder = subject.holder
    sizes, regime, expected = _start(subject)
    known = {each.name: each for each in holder.parameters}
    names = dict.fromkeys([*known, *(name for regime in holder.regimes for name in names_of(regime))])
    told = [known.get(name) or Parameter(name=name) for name in names]
    inputs = tuple(
        Input(name=each.name, meaning=each.meaning, source=each.source, default=str(sizes.get(each.name, "")))
        for each in told
    )
    return Calculator(
        key=subject.key,
        class_name=subject.entry.class_name,
        quantities=QUANTITY_LIST,
        inputs=inputs,
        bits=tuple(name for name in names if name in WIDTH_NAMES),
        regimes=tuple(_regime(each, subject.callees, holder.full_class_name) for each in usual_build(holder)),
        presets=subject.presets,
        regime=regime,
        expected={name: str(expected[name]) for name in QUANTITIES} if expected else {},
        by_part=EAGER,
    )


def usual_build(entry: Entry) -> list[Regime]:
    """The regimes of a module that is built and called as by default; a calculator answers for no other."""
    defaults = {**entry.call_defaults, **entry.defaults}
    return of_build(entry.class_name, entry.regimes, defaults, {})


def names_of(regime: Regime) -> tuple[str, ...]:
    """The parameters of a regime, and any other name in its conditions and formulas.

    Formulas of a database that somebody else made may hold other texts in braces, which are no names.
    """
    texts = (*regime.conditions, *(regime.formula(name) for name in QUANTITIES))
    found = {name for text in texts for name in _NAME.findall(text) if is_symbol(name)}
    return (*regime.parameters, *sorted(found - set(regime.parameters)))


def _regime(regime: Regime, callees: Callees, class_name: str) -> CalculatorRegime:
    found = parts_of(regime, callees, class_name)
    return CalculatorRegime(
        name=regime.name,
        context=regime.context,
        conditions=regime.conditions,
        parameters=names_of(regime),
        formulas={name: regime.formula(name) for name in QUANTITIES},
        parts=found.parts,
        together=found.together,
    )


def _start(subject: ModuleSubject) -> tuple[dict[str, int], str, dict[str, int]]:
    """The first sizes that a regime takes: those of a known model in a usual call, else of a proof."""
    for sizes in _candidates(subject):
        if found := costs_at(subject.holder, sizes):
            return sizes, *found
    return {}, "", {}


def costs_at(entry: Entry, sizes: dict[str, int]) -> tuple[str, dict[str, int]] | None:
    """The regime that a calculator takes for these sizes and every quantity, None where none holds."""
    given = sizes.keys()
    for regime in usual_build(entry):
        least = {name: 0 if f"{{{name}}} >= 0" in regime.conditions else 1 for name in names_of(regime)}
        if not (least.keys() <= given and given - set(WIDTH_NAMES) <= least.keys()):
            continue
        if any(sizes[name] < size for name, size in least.items()):
            continue
        try:
            if all(value(text, sizes) for text in regime.conditions):
                return regime.name, {name: value(regime.formula(name), sizes) for name in QUANTITIES}
        except (ZeroDivisionError, KeyError, NotAFormulaError):
            continue
    return None


def _candidates(subject: ModuleSubject) -> Iterator[dict[str, int]]:
    for regime in usual_build(subject.holder):
        for preset in subject.presets[:3]:
            known = {**USUAL_SIZES, **{name: int(value) for name, value in preset.values.items()}}
            for usual in ({}, {"seq_len": 512}, {"seq_len": 64}):
                sizes = {name: (known | usual).get(name) for name in names_of(regime)}
                if all(value is not None for value in sizes.values()):
                    yield {name: value for name, value in sizes.items() if value is not None}
        for point in regime.proof.points if regime.proof else ():
            if all(name in point.sizes for name in names_of(regime)):
                yield {name: point.sizes[name] for name in names_of(regime)}
