"""Writes down what the shipped database proves: verdicts, regimes, points, judges, by library.

    python benchmarks/core_record.py > benchmarks/results/core.json

The entries were made by `python benchmarks/prove_core.py`.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from importlib.metadata import version
from pathlib import Path

from forwardbook.workspace.database_file import database_in

DATABASE = Path(__file__).resolve().parent.parent / "module_db.json"


def main() -> None:
    database = database_in(DATABASE)
    entries = {key: database[key].model_dump(mode="json") for key in database}
    libraries: dict[str, Counter[str]] = {}
    judges: dict[str, Counter[str]] = {}
    for entry in entries.values():
        count = libraries.setdefault(entry["library"], Counter())
        count[entry["validation"]["verdict"]] += 1
        count["classes"] += 1
        count["also read from source, identical"] += "static" in entry["derived_by"]
        for regime in entry["regimes"]:
            proof = regime["proof"]
            count["regimes"] += 1
            count["proof points stored"] += len(proof["points"])
            count["lines checked"] += proof["lines_checked"]
            for judge in proof["judges"]:
                asked = judges.setdefault(f"{judge['name']}: {judge['quantity']}", Counter())
                asked["agreed"] += judge["agreed"]
                asked["asked"] += judge["asked"]
    record = {
        "command": "python benchmarks/prove_core.py; python benchmarks/core_record.py",
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
        "torch": version("torch").partition("+")[0],
        "transformers": version("transformers"),
        "libraries": libraries,
        "judges": judges,
        "classes": {e["full_class_name"]: e["validation"]["verdict"] for e in entries.values()},
    }
    print(json.dumps(record, indent=1, sort_keys=True))


if __name__ == "__main__":
    main()
