"""An entry whose calculator the template cannot render in; with those formulas written anew out."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from forwardbook.agents.analyst import Failure
from forwardbook.agents.choose import Chosen
from forwardbook.agents.flow import diagnostics, settle_all
from forwardbook.agents.roles.module_generator import ROLE, Calculator, Wanted, formula_of, names_of, task
from forwardbook.generate import RenderError, Stuck, stuck
from forwardbook.pipeline.store import write_diagnostics
from forwardbook.schema import Entry, Rewritten

if TYPE_CHECKING:
    from forwardbook.workspace import Workspace


def renderable(entry: Entry, workspace: Workspace, chosen: Chosen | None) -> Entry:
    """The entry, such that its calculator can be rendered; nobody is asked where it can be already.

    Raises:
        RenderError: it cannot, and nobody was asked or nobody found an equal formula.
    """
    open_ = stuck(entry)
    if not open_:
        return entry
    told = "; ".join(f"{one.place} ({one.reason})" for one in open_)
    name = entry.full_class_name
    if chosen is None:
        raise RenderError(
            f"generating the calculator of {name}: the template makes no Python of {told}\n"
            "  nothing was stored; have these formulas written anew: --analyst api"
        )
    return _rewritten(entry, open_, told, workspace, chosen)


def _rewritten(
    entry: Entry, open_: tuple[Stuck, ...], told: str, workspace: Workspace, chosen: Chosen
) -> Entry:
    wanted = [Wanted(one.place, one.formula) for one in open_]
    asked = task(entry.full_class_name, wanted, told, chosen.limits(ROLE))
    [outcome] = asyncio.run(settle_all([asked], chosen.analyst))
    if isinstance(outcome, Failure):
        key = workspace.load().key_for(entry.library, entry.full_class_name)
        path = write_diagnostics(key, diagnostics(asked, chosen.analyst.model, outcome), workspace)
        raise RenderError(
            f"generating the calculator of {entry.full_class_name}: unresolved ({outcome.kind}): "
            f"{outcome.detail}\n  nothing was stored; all that was said is in {path}"
        )
    assert isinstance(outcome.value, Calculator)
    by_place = {one.place: one.formula for one in open_}
    names = names_of(wanted)
    formulas = {by_place[one.quantity]: formula_of(one.python, names) for one in outcome.value.expressions}
    made = Rewritten(model=outcome.model, prompt_version=asked.prompt.version, formulas=formulas)
    found = entry.model_copy(update={"rewritten": made})
    if left := stuck(found):
        raise RenderError(f"generating the calculator of {entry.full_class_name}: {left[0].reason}")
    return found
