"""Costs of classes of torch and transformers as a person writes them down, each held against a run.

    OMP_NUM_THREADS=1 python -m benchmarks.hand_formulas [--only Llama]

What the formulas are for: those that forwardbook writes are to be equal, and hardly longer. The cases stand
in hand/, by kind of class. Each class is built on the CPU at two assignments of small sizes and called once:
flops are those of torch's FlopCounterMode, weights those that an operation took, pointwise operations counted
by the table of docs/rules.md. Prints a table; exits 1 where a formula and a run differ.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from typing import Final

from benchmarks.hand import audio, convolutions, decoders, encoders, experts, state_space, torch_nn, vision
from benchmarks.hand.case import Case
from benchmarks.publishing import table

GROUPS: Final = (torch_nn, convolutions, decoders, experts, encoders, vision, audio, state_space)
CASES: Final[tuple[Case, ...]] = tuple(case for group in GROUPS for case in group.CASES)


def differences(case: Case) -> list[str]:
    """Where the formulas of a case are not what its class did; empty if nowhere."""
    from benchmarks.hand.runs import compare

    found = []
    for place in range(len(case.points)):
        for quantity, (formula, run) in compare(case, place).items():
            if formula != run:
                found.append(f"{quantity} at {dict(case.sizes(place))}: formula {formula}, run {run}")
    return found


def row(case: Case) -> list[str]:
    """A line of the table."""
    name = case.name.rpartition(".")[2] + ("" if case.call == "default" else f", {case.call}")
    terms = "; ".join(f"{{{defined}}} = {text}" for defined, text in case.definitions.items())
    others = ", ".join(quantity for quantity in case.formulas if quantity != "flops")
    return [name, case.flops, terms, f"{case.length} ({case.full_length})", others, case.judge]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs all cases; the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="cases whose class has this in its full name")
    only = parser.parse_args(arguments).only
    chosen = [case for case in CASES if only in case.name]
    warnings.filterwarnings("ignore")
    wrong = {f"{case.name}, {case.call}": found for case in chosen if (found := differences(case))}
    header = ["class, call", "flops", "where", "characters (with what it abbreviates)", "also", "checked by"]
    print(table(header, [row(case) for case in chosen]))
    classes = len({case.name for case in chosen})
    print(f"\n{len(chosen)} calls of {classes} classes, {len(wrong)} differ from a run")
    for name, found in wrong.items():
        print(f"{name}:", *found, sep="\n  ")
    return 1 if wrong or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
