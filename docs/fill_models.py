"""The shipped architectures in; their formulas, where rules or libraries changed, and parameters out.

    python docs/fill_models.py                         every model
    python docs/fill_models.py gpt2 ...                some
    python docs/fill_models.py --again decode gpt2 ... some, one of their phases in any case
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from forwardbook.models.record import ModelCosts
from forwardbook.models.totals import Widths
from forwardbook.pipeline.model.find import find_model
from forwardbook.pipeline.model.pipeline import Model
from forwardbook.pipeline.model.steps import Steps
from forwardbook.workspace import Workspace
from forwardbook.workspace.model_files import ModelFiles

ROOT: Final = Path(__file__).resolve().parent.parent
BITS: Final = {"bfloat16": 16, "float32": 32, "float64": 64}


def fill(model_id: str, again: str = "") -> str:
    """Formulas and parameters of one model; what was done. The phase `again` is derived anew."""
    kept = ModelFiles(ROOT)
    stored = next(kept.costs(model_id), None)
    if stored is not None and again:
        others = [phase for phase in stored.phases if phase.phase != again]
        kept.write_costs(stored.model_copy(update={"phases": others}))
    model = Model(find_model(model_id, kept), kept)
    done = []
    if model.costs is None or model.costs.generates is None or again:
        done.append(_derive(model, stored))
        if model.costs is not None and model.costs.generates is None:
            generates = model.generates
            model.costs = model.costs.model_copy(update={"generates": generates})
            kept.write_costs(model.costs)
    steps = Steps(model, kept, model_id, Workspace(ROOT))
    if steps.fresh() is None:
        steps.write_populated(steps.populate())
        done.append("parameters")
    return ", ".join(filter(None, done)) or "nothing to do"


def _derive(model: Model, stored: ModelCosts | None) -> str:
    """The formulas of every phase that is lacking, around the same sizes as before."""
    present = {phase.phase for phase in model.costs.phases} if model.costs is not None else set()
    points = [
        (phase.phase, phase.proof.points[0].sizes, Widths(*[BITS[phase.proof.dtype]] * 3))
        for phase in (stored.phases if stored else [])
        if phase.phase not in present
    ]
    for name, sizes, widths in points:
        model.phase(name, sizes, widths)
    if not points and not present:
        for found in model.phases():
            model.derive(found)
    return "formulas" if points or not present else ""


if __name__ == "__main__":
    given = sys.argv[1:]
    phase, given = (given[1], given[2:]) if given[:1] == ["--again"] else ("", given)
    for one in given or ModelFiles(ROOT).ids():
        print(one, fill(one, phase), flush=True)
