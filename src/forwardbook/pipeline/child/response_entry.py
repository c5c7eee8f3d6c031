"""What came back from a child process in; its entry, whether that was refuted, and what was printed, out."""

from __future__ import annotations

from pydantic import ValidationError

from forwardbook.errors import ForwardbookError
from forwardbook.pipeline.child.request import Response
from forwardbook.schema import Entry


def is_refuted(entry: Entry) -> bool:
    """Whether a measurement differed from any formula of the entry."""
    verdicts = [regime.proof.verdict for regime in entry.regimes if regime.proof is not None]
    return "wrong" in (entry.validation.verdict, *verdicts)


def read_entry(response: Response, name: str) -> Entry | None:
    """The entry of a response, None where there is none."""
    if response.entry is None:
        return None
    try:
        return Entry.model_validate(response.entry)
    except ValidationError as error:
        raise ForwardbookError(
            f"analysing {name}: the entry that came back is not what the schema says; report this: {error}"
        ) from error


def output_of(response: Response) -> tuple[str, ...]:
    """The last lines that the analysed code printed."""
    lines = response.diagnostics.get("output")
    return tuple(str(line) for line in lines) if isinstance(lines, list) else ()
