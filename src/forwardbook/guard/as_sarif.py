"""Findings in; out a SARIF 2.1.0 log, which code hosts show at the lines it names."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

from pydantic import JsonValue

from forwardbook.guard.change import Amount, ClassChange
from forwardbook.guard.findings import Findings, Trouble, percent, shown_sizes
from forwardbook.guard.kept import Kept

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
RULES: Final = {
    "cost-changed": "One call of the module costs more than the database says.",
    "budget-broken": "One call of the module costs more than its budget in pyproject.toml allows.",
    "cost-unknown": "The cost of the module cannot be derived any more.",
}
Json = dict[str, JsonValue]


def findings_sarif(findings: Findings, version: str, prefix: str = "") -> Json:
    """The log; files are relative to the repository, `prefix` is the way there from the workspace."""
    results = [*_changes(findings, prefix), *_budgets(findings, prefix), *_troubles(findings, prefix)]
    rules: list[JsonValue] = [
        {"id": name, "shortDescription": {"text": text}, "defaultConfiguration": {"level": "error"}}
        for name, text in RULES.items()
    ]
    driver: Json = {"name": "forwardbook", "semanticVersion": version, "rules": rules}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": [*results]}],
    }


def _changes(findings: Findings, prefix: str) -> Iterator[JsonValue]:
    for change in findings.changed:
        level = "error" if change.is_beyond(findings.tolerance) else "note"
        lines = list(_lines(change))
        for place, line, text in lines:
            yield _result("cost-changed", level, text, prefix, change.file, line, f"{change.key}:{place}")
        for one in change.defaults:
            text = f"{change.full_class_name}: {one.text}{_in_total(change)}"
            file, line = (one.file, one.line) if one.line else (change.file, change.line)
            key = f"{change.key}:default:{one.method}.{one.name}"
            yield _result("cost-changed", level, text, prefix, file, line, key)
        if not lines and not change.defaults:
            text = f"{change.full_class_name}: {_verdicts(change)}"
            yield _result("cost-changed", level, text, prefix, change.file, change.line, change.key)


def _lines(change: ClassChange) -> Iterator[tuple[str, int, str]]:
    """For each line whose cost changed: what tells it from others, its number, and the message."""
    for regime in change.regimes:
        at = f" at {shown_sizes(regime.sizes.values, regime.now_sizes)}" if regime.sizes is not None else ""
        for number, line in enumerate(regime.lines):
            amounts = "; ".join(_said(amount) for amount in line.amounts)
            gone = "" if line.line else f" (`{line.before_code}` is gone)"
            text = f"{change.full_class_name}, regime {regime.name}{gone}: {amounts}{at}"
            code = hashlib.sha256((line.code or line.before_code).encode()).hexdigest()[:16]
            yield f"{regime.name}:{code}:{number}", line.line or change.line, text
        if regime.amounts and not regime.lines:
            amounts = "; ".join(_said(amount) for amount in regime.amounts)
            text = f"{change.full_class_name}, regime {regime.name}, in total: {amounts}{at}"
            yield f"{regime.name}:total", change.line, text


def _in_total(change: ClassChange) -> str:
    """What the first regime that changed costs in all, before and after."""
    for regime in change.regimes:
        if regime.amounts and regime.sizes is not None:
            amounts = "; ".join(_said(amount) for amount in regime.amounts)
            return f": {amounts} at {shown_sizes(regime.sizes.values, regime.now_sizes)}"
    return ""


def _said(one: Amount) -> str:
    was, now = ("unknown" if value is None else f"{value:,}" for value in (one.was, one.now))
    return f"{one.quantity} {was} -> {now} ({percent(one.share)})"


def _verdicts(change: ClassChange) -> str:
    states = ", ".join(f"regime {one.name} {one.state}" for one in change.regimes if one.state != "same")
    was, now = change.verdicts
    verdict = f"{was} -> {now}" if was != now else ""
    return "; ".join(filter(None, (verdict, states, change.remark)))


def _budgets(findings: Findings, prefix: str) -> Iterator[JsonValue]:
    for one in findings.broken:
        text = f"{one.full_class_name}: {one.budget.quantity} {one.budget.text}: {_value(one)}"
        key = f"{one.budget.name}:{one.budget.quantity}:{one.budget.text}"
        yield _result("budget-broken", "error", text, prefix, one.file or "pyproject.toml", one.line, key)


def _value(one: Kept) -> str:
    if one.value is None:
        return one.problem
    return f"it is {one.value:,} at {shown_sizes(one.sizes or {})}"


def _troubles(findings: Findings, prefix: str) -> Iterator[JsonValue]:
    for one in findings.troubles:
        yield _trouble(one, prefix)


def _trouble(one: Trouble, prefix: str) -> JsonValue:
    text = f"{one.full_class_name}: {one.reason}"
    return _result("cost-unknown", "error", text, prefix, one.file or "module_db.json", one.line, one.key)


def _result(rule: str, level: str, text: str, prefix: str, file: str, line: int, key: str) -> JsonValue:
    uri = quote(f"{prefix}{file}")
    return {
        "ruleId": rule,
        "ruleIndex": list(RULES).index(rule),
        "level": level,
        "message": {"text": text},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": uri, "uriBaseId": "%SRCROOT%"},
                    "region": {"startLine": max(line, 1)},
                }
            }
        ],
        "partialFingerprints": {"forwardbook/v1": f"{rule}:{key}"},
    }
