"""Tables of parameters, constants, variables, exceptions and launches in; the verdict on each row out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from forwardbook.analyzers.index.facts import Launch, Parameter, Raised
from forwardbook.book.verify.claims import Kind, Verdict, contradicted, supported, unverified
from forwardbook.book.verify.context import Context, Found
from forwardbook.book.verify.definition_rules import exception_name
from forwardbook.book.verify.inline import Place, plain_cell
from forwardbook.book.verify.names import Target, constants_of
from forwardbook.book.verify.reading import Row, Table, is_relation_table
from forwardbook.book.verify.same import same_expression, same_text
from forwardbook.book.verify.spans import check_lines, lines_with

_EMPTY: Final = frozenset({"", "-", "—", "–", "required", "(required)", "none given", "not annotated"})
Check = Callable[[Table, Row, Context], Verdict]


def check_table(table: Table, context: Context) -> Iterator[Found] | None:
    """The claims of a table with one of the known heads; None for another table."""
    if table.head[:3] == ("parameter", "type", "default"):
        return _parameters(table, context)
    if is_relation_table(table) and "grid" in table.head:
        return _launches(table, context)
    rule = _RULES.get(table.head[:3]) or _RULES.get(table.head[:2]) or _RULES.get(table.head[:1])
    if rule is None or "where" not in table.head:
        return None
    kind, check = rule
    return (
        Found(row.line, kind, " | ".join(row.cells), check(table, row, context))
        for row in table.rows
        if len(row.cells) >= len(table.head)
    )


def _place(table: Table, row: Row, context: Context) -> Place | None:
    spans = context.cell(row.cells[table.head.index("where")]).spans
    return next((span.place for span in spans if span.place), None)


def _near(table: Table, row: Row, context: Context) -> tuple[str, ...]:
    return context.near(table.heading, [context.cell(cell) for cell in row.cells])


# -- parameters


def _parameters(table: Table, context: Context) -> Iterator[Found]:
    subjects = context.subjects(table.heading)
    callables = [one for subject in subjects for one in _with_constructor(subject, context)]
    if not callables:
        why = "the heading names no definition of the sources"
        yield from (
            Found(row.line, "parameter", " | ".join(row.cells[:3]), unverified(why)) for row in table.rows
        )
        return
    choices = [list(_judge(table, one)) for one in callables]
    yield from min(choices, key=lambda found: sum(one.verdict.state == "contradicted" for one in found))


def _with_constructor(subject: Target, context: Context) -> list[Target]:
    """The definition itself; for a class what takes its arguments, and the class for its own fields."""
    if not subject.is_class:
        return [subject]
    names = context.names
    found = [one for name in ("__init__", "__new__", "__call__") for one in names.method(subject, name)]
    return [*found, subject]


def _judge(table: Table, target: Target) -> Iterator[Found]:
    wanted = _expected(target)
    rows = [row for row in table.rows if len(row.cells) >= 3]
    if len(rows) == len(wanted) + 1 and rows and _name(rows[0]) in ("self", "cls"):
        rows = rows[1:]
    if len(wanted) == len(rows) + 1 and wanted[0].name in ("self", "cls"):
        wanted = wanted[1:]
    for index, row in enumerate(rows):
        parameter = wanted[index] if index < len(wanted) else None
        yield Found(
            row.line, "parameter", " | ".join(row.cells[:3]), _check_parameter(row, parameter, target)
        )
    if missing := [one.name for one in wanted[len(rows) :]]:
        said = contradicted(f"{target.qualname} also takes {', '.join(missing)}", target.path)
        yield Found(table.line, "parameter", f"{len(rows)} parameters", said)


def _expected(target: Target) -> list[Parameter]:
    if target.is_class:
        return [Parameter(one.name, "", one.annotation, one.value) for one in target.definition.attributes]
    wanted = list(target.definition.parameters)
    leading = wanted[:1] and wanted[0].name in ("self", "cls") and not wanted[0].annotation
    return wanted[1:] if leading else wanted


def _name(row: Row) -> str:
    return plain_cell(row.cells[0]).lstrip("*&").rstrip("/, ").strip()


def _check_parameter(row: Row, parameter: Parameter | None, target: Target) -> Verdict:
    if parameter is None:
        return contradicted(f"{target.qualname} takes no further parameter", target.path)
    name, kind, default = _name(row), plain_cell(row.cells[1]), plain_cell(row.cells[2])
    written = _written(parameter)
    if name != parameter.name.lstrip("*"):
        return contradicted(f"the parameter here is `{written}`", target.path)
    for shown, source in ((kind, parameter.annotation), (default, parameter.default)):
        empty = shown.lower() in _EMPTY
        if (empty and source and shown != source) or (not empty and not same_expression(shown, source)):
            return contradicted(f"the parameter here is `{written}`", target.path)
    return supported(target.path)


def _written(parameter: Parameter) -> str:
    stars = parameter.kind if parameter.kind in ("*", "**") else ""
    kind = f": {parameter.annotation}" if parameter.annotation else ""
    return f"{stars}{parameter.name.lstrip('*')}{kind}" + (
        f" = {parameter.default}" if parameter.default else ""
    )


# -- rows with a place


def _cited(table: Table, row: Row, context: Context) -> tuple[Place | None, Verdict]:
    """The place that a row gives, and whether it is there."""
    place = _place(table, row, context)
    if not place:
        return None, unverified("the row has no place")
    return place, check_lines(place, context, _near(table, row, context))


def _check_constant(table: Table, row: Row, context: Context) -> Verdict:
    place, exists = _cited(table, row, context)
    if place is None or exists.state != "supported" or exists.file not in context.sources.files:
        return exists
    name, path = plain_cell(row.cells[0]), exists.file
    bound = constants_of(context.sources.files[path], name)
    if not bound:
        return contradicted(f"{path} binds no {name}", path)
    at_line = [one for one in bound if place.start <= one.line <= place.last]
    if not at_line:
        return contradicted(f"{name} is bound at {path}:{bound[0].line}", path)
    shown = plain_cell(row.cells[1])
    values = [value for one in at_line for value in (one.value, *one.also)]
    if any(same_expression(shown, value) for value in values) or (shown in _EMPTY and not values[0]):
        return supported(path)
    return contradicted(f"{name} is `{values[0]}`", path)


def _check_mention(table: Table, row: Row, context: Context) -> Verdict:
    place, exists = _cited(table, row, context)
    if place is None or exists.state != "supported":
        return exists
    name, path = plain_cell(row.cells[0]).strip("\"'"), exists.file
    lines = lines_with(name, path, context)
    if any(place.start <= number <= place.last for number in lines):
        return supported(path)
    where = ", ".join(map(str, lines[:5]))
    return contradicted(f"{path} has {name} at {where}" if lines else f"{path} has no {name}", path)


def _check_raise(table: Table, row: Row, context: Context) -> Verdict:
    place, exists = _cited(table, row, context)
    if place is None or exists.state != "supported" or exists.file not in context.sources.files:
        return exists
    name, path = exception_name(plain_cell(row.cells[0])), exists.file
    all_raised = [one for each in context.sources.files[path].definitions for one in each.raised]
    here = [one for one in all_raised if place.start <= one.line <= place.last]
    same = [
        one for one in here if exception_name(one.exception).rpartition(".")[2] == name.rpartition(".")[2]
    ]
    if not same:
        said = f"raises {here[0].exception}" if here else "raises nothing"
        return contradicted(f"{place} {said}", path)
    return _check_condition(row.cells[1], same, path)


def _check_condition(cell: str, same: list[Raised], path: str) -> Verdict:
    """A condition in a code span must be the source's; one in words cannot be checked."""
    if not cell.strip().startswith("`"):
        return supported(path)
    shown = plain_cell(cell)
    if any(same_text(shown, one.condition) or same_expression(shown, one.condition) for one in same):
        return supported(path)
    return contradicted(f"the condition is `{same[0].condition}`", path)


