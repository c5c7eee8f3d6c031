"""An entry in the form of the code in, in the form of the file out, and back: what repeats is said once.

In the file, statements stand once beside the regimes, numbers of proof points are columns, fields that say
nothing are left out, and what a regime has in common with an earlier one is `as` that one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final, cast

from pydantic import BaseModel

from forwardbook.schema import MEMORY_QUANTITIES, QUANTITIES, Entry, Judge, Proof, Regime, SubmoduleCall
from forwardbook.workspace.migrations import Json
from forwardbook.workspace.packed_points import from_columns, in_columns
from forwardbook.workspace.packed_reasons import reasoning, reasons_in
from forwardbook.workspace.packed_rows import Statements

PLAIN: Final = "plain"
"""Under this name stands an entry that is not of our shape, as it is."""
_AS: Final = "as "
_SHORT: Final = 24  # characters of JSON; saying a shorter thing again is plainer than leading to it
_OWN: Final = {"name", "context"}  # fields that no regime has as another
_OPTIONAL: Final = {"rewritten"}  # a field that stands only where it says something
_DAMAGED: Final = (KeyError, TypeError, ValueError, AttributeError, IndexError)

Rows = list[Json]


class PackingError(ValueError):
    """An entry of a file that is in no form that `packed` writes."""


def packed(raw: Json) -> Json:
    """The form for a file; an entry of another shape than ours stays as it is, under `plain`."""
    try:
        whole = {**_defaults(Entry), **raw}  # fields are added from version to version
        small = _packed(whole)
        if unpacked(small) == whole:
            return small
    except _DAMAGED:
        pass
    return {PLAIN: raw}


def unpacked(stored: Json) -> Json:
    """The form of the code.

    Raises:
        PackingError: for what no `packed` wrote.
    """
    try:
        return cast(Json, stored[PLAIN]) if PLAIN in stored else _unpacked(stored)
    except _DAMAGED as error:
        raise PackingError(f"{type(error).__name__}: {error}") from error


def _packed(raw: Json) -> Json:
    statements, conditions = Statements(), dict[str, int]()
    reasons: dict[str, str] = {}
    told: dict[str, Json] = {}
    for regime in cast(Rows, raw["regimes"]):
        told[str(regime["name"])] = _told(regime, statements, conditions)
    for one in told.values():
        reasons |= reasons_in(str(one["reasoning"]), cast(Rows, one["lines"]), statements)
    regimes: Rows = []
    for place, (name, one) in enumerate(told.items()):
        earlier = {each: told[each] for each in list(told)[:place]}
        if reasoning(cast(Rows, one["lines"]), statements, reasons) == one["reasoning"]:
            one = {field: value for field, value in one.items() if field != "reasoning"}
        regimes.append({"name": name, **_led(one, earlier)})
    entry = {**_without(raw, Entry), "regimes": regimes, "conditions": list(conditions), "reasons": reasons}
    entry["statements"] = statements.rows()
    return {name: value for name, value in entry.items() if value not in ([], {})}


def _unpacked(stored: Json) -> Json:
    entry = dict(stored)
    statements = Statements(cast(Rows, entry.pop("statements", [])))
    conditions = cast("list[str]", entry.pop("conditions", []))
    reasons = cast("dict[str, str]", entry.pop("reasons", {}))
    told: dict[str, Json] = {}
    for one in cast(Rows, entry.get("regimes", [])):
        followed = _followed(one, told)
        followed.setdefault("reasoning", reasoning(cast(Rows, followed["lines"]), statements, reasons))
        told[str(one["name"])] = followed
    entry["regimes"] = [_regime(one, statements, conditions) for one in told.values()]
    return {**_defaults(Entry), **entry}


def _told(regime: Json, statements: Statements, conditions: dict[str, int]) -> Json:
    """A regime in the form of the file, whole; statements and conditions go into the tables of the entry."""
    flops, memory = cast(Json, regime["flop_analysis"]), cast(Json, regime["memory_analysis"])
    if flops.keys() | memory.keys() != _PARTS:
        raise PackingError("an analysis has other fields")
    rest = _without(regime, Regime)
    del rest["flop_analysis"], rest["memory_analysis"]
    proof = rest.pop("proof", None)
    told: Json = {
        **rest,
        "conditions": [conditions.setdefault(text, len(conditions)) for text in _texts(regime["conditions"])],
        "formulas": {q: (memory if q in MEMORY_QUANTITIES else flops)[q] for q in QUANTITIES},
        "lines": [
            statements.told(of, to)
            for of, to in zip(cast(Rows, flops["lines"]), cast(Rows, memory["lines"]), strict=True)
        ],
        "reasoning": flops["reasoning"],
        "memory_reasoning": memory["reasoning"],
        "submodule_calls": [_without(call, SubmoduleCall) for call in cast(Rows, flops["submodule_calls"])],
    }
    return told | ({"proof": _small_proof(cast(Json, proof))} if proof is not None else {})


_PARTS: Final = {*QUANTITIES, "lines", "reasoning", "submodule_calls"}


def _regime(told: Json, statements: Statements, conditions: list[str]) -> Json:
    one = dict(told)
    formulas = cast("dict[str, str]", one.pop("formulas"))
    rows = [statements.lines(row) for row in cast(Rows, one.pop("lines"))]
    calls = [{**_defaults(SubmoduleCall), **call} for call in cast(Rows, one.pop("submodule_calls"))]
    flops: Json = {q: formulas[q] for q in QUANTITIES if q not in MEMORY_QUANTITIES}
    flops |= {"lines": [row[0] for row in rows], "reasoning": one.pop("reasoning"), "submodule_calls": calls}
    memory: Json = {q: formulas[q] for q in MEMORY_QUANTITIES}
    memory |= {"lines": [row[1] for row in rows], "reasoning": one.pop("memory_reasoning")}
    one["conditions"] = [conditions[place] for place in cast("list[int]", one["conditions"])]
    proof = one.pop("proof", None)
    one["proof"] = None if proof is None else _whole_proof(cast(Json, proof))
    return {**_defaults(Regime), **one, "flop_analysis": flops, "memory_analysis": memory}


def _small_proof(proof: Json) -> Json:
    small = {**_without(proof, Proof), **in_columns(cast(Rows, proof["points"]))}
    small.pop("points", None)
    judges = [_without(judge, Judge) for judge in cast(Rows, proof["judges"])]
    return small | ({"judges": judges} if judges else {})


def _whole_proof(stored: Json) -> Json:
    proof = dict(stored)
    proof["points"] = from_columns(proof)
    proof["judges"] = [{**_defaults(Judge), **judge} for judge in cast(Rows, proof.get("judges", []))]
    return {**_defaults(Proof), **proof}


def _led(told: Json, earlier: Mapping[str, Json]) -> Json:
    """The regime with whatever an earlier one says too, field by field, formula by formula, line by line."""
    one = dict(told)
    for field in told.keys() - _OWN:
        one[field] = _led_value(told[field], {name: other.get(field) for name, other in earlier.items()})
    if isinstance(formulas := one["formulas"], dict):
        before = {name: cast(Json, other["formulas"]) for name, other in earlier.items()}
        one["formulas"] = {
            q: _led_value(text, {name: other[q] for name, other in before.items()})
            for q, text in formulas.items()
        }
    if isinstance(lines := one["lines"], list):
        known = {name: _by_place(other) for name, other in earlier.items()}
        one["lines"] = [_led_row(row, known) for row in lines]
    return one


def _led_value(value: object, earlier: Mapping[str, object]) -> object:
    found = next((name for name, other in earlier.items() if other == value), None)
    return value if found is None or len(str(value)) <= _SHORT else _AS + found


def _led_row(row: Json, earlier: Mapping[str, Mapping[str, Json]]) -> Json:
    found = next((name for name, rows in earlier.items() if rows.get(str(row["at"])) == row), None)
    return row if found is None or len(row) == 1 else {"at": row["at"], "as": found}


def _followed(one: Json, told: Mapping[str, Json]) -> Json:
    """The regime whole: what it has as an earlier one is put in its place."""
    whole = {field: value if field in _OWN else _follow(value, told, field) for field, value in one.items()}
    formulas = cast("dict[str, str]", whole["formulas"])
    whole["formulas"] = {q: _follow(text, told, "formulas", q) for q, text in formulas.items()}
    whole["lines"] = [
        _by_place(told[str(row["as"])])[str(row["at"])] if "as" in row else row
        for row in cast(Rows, whole["lines"])
    ]
    return whole


def _follow(value: object, told: Mapping[str, Json], field: str, part: str = "") -> object:
    if not isinstance(value, str) or not value.startswith(_AS):
        return value
    found = told[value[len(_AS) :]][field]
    return cast(Json, found)[part] if part else found


def _by_place(told: Json) -> dict[str, Json]:
    return {str(row["at"]): row for row in cast(Rows, told["lines"])}


def _texts(value: object) -> list[str]:
    return cast("list[str]", value)


def _without(raw: Json, model: type[BaseModel]) -> Json:
    """The fields that say something.

    Raises:
        PackingError: where a field is missing or one too many.
    """
    known = _defaults(model)
    if raw.keys() - _OPTIONAL != model.model_fields.keys() - _OPTIONAL:
        raise PackingError(f"not the fields of {model.__name__}")
    return {name: value for name, value in raw.items() if name not in known or value != known[name]}


@cache
def _known_defaults(model: type[BaseModel]) -> Json:
    fields = ((name, field) for name, field in model.model_fields.items() if not field.is_required())
    made = {name: field.get_default(call_default_factory=True) for name, field in fields}
    return {
        name: value.model_dump(mode="json") if isinstance(value, BaseModel) else _plain(value)
        for name, value in made.items()
        if name not in _OPTIONAL
    }


def _defaults(model: type[BaseModel]) -> Json:
    """What fields say that are not given, in the form of JSON; the values are the reader's own."""
    known = _known_defaults(model).items()
    return {n: dict(v) if isinstance(v, dict) else list(v) if isinstance(v, list) else v for n, v in known}


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value
