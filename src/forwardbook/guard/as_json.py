"""Findings in, values for JSON out."""

from __future__ import annotations

from pydantic import JsonValue

from forwardbook.guard.change import Amount, ClassChange, LineChange, RegimeChange
from forwardbook.guard.findings import Findings, summary
from forwardbook.guard.kept import Kept

FORMAT_VERSION = 1


def findings_json(findings: Findings) -> dict[str, JsonValue]:
    """Everything that was found; numbers are exact integers, shares are floating point."""
    return {
        "format_version": FORMAT_VERSION,
        "passed": not findings.has_failed,
        "summary": summary(findings),
        "before": findings.sides[0],
        "after": findings.sides[1],
        "tolerance": float(findings.tolerance),
        "classes": findings.looked_at,
        "derived": findings.derived,
        "changes": [change_json(one, findings) for one in findings.changed],
        "unchanged": {
            "classes": findings.unchanged_count,
            "totals": [change_json(one, findings) for one in findings.unchanged],
        },
        "budgets": [_budget(one) for one in findings.budgets],
        "troubles": [
            {"class": t.full_class_name, "key": t.key, "reason": t.reason, "file": t.file, "line": t.line}
            for t in findings.troubles
        ],
        "only_before": [*findings.only[0]],
        "only_after": [*findings.only[1]],
    }


def change_json(change: ClassChange, findings: Findings | None = None) -> JsonValue:
    """One class; `beyond` where a tolerance is known."""
    known: dict[str, JsonValue] = {}
    if findings is not None:
        beyond, improved = change.is_beyond(findings.tolerance), change.is_improved(findings.tolerance)
        known = {"beyond": beyond, "improved": improved}
    return {
        "class": change.full_class_name,
        "key": change.key,
        "file": change.file,
        "line": change.line,
        "verdict": {"before": change.verdicts[0], "after": change.verdicts[1]},
        "remark": change.remark,
        "reasons": [*change.reasons],
        "defaults": [
            {
                "parameter": one.name,
                "method": one.method,
                "before": one.before,
                "after": one.after,
                "file": one.file,
                "line": one.line,
            }
            for one in change.defaults
        ],
        "regimes": [_regime(one) for one in change.regimes if one.state != "same" or not change.is_changed],
        **known,
    }


def _regime(one: RegimeChange) -> JsonValue:
    sizes: JsonValue = None
    if one.sizes is not None:
        values: JsonValue = {**one.sizes.values}
        after: JsonValue = {**one.now_sizes} if one.now_sizes is not None else values
        sizes = {"values": values, "after": after, "origin": one.sizes.origin}
    return {
        "name": one.name,
        "state": one.state,
        "sizes": sizes,
        "conditions": {"before": [*one.conditions[0]], "after": [*one.conditions[1]]},
        "quantities": [_amount(amount) for amount in one.amounts],
        "totals": [_amount(amount) for amount in one.totals],
        "lines": [_line(line) for line in one.lines],
        "remark": one.remark,
    }


def _line(one: LineChange) -> JsonValue:
    return {
        "line": one.line,
        "end_line": one.end_line,
        "code": one.code,
        "before_line": one.before_line,
        "before_code": one.before_code,
        "quantities": [_amount(amount) for amount in one.amounts],
    }


def _amount(one: Amount) -> JsonValue:
    return {
        "quantity": one.quantity,
        "before": {"formula": one.before, "value": one.was},
        "after": {"formula": one.after, "value": one.now},
        "share": None if one.share is None else float(one.share),
    }


def _budget(one: Kept) -> JsonValue:
    return {
        "class": one.full_class_name,
        "quantity": one.budget.quantity,
        "budget": one.budget.text,
        "kept": one.is_kept,
        "value": one.value,
        "formula": one.formula,
        "regime": one.regime,
        "sizes": None if one.sizes is None else {**one.sizes},
        "problem": one.problem,
    }
