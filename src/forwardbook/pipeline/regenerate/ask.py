"""Entries that the engines left open in; a model asked about each within its cost cap, what it cost out."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from forwardbook.errors import ForwardbookError
from forwardbook.pipeline.analysis.one import Options, analyze, is_open
from forwardbook.pipeline.child.job import Limits
from forwardbook.pipeline.regenerate.asked_again import subject_of
from forwardbook.pipeline.regenerate.stale import Stale
from forwardbook.schema import Given
from forwardbook.workspace import Workspace

if TYPE_CHECKING:
    from forwardbook.agents.choose import Chosen


def is_waiting(one: Stale) -> bool:
    """Whether all that is stale of an entry is the prompt by which a model proposed it."""
    return all(reason.startswith("prompt ") for reason in one.reasons)


def ask(
    workspace: Workspace,
    found: Sequence[Stale],
    chosen: Chosen,
    limits: Limits,
    told: Callable[[str, int, int], None],
) -> list[str]:
    """Ask about every entry that is still open; lines about what could not be settled and what it cost."""
    database = workspace.load()
    asked = [one for one in found if is_waiting(one) or (one.key in database and is_open(database[one.key]))]
    notes: list[str] = []
    for count, one in enumerate(asked, 1):
        told(f"asking about {one.entry.full_class_name}", count, len(asked))
        try:
            _ask(workspace, one, chosen, limits)
        except ForwardbookError as error:
            notes.append(f"asked in vain about {one.entry.full_class_name}: {str(error).splitlines()[0]}")
    return [*notes, *(f"spent: {line}" for line in chosen.ledger.report() if asked)]


def _ask(workspace: Workspace, one: Stale, chosen: Chosen, limits: Limits) -> None:
    given = one.entry.given or Given()
    wanted = subject_of(one.entry, workspace.root)
    typed = f"{wanted.found.file}:{one.entry.class_name}" if wanted.roots else one.entry.full_class_name
    with tempfile.TemporaryDirectory(prefix="forwardbook-") as folder:
        config = Path(folder) / "config.json"
        if given.config is not None:
            config.write_text(json.dumps(given.config), encoding="utf-8")
        options = Options(config if given.config is not None else None, given.init, given.inputs)
        force = is_waiting(one)
        analyze(typed, options, workspace=workspace, limits=limits, force=force, chosen=chosen)
