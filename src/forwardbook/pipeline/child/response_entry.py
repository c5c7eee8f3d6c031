"""What came back from a child process in; its entry, whether that was refuted, and what was printed, out.

A number of a proof is believed only if the formulas that are stored with it give it: they are evaluated here.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from pydantic import ValidationError

from forwardbook.errors import FormulaError, ForwardbookError
from forwardbook.formula import parse
from forwardbook.pipeline.child.request import Response
from forwardbook.schema import QUANTITIES, Entry, Regime

_FORGED: Final = "nothing was stored: a class that writes the answer of its own analysis is not analysed"


def is_refuted(entry: Entry) -> bool:
    """Whether a measurement differed from any formula of the entry."""
    verdicts = [regime.proof.verdict for regime in entry.regimes if regime.proof is not None]
    return "wrong" in (entry.validation.verdict, *verdicts)


def read_entry(response: Response, name: str) -> Entry | None:
    """The entry of a response, None where there is none.

    Raises:
        ForwardbookError: it is none, or its formulas do not give what its proof says that they gave.
    """
    if response.entry is None:
        return None
    try:
        entry = Entry.model_validate(response.entry)
    except ValidationError as error:
        raise ForwardbookError(
            f"analysing {name}: the entry that came back is not what the schema says "
            f"({error.error_count()} errors); report this"
        ) from error
    if not is_of(entry, name):
        raise ForwardbookError(f"analysing {name}: the entry that came back is of another class\n  {_FORGED}")
    for regime in entry.regimes:
        for found in unlike_its_proof(regime):
            raise ForwardbookError(
                f"analysing {name}: the formulas that came back do not give the numbers of their own proof\n"
                f"  regime {regime.name}, {found}\n"
                f"  {_FORGED}"
            )
    return entry


def is_of(entry: Entry, name: str) -> bool:
    """Whether an entry is of a class, in the file of the module that the name says."""
    module = name.rpartition(".")[0].replace(".", "/")
    file, library = entry.code_location.file, name.partition(".")[0]
    return (entry.full_class_name, entry.library) == (name, library) and file in (
        f"{module}.py",
        f"{module}/__init__.py",
    )


def unlike_its_proof(regime: Regime) -> Iterator[str]:
    """Each number of a proof that the formulas of its regime do not give."""
    for point in regime.proof.points if regime.proof is not None else ():
        for quantity in QUANTITIES:
            given = _given(regime.formula(quantity), point.sizes)
            predicted = point.predicted.get(quantity)
            if given != predicted:
                at = ", ".join(f"{name}={size}" for name, size in sorted(point.sizes.items()))
                yield f"{quantity}: with {at} it gives {_said(given)}, and its proof has {_said(predicted)}"


def _said(number: int | None) -> str:
    return "nothing" if number is None else f"{number:,}"


def _given(formula: str, sizes: dict[str, int]) -> int | None:
    try:
        return _parsed(formula).evaluate(sizes)
    except FormulaError:
        return None


_parsed = lru_cache(maxsize=64)(parse)


def output_of(response: Response) -> tuple[str, ...]:
    """The last lines that the analysed code printed."""
    lines = response.diagnostics.get("output")
    return tuple(str(line) for line in lines) if isinstance(lines, list) else ()
