"""Counts the models of which a formula takes as many layers as their own config has, and lists the others.

    python -m benchmarks.catalogue_depth

Formulas are derived from models of few layers; what they say of many is in their conditions. For every model
type of the catalogue the conditions of its whole model that name nothing but counts of layers are held
against the counts of its default config: at least one regime has to take them. Nothing is run or proved.
Results in benchmarks/results/catalogue_depth.json.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transformers import CONFIG_MAPPING, __version__

from forwardbook.analyzers.instances.pretrained.depth import counts_layers
from forwardbook.formula import Condition
from forwardbook.pipeline.catalogue.copies import whole
from forwardbook.workspace import Workspace

RESULTS = Path(__file__).parent / "results" / "catalogue_depth.json"
LIBRARY = "transformers"
SHOWN = 160  # characters of a condition


def own_counts(config: Any, names: Mapping[str, int]) -> dict[str, int]:
    """How many layers of each name the config has: `text_config.num_hidden_layers`, `depths.2`."""
    found = {}
    for name in filter(counts_layers, names):
        value = config
        for part in name.split("."):
            value = value[int(part)] if part.isdigit() else getattr(value, part, None)
            if value is None:
                break
        if isinstance(value, int):
            found[name] = value
    return found


def refusing(conditions: tuple[str, ...], counts: Mapping[str, int]) -> list[str]:
    """The conditions on nothing but counts that these do not meet."""
    parsed = [Condition.parse(text) for text in conditions]
    asked = [c for c in parsed if c.symbols() and c.symbols() <= counts.keys()]
    return [c.text()[:SHOWN] for c in asked if not c.is_met(counts)]


def main() -> None:
    """Hold every model type against its default config, keep the results, print the counts."""
    workspace = Workspace.find()
    db = workspace.load()
    totals = json.loads((workspace.root / "catalogue.json").read_text())["libraries"][LIBRARY]["totals"]
    taken, without, refused = 0, [], {}
    for kind, total in totals.items():
        model = total.get("model", "").partition(" ")[0]  # behind it settings may stand
        key = f"{LIBRARY}_{model}"
        try:
            counts = own_counts(CONFIG_MAPPING[kind](), total.get("sizes", {}))
        except Exception:  # noqa: BLE001 - a config may need more than nothing
            counts = {}
        regimes = whole(db, key).regimes if key in db else ()
        if not counts or not regimes:
            without.append(kind)
            continue
        said = [refusing(one.conditions, counts) for one in regimes]
        if any(not one for one in said):
            taken += 1
        else:
            refused[kind] = {"model": model, "layers": counts, "asked": min(said, key=len)}
    record = {
        "date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        "command": "python -m benchmarks.catalogue_depth",
        "versions": {LIBRARY: __version__},
        "model_types": len(totals),
        "of_layers": len(totals) - len(without),
        "own_depth_taken": taken,
        "refused": dict(sorted(refused.items())),
        "without_layers_or_formula": sorted(without),
    }
    RESULTS.write_text(json.dumps(record, indent=1) + "\n")
    print(f"{taken} of {record['of_layers']} model types have a formula at their own number of layers")


if __name__ == "__main__":
    main()
