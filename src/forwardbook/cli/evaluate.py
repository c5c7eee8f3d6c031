"""`forwardbook evaluate`: a class and sizes in, its costs as integers out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from forwardbook.cli.given import once, whole_number
from forwardbook.cli.printing import put, say

if TYPE_CHECKING:
    from pydantic import JsonValue

    from forwardbook.calculator import Costs, LineCost
    from forwardbook.cli.lookup import Composed


def evaluate(
    name: Annotated[str, typer.Argument(help="Class name, full class name, or key.")],
    sizes: Annotated[
        list[str] | None, typer.Argument(metavar="NAME=VALUE...", help="The size of each name.")
    ] = None,
    regime: Annotated[
        str | None,
        typer.Option(help="The regime to use, or a way to call the class; by default the first that holds."),
    ] = None,
    choices: Annotated[
        list[str] | None,
        typer.Option(
            "--with", metavar="NAME=VALUE", help="How the module is built or called: need_weights=False."
        ),
    ] = None,
    lines: Annotated[
        bool, typer.Option("--lines", help="Also the cost of each line, calls included.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Evaluate the formulas of a class: `forwardbook evaluate LlamaMLP batch_size=1 seq_len=4096 ...`"""
    from forwardbook.cli.lookup import composed_class
    from forwardbook.errors import FormulaError
    from forwardbook.formula.limits import MAX_COEFFICIENT as LARGEST
    from forwardbook.formula.limits import MAX_DIGITS
    from forwardbook.schema import PER_LINE
    from forwardbook.workspace import Workspace

    given = once("NAME=VALUE", map(parse_size, sizes or []))
    wanted = once("--with", map(parse_choice, choices or []))
    found = composed_class(Workspace.find(), name)
    if found is not None:
        answer = _composed(found, given, regime, wanted, lines)
    else:
        answer = _older(name, given, regime, wanted, lines)
    costs = answer.costs
    amounts = [getattr(one, quantity) for one in (*answer.lines, costs) for quantity in PER_LINE]
    if max(map(abs, [*amounts, costs.peak, costs.weights, costs.boundary, costs.intermediates])) > LARGEST:
        raise FormulaError(f"evaluating {name}: a cost has over {MAX_DIGITS:,} digits; give smaller sizes")
    if answer.verdict != "exact":
        why = f": {answer.reason}" if answer.reason else ""
        say(f"note: regime {costs.regime} is {answer.verdict}{why}")
    if as_json:
        _put_json(answer, lines)
        return
    from forwardbook.cli.cost_view import cost_view
    from forwardbook.cli.terminal import console

    console().print(cost_view(answer.full_class_name, costs, answer.lines, answer.choices, answer.calls))


def _put_json(answer: Answer, lines: bool) -> None:
    import json
    from dataclasses import asdict

    content: dict[str, object] = asdict(answer.costs)
    del content["regime"]
    if lines:
        content["lines"] = [asdict(line) for line in answer.lines]
    put(json.dumps(content, indent=1))


@dataclass(frozen=True, slots=True)
class Answer:
    """What one call costs, by which formulas, and how sure these are."""

    full_class_name: str
    costs: Costs[int]
    choices: Mapping[str, object]
    verdict: str
    reason: str
    lines: Sequence[LineCost[int]] = ()
    calls: Sequence[tuple[str, str, int, int]] = ()
    """Attribute and class of each call, how often it is made, and the flops of all of these."""


def _composed(
    found: Composed,
    sizes: Mapping[str, int],
    regime: str | None,
    choices: Mapping[str, JsonValue],
    lines: bool,
) -> Answer:
    """By own costs and calls; a regime may also be named by its signature."""
    from forwardbook.entries.lines import line_costs

    model, key = found.model, found.key
    signature, name = (None, None) if regime is None else model.way(key, regime)
    one = model.evaluate(key, sizes, signature, choices, regime=name)
    made = zip(one.regime.calls, model.calls(one), strict=True)
    calls = [
        (
            call.call.attribute,
            model.names.get(call.call.entry, call.call.entry),
            times,
            times * child.costs.flops,
        )
        for call, (times, child) in made
        if child is not None
    ]
    record = one.regime.regime
    return Answer(
        model.names[key],
        one.costs,
        record.choices,
        record.proof.verdict,
        record.proof.reason,
        line_costs(model.evaluator, one) if lines else (),
        calls,
    )


def _older(
    name: str, sizes: Mapping[str, int], regime: str | None, choices: Mapping[str, object], lines: bool
) -> Answer:
    """By the calculator of a class that the older database alone has."""
    import warnings

    from forwardbook import registry

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", registry.CalculatorIgnored)
        calculator = registry.load(name)
    for one in told:
        say(f"note: {one.message}")
    costs = calculator.costs_at(sizes, regime, choices)
    line_costs = calculator.lines_at(sizes, regime, choices) if lines else ()
    found = registry.judgement(name, costs.regime)
    chosen = calculator.choices_of(costs.regime)
    return Answer(calculator.full_class_name, costs, chosen, found.verdict, found.reason, line_costs)


def parse_choice(text: str) -> tuple[str, JsonValue]:
    """`need_weights=False` as a name and the value that Python reads, any other word as a text."""
    import ast

    name, equals, value = text.partition("=")
    if not (equals and name.strip()):
        raise typer.BadParameter(f"{text!r} is not NAME=VALUE, such as need_weights=False")
    try:
        read = ast.literal_eval(value)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return name.strip(), value
    return name.strip(), list(read) if isinstance(read, tuple) else read


def parse_size(text: str) -> tuple[str, int]:
    """`seq_len=4096` as a name and an integer; wrong usage says what was expected."""
    name, equals, value = text.partition("=")
    size = whole_number(value)
    if not (equals and name) or size is None:
        raise typer.BadParameter(
            f"{text[:80]!r} is not NAME=VALUE with a whole number below 2**63, such as seq_len=4096"
        )
    return name.strip().removeprefix("{").removesuffix("}"), size
