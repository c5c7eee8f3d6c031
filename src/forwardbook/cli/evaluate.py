"""`forwardbook evaluate`: a class and sizes in, its costs as integers out."""

from __future__ import annotations

from typing import Annotated

import typer

from forwardbook.cli.given import once, whole_number
from forwardbook.cli.printing import put, say


def evaluate(
    name: Annotated[str, typer.Argument(help="Class name, full class name, or key.")],
    sizes: Annotated[
        list[str] | None, typer.Argument(metavar="NAME=VALUE...", help="The size of each name.")
    ] = None,
    regime: Annotated[
        str | None, typer.Option(help="The regime to use; by default the first that holds.")
    ] = None,
    choices: Annotated[
        list[str] | None,
        typer.Option(
            "--with", metavar="NAME=VALUE", help="How the module is built or called: need_weights=False."
        ),
    ] = None,
    lines: Annotated[bool, typer.Option("--lines", help="Also the cost of each line.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Evaluate the formulas of a class: `forwardbook evaluate LlamaMLP batch_size=1 seq_len=4096 ...`"""
    import json
    import warnings
    from dataclasses import asdict

    from forwardbook import registry
    from forwardbook.errors import FormulaError
    from forwardbook.formula.limits import MAX_COEFFICIENT as LARGEST
    from forwardbook.formula.limits import MAX_DIGITS
    from forwardbook.schema import PER_LINE

    given = once("NAME=VALUE", map(parse_size, sizes or []))
    wanted = once("--with", map(parse_choice, choices or []))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", registry.CalculatorIgnored)
        calculator = registry.load(name)
    for one in told:
        say(f"note: {one.message}")
    costs = calculator.costs_at(given, regime, wanted)
    line_costs = calculator.lines_at(given, regime, wanted) if lines else ()
    amounts = [getattr(one, quantity) for one in (*line_costs, costs) for quantity in PER_LINE]
    if max(map(abs, [*amounts, costs.peak, costs.weights, costs.boundary, costs.intermediates])) > LARGEST:
        raise FormulaError(f"evaluating {name}: a cost has over {MAX_DIGITS:,} digits; give smaller sizes")
    found = registry.judgement(name, costs.regime)
    if found.verdict != "exact":
        why = f": {found.reason}" if found.reason else ""
        say(f"note: regime {costs.regime} is {found.verdict}{why}")
    if as_json:
        content: dict[str, object] = asdict(costs)
        del content["regime"]
        put(
            json.dumps(
                {**content, **({"lines": [asdict(line) for line in line_costs]} if lines else {})}, indent=1
            )
        )
        return
    from forwardbook.cli.cost_view import cost_view
    from forwardbook.cli.terminal import console

    chosen = calculator.choices_of(costs.regime)
    console().print(cost_view(calculator.full_class_name, costs, line_costs, chosen))


def parse_choice(text: str) -> tuple[str, object]:
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
