"""Findings in; out Markdown for a pull request: tables of lines and budgets, text of others escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator

from forwardbook.guard.change import Amount, ClassChange, LineChange, RegimeChange
from forwardbook.guard.defaults import DefaultChange
from forwardbook.guard.findings import Findings, percent, shown_sizes, summary
from forwardbook.guard.kept import Kept
from forwardbook.printable import printable

SHOWN = 40
"""Classes in full; a comment of a pull request holds 65,536 characters, and a person reads fewer."""
CODE = 80
_MARKS = re.compile(r"([\\`*_{}\[\]<>#|~!@&])")


def findings_markdown(findings: Findings, title: str = "Cost of modules") -> str:
    """The whole as Markdown; nothing of a class's own text becomes markup, a mention or a link."""
    mark = "failed" if findings.has_failed else "passed"
    parts = [f"## {title}: {mark}", f"{escaped(summary(findings))}. {_sides(findings)}"]
    shown = findings.changed[:SHOWN]
    parts += [part for change in shown for part in class_markdown(change)]
    if len(findings.changed) > len(shown):
        parts.append(f"and {len(findings.changed) - len(shown)} further classes")
    parts += _unchanged(findings)
    if findings.budgets:
        parts.append(_budgets(findings.budgets))
    if findings.troubles:
        rows = (f"- {coded(t.full_class_name)}: {escaped(t.reason)}" for t in findings.troubles)
        parts.append("\n".join(["### Could not be told", "", *rows]))
    for side, names in zip(("before", "after"), findings.only, strict=True):
        if names:
            listed = ", ".join(coded(name) for name in names[:SHOWN])
            more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
            parts.append(f"Only {side}: {listed}{more}")
    return "\n\n".join(parts) + "\n"


def class_markdown(change: ClassChange, formulas: bool = False) -> Iterator[str]:
    """One class: what of it changed, then a table of its lines per regime; `formulas` adds those too."""
    was, now = change.verdicts
    verdict = f" ({was} → {now})" if was != now else ""
    yield f"### {coded(change.full_class_name)}{verdict}"
    place = coded(f"{change.file}:{change.line}")
    because = f", {escaped('; '.join(change.reasons))}" if change.reasons else ""
    yield f"{place}{because}{f'. {escaped(change.remark)}' if change.remark else ''}"
    if change.defaults:
        yield "\n".join(f"- {_default(one)}" for one in change.defaults)
    for regime in change.regimes:
        if regime.state != "same":
            yield from _regime(regime, formulas)


def _regime(one: RegimeChange, formulas: bool) -> Iterator[str]:
    if one.state in ("gone", "new"):
        yield f"Regime {coded(one.name)} is {one.state}."
        return
    yield f"Regime {coded(one.name)}{_at(one)}{f': {one.remark}' if one.remark else ''}"
    totals = one.totals or one.amounts
    if totals:
        yield _table("total", [("total", amount) for amount in totals])
    rows = [(_place(line), amount) for line in one.lines for amount in line.amounts]
    if rows:
        yield _table("line", rows)
    if formulas:
        yield _formulas([*[("total", amount) for amount in one.amounts], *rows])
    before, after = (" and ".join(texts) or "always" for texts in one.conditions)
    if set(one.conditions[0]) != set(one.conditions[1]):
        yield f"Held when {coded(before)}, now when {coded(after)}."


def _unchanged(findings: Findings) -> Iterator[str]:
    """What was compared and is as it was, with its totals."""
    if not findings.unchanged:
        return
    yield f"### Unchanged: {findings.unchanged_count}"
    for change in findings.unchanged:
        for one in change.regimes:
            yield f"{coded(change.full_class_name)}, regime {coded(one.name)}{_at(one)}"
            yield _table("total", [("total", amount) for amount in one.totals if amount.was])
    if findings.unchanged_count > len(findings.unchanged):
        yield f"and {findings.unchanged_count - len(findings.unchanged)} further classes"


def _at(one: RegimeChange) -> str:
    if one.sizes is None:
        return ""
    return f" at {coded(shown_sizes(one.sizes.values, one.now_sizes), 200)} ({one.sizes.origin})"


def _default(one: DefaultChange) -> str:
    place = f", {coded(f'{one.file}:{one.line}')} {coded(one.code)}" if one.line else ""
    return f"{escaped(one.text)}{place}"


def _table(head: str, rows: list[tuple[str, Amount]]) -> str:
    lines = [f"| {head} | quantity | before | after | change |", "|---|---|--:|--:|--:|"]
    for place, one in rows:
        numbers = f"{_number(one.was)} | {_number(one.now)} | {percent(one.share)}"
        lines.append(f"| {place} | {one.quantity} | {numbers} |")
    return "\n".join(lines)


def _formulas(rows: list[tuple[str, Amount]]) -> str:
    lines = ["| | quantity | formula before | formula after |", "|---|---|---|---|"]
    for place, one in rows:
        texts = (coded(text.replace("{", "").replace("}", ""), 400) for text in (one.before, one.after))
        lines.append(f"| {place} | {one.quantity} | {' | '.join(texts)} |")
    return "\n".join(lines)


def _place(line: LineChange) -> str:
    if not line.line:
        return f"{line.before_line} (gone) {coded(line.before_code)}"
    return f"{line.line} {coded(line.code)}"


def _budgets(rows: tuple[Kept, ...]) -> str:
    lines = ["### Budgets", "", "| class | quantity | budget | value | |", "|---|---|---|--:|---|"]
    for one in rows:
        state = "kept" if one.is_kept else "**broken**" if one.value is not None else escaped(one.problem)
        names = f"{coded(one.full_class_name)} | {one.budget.quantity} | {coded(one.budget.text)}"
        lines.append(f"| {names} | {_number(one.value)} | {state} |")
    return "\n".join(lines)


def _sides(findings: Findings) -> str:
    return f"Before: {coded(findings.sides[0])}, after: {coded(findings.sides[1])}."


def _number(value: int | None) -> str:
    return "?" if value is None else f"{value:,}"


def escaped(text: str) -> str:
    """Text of others as text, on one line."""
    return _MARKS.sub(r"\\\1", printable(" ".join(text.split())))


def coded(text: str, most: int = CODE) -> str:
    """Text of others as code in a table, on one line, cut where it is long."""
    flat = printable(" ".join(text.split()))
    flat = flat if len(flat) <= most else f"{flat[: most - 1]}…"
    flat = flat.replace("|", "¦")  # a table splits its rows there, within code too
    fence = "`" * (1 + max((len(run) for run in re.findall(r"`+", flat)), default=0))
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{fence}{pad}{flat}{pad}{fence}" if flat else "``  ``"
