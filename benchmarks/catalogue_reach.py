"""Counts the classes of a package that some forward() reaches, and ranks why others are not: a quick look.

    python benchmarks/catalogue_reach.py [--library transformers] [--only PATTERN] [--resume FILE]

Every way of the library's adapter is tried as `forwardbook catalogue build` tries it, but only run: on meta,
with plain sizes, in float32; nothing is derived or proved. The library is imported once, each unit is a fork
of that process. Results in benchmarks/results/catalogue_reach.json; what was found of each unit is kept
beside it, with the suffix .partial, for --resume.
"""

from __future__ import annotations

import argparse
import datetime
import gc
import importlib
import json
import os
import platform
import re
import sys
import time
import traceback
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results" / "catalogue_reach.json"
SHOWN = 40


def called(recipe: Any) -> set[str]:
    """The classes whose forward() returned in a run of the recipe that ended well."""
    import torch
    from torch.nn.modules.module import register_module_forward_hook
    from torch.utils._python_dispatch import TorchDispatchMode

    from forwardbook.analyzers.symbolic.bridges import no_initialisation
    from forwardbook.analyzers.symbolic.fused import FusedOperations
    from forwardbook.analyzers.symbolic.patterns import class_name
    from forwardbook.analyzers.symbolic.run import MetaMaker, NumberSizes
    from forwardbook.analyzers.symbolic.values import Values

    values, sizes, seen = Values(symbolic=False), NumberSizes({}), set()

    class Valued(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return values.run(func, args, dict(kwargs or {}))

    with torch.no_grad():
        with torch.device("meta"), no_initialisation(), Valued():
            root = recipe.build(sizes).eval()
            args, kwargs = recipe.inputs(sizes, root, MetaMaker())
        handle = register_module_forward_hook(lambda module, given, out: seen.add(class_name(module)))
        try:
            with FusedOperations(symbolic=False), Valued():
                root(*args, **kwargs)
        finally:
            handle.remove()
    return seen


def reach(recipe: Any, targets: Any, seed: int, points: int, clock: Any, before: Any = None) -> Any:
    """In place of derivation: which targets a run calls."""
    from forwardbook.pipeline.catalogue.derive import Reached
    from forwardbook.pipeline.child.overtime import Overtime

    problem: BaseException | None = None
    for inputs in (recipe.inputs, *recipe.alternatives):
        try:
            with clock.within():
                found = called(replace(recipe, inputs=inputs, alternatives=()))
        except Overtime as error:
            return Reached(problem=error)
        except Exception as error:
            problem = problem or error
            continue
        return Reached(called=frozenset(found) & frozenset(targets))
    return Reached(problem=problem)


def look(unit: Any, budget: float) -> dict[str, Any]:
    """One unit: the classes that were not reached with their reasons, and all ways."""
    from forwardbook.pipeline.child.request import Request

    work: Any = importlib.import_module("forwardbook.pipeline.catalogue.work")
    work.reach = reach
    begin = time.process_time()
    names = tuple(one.full_name for one in unit.classes)
    request = Request(target=unit.name, wanted=names, budget=budget, seed=1)
    one = work._Unit(request, work.adapter_for(unit.library), unit.library)
    one.run()
    missing = one._missing | {name for name, done in one._done.items() if done.state == "unreached"}
    told = {done.name: done for done in one.classes()}
    return {
        "unit": unit.name,
        "classes": {c.full_name: bool(c.defines) for c in unit.classes},
        "missing": {
            name: {"kind": told[name].kind, "reason": told[name].reason, "place": told[name].place}
            for name in sorted(missing)
        },
        "model_types": sorted({way.model_type for way in one.ways if way.model_type and way.reached}),
        "tried": sorted({way.model_type for way in one.ways if way.model_type}),
        "seconds": round(time.process_time() - begin, 2),
    }


def forked(unit: Any, budget: float) -> dict[str, Any]:
    """The same in a process of its own."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            text = json.dumps(look(unit, budget))
        except BaseException:
            text = json.dumps({"failed": traceback.format_exc()[-300:]})
        with os.fdopen(writer, "w") as pipe:
            pipe.write(text)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    found: dict[str, Any] = json.loads(text or '{"failed": "the process ended"}')
    if "failed" in found:
        reason = {"kind": "internal", "reason": found["failed"], "place": ""}
        found = {
            "unit": unit.name,
            "classes": {c.full_name: bool(c.defines) for c in unit.classes},
            "missing": {c.full_name: reason for c in unit.classes},
            "model_types": [],
            "tried": [],
            "seconds": 0.0,
        }
    return found


def summary(units: list[dict[str, Any]]) -> dict[str, Any]:
    """Counts and ranked reasons; `defining` are classes with a forward() of their own in modeling files."""
    every = {name: own for unit in units for name, own in unit["classes"].items()}
    missing = {name: why for unit in units for name, why in unit["missing"].items()}
    own = {name for name, defines in every.items() if defines and ".modeling_" in name}
    reasons: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for name, why in missing.items():
        text = re.sub(r"'[^']*'", "'..'", re.sub(r"\d+", "N", why["reason"]))[:120]
        reasons[why["kind"], text].append(name)
    ranked = sorted(reasons.items(), key=lambda one: (-len(one[1]), one[0]))
    return {
        "units": len(units),
        "found": len(every),
        "reached": len(every) - len(missing),
        "defining": len(own),
        "defining_reached": len(own - set(missing)),
        "model_types_run": len({kind for unit in units for kind in unit["model_types"]}),
        "model_types_tried": len({kind for unit in units for kind in unit["tried"]}),
        "seconds": round(sum(unit["seconds"] for unit in units), 1),
        "slowest": max((unit["seconds"] for unit in units), default=0),
        "reasons": [
            {
                "classes": len(names),
                "kind": kind,
                "reason": text,
                "families": dict(Counter(n.split(".")[2] for n in names).most_common(5)),
                "place": missing[names[0]]["place"],
            }
            for (kind, text), names in ranked
        ],
    }


def types_with_classes(units: list[dict[str, Any]]) -> tuple[int, int]:
    """Model types of transformers in whose folder a class was reached, of all."""
    from transformers.models.auto.auto_mappings import CONFIG_MAPPING_NAMES
    from transformers.models.auto.configuration_auto import model_type_to_module_name

    with_some = {u["unit"].rpartition(".")[2] for u in units if len(u["missing"]) < len(u["classes"])}
    kinds = [model_type_to_module_name(kind) for kind in CONFIG_MAPPING_NAMES]
    return sum(kind in with_some for kind in kinds), len(kinds)


def main() -> None:
    """Look at every unit, keep the results, print the ranking."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--library", default="transformers")
    parser.add_argument("--only", default="")
    parser.add_argument("--budget", type=float, default=20.0, help="seconds of processor time for one unit")
    parser.add_argument("--resume", type=Path, help="earlier results: units of which all is reached are kept")
    parser.add_argument("--minutes", type=float, default=600.0, help="after that, earlier results are kept")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    import torch

    from forwardbook.pipeline.catalogue.plan import planned

    transformers: Any = importlib.import_module("transformers")
    transformers.logging.set_verbosity_error()
    plan = planned(given.library, given.only)
    known: dict[str, Any] = {}
    if given.resume:
        known = {unit["unit"]: unit for unit in json.loads(given.resume.read_text())["units"]}
    gc.freeze()
    so_far = given.out.with_suffix(".partial")
    end = time.monotonic() + 60 * given.minutes
    todo = sorted(plan.units, key=lambda unit: unit.name in known)  # what nothing is known of first
    for unit in todo:
        before = known.get(unit.name)
        if before and (not before["missing"] or time.monotonic() > end):
            continue
        one = known[unit.name] = forked(unit, given.budget)
        print(unit.name, len(one["classes"]) - len(one["missing"]), len(one["classes"]), one["seconds"])
        sys.stdout.flush()
        so_far.write_text(json.dumps({"units": list(known.values())}), encoding="utf-8")
    so_far.write_text(json.dumps({"units": list(known.values())}), encoding="utf-8")
    units = [known[unit.name] for unit in plan.units]
    told = summary(units)
    if given.library == "transformers":
        told["model_types_with_classes"], told["model_types"] = types_with_classes(units)
    record = {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="minutes"),
        "command": "python " + " ".join([f"benchmarks/{Path(__file__).name}", *sys.argv[1:]]),
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, python {platform.python_version()}",
        "summary": told,
        "missing": {
            unit["unit"]: sorted(name.rpartition(".")[2] for name in unit["missing"])
            for unit in units
            if unit["missing"]
        },
    }
    given.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    for name in ("found", "reached", "defining", "defining_reached", "model_types_run", "seconds"):
        print(f"{name}: {told[name]}")
    for row in told["reasons"][:SHOWN]:
        print(f"{row['classes']:4d} {row['kind']}: {row['reason']} {row['families']} {row['place']}")


if __name__ == "__main__":
    main()
