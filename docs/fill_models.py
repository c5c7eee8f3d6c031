"""The shipped architectures in; their formulas, where rules or libraries changed, and parameters out.

    python docs/fill_models.py            every model
    python docs/fill_models.py gpt2 ...   some
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


def fill(model_id: str) -> str:
    """Formulas and parameters of one model; what was done."""
    kept = ModelFiles(ROOT)
    model = Model(find_model(model_id, kept), kept)
    stored = next(kept.costs(model_id), None)
    done = []
    if model.costs is None or model.costs.generates is None:
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
    """The formulas of every phase, around the same sizes as before."""
    if model.costs is not None:
        return ""
    points = [
        (phase.phase, phase.proof.points[0].sizes, Widths(*[BITS[phase.proof.dtype]] * 3))
        for phase in (stored.phases if stored else [])
    ]
    for name, sizes, widths in points:
        model.phase(name, sizes, widths)
    if not points:
        for found in model.phases():
            model.derive(found)
    return "formulas"


if __name__ == "__main__":
    for one in sys.argv[1:] or ModelFiles(ROOT).ids():
        print(one, fill(one), flush=True)
