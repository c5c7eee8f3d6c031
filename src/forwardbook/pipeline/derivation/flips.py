"""A class's source and how it was built in; out the regimes of further builds, one boolean set the other way.

A run takes one side of every branch on the configuration. The source names the fields and arguments that
branches and the constructor read; each that is a boolean is set to its opposite, the class is built and run
again, and where that costs something else it is derived and proved like the first.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch
from pydantic import JsonValue

from forwardbook.analyzers.instances.recipe import InstanceOptions, Recipe, hinted
from forwardbook.analyzers.instances.recipes import recipes_for
from forwardbook.analyzers.reader import Facts
from forwardbook.analyzers.symbolic.patterns import class_name, patterns
from forwardbook.cost import Cost
from forwardbook.pipeline.derivation.explore import FULL, LOW, regimes_of
from forwardbook.pipeline.derivation.found import Found
from forwardbook.pipeline.derivation.regimes import run_first
from forwardbook.profiling.raised import raised
from forwardbook.saying import BUILT

MOST = 6  # booleans set the other way for one class; each is as much work as the class itself
_PLAIN = re.compile(r"^(?:self\.)?(?:config\.)?(\w+)$")


@dataclass(frozen=True)
class Flip:
    """One boolean set the other way: what came of it, or why nothing did; neither if no cost changes."""

    name: str
    value: bool
    options: InstanceOptions
    recipes: Sequence[Recipe] = ()
    found: Sequence[Found] = field(default=())
    problem: str = ""

    @property
    def said(self) -> str:
        """How a regime of this build says so."""
        return f"{BUILT}{self.name}={self.value}"

    @property
    def matters(self) -> bool:
        """Whether the formulas depend on it, as far as is known."""
        return bool(self.found or self.problem)


def flips_of(
    facts: Facts, recipes: Sequence[Recipe], options: InstanceOptions, seed: int, points: int
) -> list[Flip]:
    """Each boolean that the class's own code reads, set the other way, where that matters.

    What the user chose is left as it is.
    """
    try:
        values = _values(recipes[0])
        usual = {one.scenario: {dtype: _costs(one, dtype) for dtype in (FULL, LOW)} for one in recipes}
    except Exception:  # noqa: BLE001 - a build that other code refuses has no other side to look at
        return []
    names = [n for n in dict.fromkeys(read_by(facts)) if n in values and n not in options.init][:MOST]
    flips = [Flip(n, not values[n], _with(options, n, not values[n])) for n in names]
    files = [facts.file, *([facts.forward.file] if facts.forward is not None else [])]
    made = (_tried(one, recipes[0].target, usual, seed, points, files) for one in flips)
    return [one for one in made if one.matters]


def _with(options: InstanceOptions, name: str, value: bool) -> InstanceOptions:
    return replace(options, init={**options.init, name: json.dumps(value)})


Costs = frozenset[object]


def _tried(
    one: Flip,
    target: str,
    usual: Mapping[str, Mapping[torch.dtype, Costs]],
    seed: int,
    points: int,
    files: Sequence[str],
) -> Flip:
    """The flip with its regimes; a call that costs the same, in both widths of float, has none."""
    found: list[Found] = []
    problem = ""
    try:
        recipes = recipes_for(target, one.options)
        for recipe in recipes:
            costs = usual.get(recipe.scenario, {})
            if all(_costs(recipe, dtype) == before for dtype, before in costs.items()):
                continue
            proved = [f for f in regimes_of(recipe, seed, points, explore=False) if f.exact]
            problem = "" if proved or found else "no formula of it was proved"
            label = f"{recipe.scenario}, {one.name} {one.value}"
            named = [replace(f, label=f.label.replace(recipe.scenario, label, 1)) for f in proved]
            found += [_saying(replace(f, beyond=True), [one.said], {one.name: one.value}) for f in named]
    except (Exception, SystemExit) as error:  # noqa: BLE001 - it is a further regime or none; the reason is told
        return replace(one, problem=raised(error, files))
    return replace(one, recipes=recipes, found=found, problem=problem)


def _costs(recipe: Recipe, dtype: torch.dtype) -> Costs:
    try:
        _, run = run_first(recipe, dtype)
    except Exception:
        if dtype == FULL:
            raise
        return frozenset()  # no bfloat16 kernel: float32 alone is compared
    return frozenset(
        (
            tuple(p.summary.quantities().items()),
            tuple((line.key, line.cost) for line in p.summary.lines if line.cost != Cost.zero()),
        )
        for p in patterns(run, recipe.calls_as)
    )


def read_by(facts: Facts) -> Iterator[str]:
    """The config fields and constructor arguments that the source reads, those that branches test first."""
    plain = {a.name: found[1] for a in facts.attributes if (found := _PLAIN.match(a.expression))}
    functions = [one for one in (facts.forward, facts.constructor, *facts.helpers) if one is not None]
    for branch in (branch for function in functions for branch in function.branches):
        yield from branch.config_fields
        yield from (plain.get(name, "") for name in branch.attributes)
    if facts.constructor is not None:
        yield from (name.lstrip("*") for name in facts.constructor.parameters)
        yield from (read.field for read in facts.constructor.config_reads)


def stated(found: Sequence[Found], flips: Sequence[Flip]) -> list[Found]:
    """The regimes as built first, each saying which way the booleans that matter were."""
    said = [
        f"{BUILT}{one.name}={not one.value}" + (f" ({one.value}: {one.problem})" if one.problem else "")
        for one in flips
    ]
    usual: dict[str, JsonValue] = {one.name: not one.value for one in flips if one.found}
    return [_saying(one, said, usual) for one in found]


def _saying(one: Found, said: Sequence[str], choices: Mapping[str, JsonValue]) -> Found:
    pattern, recipe = one.derived.pattern, one.derived.recipe
    assumptions = tuple(dict.fromkeys((*pattern.assumptions, *said)))
    derived = replace(
        one.derived,
        pattern=replace(pattern, assumptions=assumptions),
        recipe=replace(recipe, choices={**recipe.choices, **choices}),
    )
    return replace(one, derived=derived)


def _values(recipe: Recipe) -> Mapping[str, bool]:
    """The booleans that the class is built with, as far as they can be given by name."""
    with torch.device("meta"):
        root = recipe.build(hinted)
    given: Mapping[str, object] = {}
    if recipe.target.startswith("transformers."):
        given = vars(config) if (config := getattr(root, "config", None)) is not None else {}
    elif not recipe.target.startswith("torch.") and class_name(root) == recipe.calls_as:
        given = {n: p.default for n, p in inspect.signature(type(root)).parameters.items()}
    return {name: value for name, value in given.items() if isinstance(value, bool)}
