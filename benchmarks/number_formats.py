"""Formulas of models whose config.json names a number format, against those of the same file without it.

    python -m benchmarks.number_formats [--models opt-6.7b ...]

Every shipped config and those in tests/models/configs, cut to few layers with their widths as they are: each
format stands in the config and in all its parts, as `torch_dtype` or as `dtype`. Each phase is run with
symbols; all formulas of all layers and the tensors of the cache must be the same, and name `w_dtype_bytes`.
The run ends with 1 where any differs, after the table.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Mapping
from typing import Final, cast

from benchmarks.measuring import ROOT, about
from benchmarks.plain_models import architecture, ids
from benchmarks.publishing import publish, table

WRITTEN: Final = ROOT / "tests" / "models" / "configs"
FORMATS: Final = {
    "none": (),
    "float16": (("torch_dtype", "float16"),),
    "bfloat16": (("dtype", "bfloat16"),),
    "float32": (("torch_dtype", "float32"),),
}


def configs() -> Iterator[tuple[str, dict[str, object]]]:
    """The fields of each config by its name, those of tests first."""
    for path in sorted(WRITTEN.glob("*.json")):
        yield path.stem, json.loads(path.read_text(encoding="utf-8"))
    for model_id in ids():
        known = architecture(model_id)
        fields = cast("dict[str, object]", known["config"])
        listed = [str(known["model_class"]).rpartition(".")[2]]
        yield f"{model_id} (shipped)", {**fields, "architectures": listed}


def named(values: Mapping[str, object], fields: tuple[tuple[str, str], ...]) -> dict[str, object]:
    """The fields with a number format in the config and in all its parts, in place of what they name."""
    kept = {name: value for name, value in values.items() if name not in ("dtype", "torch_dtype")}
    parts = {n: named(v, fields) for n, v in kept.items() if isinstance(v, dict) and n.endswith("_config")}
    return {**kept, **parts, **dict(fields)}


def derived(name: str, values: dict[str, object]) -> dict[str, str]:
    """The formulas of all phases as text, and what was told where there are none."""
    import torch

    from forwardbook.analyzers.instances.pretrained.configs import parts
    from forwardbook.analyzers.instances.pretrained.depth import cut_depth
    from forwardbook.analyzers.instances.pretrained.whole import phases_of
    from forwardbook.analyzers.symbolic.patterns import find_call
    from forwardbook.analyzers.symbolic.run import first_that_runs, run_symbolically
    from forwardbook.pipeline.model.layers import layer_tree
    from forwardbook.pipeline.model.source import from_values

    source = from_values(name, values, name)
    for part in parts(source.config):
        cut_depth(part)
    found: dict[str, str] = {}
    for phase in phases_of(source.model_class, source.config):
        _, run = first_that_runs(phase.recipe, lambda one: run_symbolically(one, torch.bfloat16))
        call = find_call(run.trace, "", 0)
        assert call is not None
        cache = [(str(shape), str(kind)) for shape, kind in phase.filling.tensors]
        found[phase.name] = json.dumps([layer_tree(run, call).record().model_dump(), cache])
    return found


def main() -> int:
    """Derives, writes the result, prints the table; 1 where a format changed a formula."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="*")
    chosen = parser.parse_args().models
    rows: list[dict[str, object]] = []
    for name, values in configs():
        if chosen and name.partition(" ")[0] not in chosen:
            continue
        started = time.process_time()
        by_format = {format: derived(name, named(values, fields)) for format, fields in FORMATS.items()}
        plain = by_format["none"]
        rows.append(
            {
                "model": name,
                "phases": len(plain),
                "in widths": sum("w_dtype_bytes" in text for text in plain.values()),
                "differ": ", ".join(format for format, found in by_format.items() if found != plain),
                "seconds": round(time.process_time() - started, 1),
            }
        )
        print(rows[-1], flush=True)
    wrong = [row for row in rows if row["differ"] or row["in widths"] != row["phases"]]
    columns = list(rows[0])
    told = table(columns, [[str(row[column]) for column in columns] for row in rows])
    record = {"about": about("benchmarks.number_formats"), "rows": rows}
    publish("number_formats", record, [f"{len(rows)} configs, {len(wrong)} with a difference", told])
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
