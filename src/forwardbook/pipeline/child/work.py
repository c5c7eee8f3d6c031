"""What a child process does for one class: build it, derive, prove, and give back its record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from forwardbook.analyzers.instances.adapters import adapter_for
from forwardbook.analyzers.instances.recipe import InstanceOptions, NoRecipe, Recipe
from forwardbook.analyzers.instances.recipes import recipes_for
from forwardbook.analyzers.reader import Facts, Sources, read_class
from forwardbook.pipeline.child.failure import refutation
from forwardbook.pipeline.child.request import Request, Response
from forwardbook.pipeline.derivation.entry import record, verdict
from forwardbook.pipeline.derivation.explore import regimes_of
from forwardbook.pipeline.derivation.flips import Flip, flips_of, stated
from forwardbook.pipeline.derivation.found import Found
from forwardbook.pipeline.derivation.opinions import judges_of
from forwardbook.pipeline.derivation.reading import as_read, read_regimes
from forwardbook.pipeline.derivation.second_reading import SecondReading
from forwardbook.pipeline.reprove.deep_runs import DeepRuns
from forwardbook.pipeline.reprove.layers import with_layers_told


def work(request: Request) -> Response:
    """The entry of the requested class, or the problem that kept it from being proved."""
    facts = facts_of(request)
    library = request.target.partition(".")[0]
    if request.derive == "static":
        read = read_regimes(request.target, options_of(request), _roots(request))
        return Response(entry=as_read(record(facts, library, read, ("static",))).model_dump(mode="json"))
    options, roots = options_of(request), _roots(request)
    recipes = _recipes(request, options)
    found = _symbolic(request, recipes, options)
    flips: list[Flip] = []
    ran = {one.derived.recipe.scenario for one in found if one.exact}
    if request.explore and request.flips and ran:
        usual = [recipe for recipe in recipes if recipe.scenario in ran]
        flips = flips_of(facts, usual, options, request.seed, request.points)
    found = stated(found, flips)
    every = [*found, *(one for flip in flips for one in flip.found)]
    if request.derive == "both":
        reading = SecondReading(request.target, options, recipes, roots)
        others = {
            id(one): SecondReading(request.target, flip.options, flip.recipes, roots).of
            for flip in flips
            for one in flip.found
        }
        agrees = {id(one): reading.of for one in found} | others
        made = record(facts, library, every, judged=judges_of(facts), agrees=lambda one: agrees[id(one)](one))
        made = reading.noted(made, found[0].derived.target)
    else:
        made = record(facts, library, every, judged=judges_of(facts))
    for recipe in {one.derived.recipe.scenario: one.derived.recipe for one in found}.values():
        made = with_layers_told(made, DeepRuns(recipe))
    entry = made.model_dump(mode="json")
    if all(verdict(one) == "wrong" for one in found):
        return refutation(request, found).model_copy(update={"entry": entry})
    return Response(entry=entry)


def facts_of(request: Request) -> Facts:
    """What the source of the requested class says."""
    file = Path(request.file) if request.file else None
    name = request.target.rpartition(".")[2] if file else request.target
    return read_class(name, file, Sources([Path(r) for r in request.roots]))


def _roots(request: Request) -> list[Path]:
    return [Path(root) for root in request.roots]


def options_of(request: Request) -> InstanceOptions:
    """What a person gave to build and call it."""
    return InstanceOptions(
        config_file=Path(request.config_file) if request.config_file else None,
        init=request.init,
        inputs=request.inputs,
        root=Path(request.roots[0]) if request.roots else None,
    )


def _recipes(request: Request, options: InstanceOptions) -> list[Recipe]:
    try:
        return recipes_for(request.target, options)
    except NoRecipe:
        if options or not request.catalogued:
            raise
        return []


def _symbolic(request: Request, recipes: Sequence[Recipe], options: InstanceOptions) -> list[Found]:
    """The regimes of the class as it is built and called; what a person gave is never replaced by a guess."""
    found: list[Found] = []
    problem: Exception | None = None
    for recipe in recipes:
        try:
            found += regimes_of(recipe, request.seed, request.points, request.explore)
        except Exception as error:  # noqa: BLE001 - another recipe may run; else the first reason is told
            problem = problem or _at_sizes(error, recipe)
    for recipe in () if found or options else _of_catalogue(request.target):
        try:
            found = regimes_of(recipe, request.seed, request.points, request.explore)
        except Exception as error:  # noqa: BLE001 - as above
            problem = problem or error
        if found:
            break
    if not found:
        raise problem or NoRecipe(request.target, "no model that holds it comes to call it")
    return found


def _at_sizes(error: Exception, recipe: Recipe) -> Exception:
    """The error, noting the sizes of the run that raised it."""
    if recipe.hints:
        sizes = ", ".join(f"{name} = {size}" for name, size in recipe.hints.items())
        error.add_note(f"the sizes were {sizes}")
    return error


def _of_catalogue(target: str) -> Iterator[Recipe]:
    """The ways of the catalogue to call a class that the usual ones build, but do not come to call."""
    for way in adapter_for(target.partition(".")[0]).ways([target.rpartition(".")[0]], {target}):
        if way.recipe is not None and target in way.holds:
            yield replace(way.recipe, calls_as=target)