_LAUNCH_FIELDS: Final = (
    ("grid", ("grid",)),
    ("block", ("block",)),
    ("shared", ("shared", "shared memory")),
    ("stream", ("stream",)),
)


def _launches(table: Table, context: Context) -> Iterator[Found]:
    """The launches of a table of relations that tells how they are configured."""
    for row in table.rows:
        if len(row.cells) >= len(table.head) and plain_cell(row.cells[1]) == "launches":
            yield Found(row.line, "launch", " | ".join(row.cells), _check_launch(table, row, context))


def _check_launch(table: Table, row: Row, context: Context) -> Verdict:
    place, exists = _cited(table, row, context)
    if place is None or exists.state != "supported" or exists.file not in context.sources.files:
        return exists
    name, path = plain_cell(row.cells[2 if is_relation_table(table) else 0]), exists.file
    launches = [one for each in context.sources.files[path].definitions for one in each.launches]
    here = [one for one in launches if place.start <= one.line <= place.last]
    same = [one for one in here if _kernel(one.kernel) == _kernel(name)]
    if not same:
        said = f"launches {here[0].kernel}" if here else "launches nothing"
        return contradicted(f"{place} {said}", path)
    faults = [_launch_fault(table, row, one) for one in same]
    return supported(path) if "" in faults else contradicted(faults[0], path)


def _kernel(name: str) -> str:
    return name.partition("<")[0].rpartition("::")[2].strip()


def _launch_fault(table: Table, row: Row, launch: Launch) -> str:
    for field, columns in _LAUNCH_FIELDS:
        source: str = getattr(launch, field)
        for column in columns:
            if column in table.head:
                shown = plain_cell(row.cells[table.head.index(column)])
                unset = shown in ("0", "default", *_EMPTY)
                if not (unset and source in ("", "0")) and not same_text(shown, source):
                    return f"its {column} is `{source}`"
    return ""


_RULES: Final[dict[tuple[str, ...], tuple[Kind, Check]]] = {
    ("constant", "value"): ("constant", _check_constant),
    ("variable",): ("environment", _check_mention),
    ("raises", "when"): ("raises", _check_raise),
    ("kernel", "grid", "block"): ("launch", _check_launch),
    ("launch", "grid", "block"): ("launch", _check_launch),
}
