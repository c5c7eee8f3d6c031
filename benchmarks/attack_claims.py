"""False claims against the checker of claims: right formulas with one hidden term added, dropped or changed.

Each mutation is false at some sizes and right at small ones, or wherever a checker might be expected to look.
Run it with `python -m benchmarks.attack_claims --count 500 --seed 0`; it writes results/attack_claims.json.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.attacked_classes import CLASSES, Attacked

from forwardbook.analyzers.instances.recipe import InstanceOptions, Recipe
from forwardbook.analyzers.instances.recipes import recipes_for
from forwardbook.formula import FormulaError, parse
from forwardbook.profiling.claim import PER_LINE, WHOLE, Claim
from forwardbook.profiling.claim_judged import Judged
from forwardbook.profiling.claimed import hold
from forwardbook.schema import PROVED

RESULT = Path(__file__).parent / "results" / "attack_claims.json"
SIZES = ("batch_size", "seq_len", "hidden_size")


@dataclass(frozen=True)
class Mutant:
    """A false claim: of which class, what was done to it, where."""

    attacked: Attacked
    kind: str
    where: str
    change: str
    claim: Mapping[str, Any]


def hidden_terms(rng: random.Random, names: tuple[str, ...]) -> Iterator[str]:
    """Terms that are zero at small sizes, at most sizes, or at all sizes that are usual."""
    n, m = (f"{{{name}}}" for name in rng.sample(names, 2))
    far = rng.choice((rng.randint(97, 4095), rng.randint(4097, 9000), rng.randint(100_001, 400_000)))
    near, wide = rng.randint(2, 12), rng.randint(1, 9)
    yield f"floor({n} / {far}) * {m}"
    yield f"ceil({n} / {far}) - 1"
    yield f"max(0, {n} - {far}) * {m}"
    yield f"({n} - {n} % {far})"
    yield f"(1 - min(1, ({n} - {far}) * ({n} - {far})))"
    yield f"max(0, min({n} - {far}, {far + wide + 1} - {n}))"
    yield f"max(0, {n} - {far}) * max(0, {m} - {near * 100})"
    yield f"max(0, {n} - {far}) * max(0, {far + wide + 1} - {n})"
    yield "*".join(f"({n} - {root})" for root in range(near, near + wide))
    yield f"({n} - {near}) * ({n} - {near + 1}) * ({m} - {wide}) * ({m} - {near})"
    yield f"max(0, 2 - {n}) * {m}"
    yield f"(min({n}, {far}) - {n})"
    yield f"floor({n} * {m} / {far * 50})"
    yield f"floor({{a_dtype_bytes}} / {rng.choice((6, 8, 16))}) * {m}"
    yield f"max(0, {{w_dtype_bytes}} - {rng.choice((5, 8))}) * {n}"
    yield f"(floor({n} / {far}) - floor({n} / {far + 1}))"
    yield f"floor({far} / {n}) * floor({n} / {far})"
    yield f"{n} // (1 + ({n} - {far}) * ({n} - {far}) * ({m} - 1)) * ({m} - 1)"
    yield f"max(0, {n} - {far} * {m})"
    yield f"floor({n} / {10**9 + far})"


def _places(claim: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Lines and quantities that a term can be put into; -1 for the whole."""
    return [
        *((at, quantity) for at, _ in enumerate(claim["lines"]) for quantity in PER_LINE),
        *((-1, quantity) for quantity in WHOLE),
    ]


def _with(claim: Mapping[str, Any], at: int, quantity: str, text: str) -> dict[str, Any]:
    if at < 0:
        return {**claim, quantity: text}
    lines = [{**line, quantity: text} if place == at else line for place, line in enumerate(claim["lines"])]
    return {**claim, "lines": lines}


def _text(claim: Mapping[str, Any], at: int, quantity: str) -> str:
    return str((claim if at < 0 else claim["lines"][at]).get(quantity, "0"))


def mutant(rng: random.Random) -> Mutant:
    """A false claim."""
    while True:
        attacked = rng.choice(CLASSES)
        claim = attacked.claim
        at, quantity = rng.choice(_places(claim))
        before = _text(claim, at, quantity)
        kind = rng.choice(("added", "added", "dropped", "changed"))
        if kind == "added":
            change = rng.choice([*hidden_terms(rng, attacked.names)])
            after = f"{before} {rng.choice('+-')} {change}"
        elif kind == "dropped":
            some = [(a, b) for a, b in attacked.dropped if a in before]
            if not some:
                continue
            old, new = rng.choice(some)
            change, after = f"{old} -> {new}", before.replace(old, new)
        else:
            some = [(a, b) for a, b in attacked.changed if a in before]
            term = rng.choice([*hidden_terms(rng, attacked.names)])
            some.append(("", f"({before}) * (1 + {term})"))
            old, new = rng.choice(some)
            change, after = f"{old} -> {new}", before.replace(old, new) if old else new
        where = f"line {claim['lines'][at]['line']}" if at >= 0 else "whole"
        if differs(before, after, rng, attacked.names):
            return Mutant(attacked, kind, f"{where}, {quantity}", change, _with(claim, at, quantity, after))


def differs(before: str, after: str, rng: random.Random, names: tuple[str, ...]) -> bool:
    """Whether two formulas have other values at some sizes: else nothing is false."""
    try:
        left, right = parse(before), parse(after)
    except FormulaError:
        return False
    if left == right:
        return False
    constants = [c for c in map(int, _numbers(after + before)) if c > 1]
    for _ in range(4000):
        point = {name: _size(rng, constants) for name in names}
        point |= {n: rng.choice((1, 2, 4, 8, 16)) for n in ("w_dtype_bytes", "a_dtype_bytes")}
        point["steps"] = rng.randrange(5)
        try:
            if left.evaluate(point) != right.evaluate(point):
                return True
        except FormulaError:
            continue
    return False


def _size(rng: random.Random, constants: list[int]) -> int:
    if constants and rng.random() < 0.5:
        return max(1, rng.choice(constants) + rng.randint(-2, 9))
    return int(2 ** rng.uniform(0, 34))


def _numbers(text: str) -> list[str]:
    return "".join(one if one.isdigit() else " " for one in text).split()


def recipes(folder: Path) -> dict[str, Recipe]:
    """A way to build and call each class, written into a folder."""
    found: dict[str, Recipe] = {}
    sys.path.insert(0, str(folder))
    for one in CLASSES:
        (folder / f"{one.name}.py").write_text(one.code, encoding="utf-8")
        options = InstanceOptions(inputs={"x": "batch_size,seq_len,hidden_size"}, root=folder)
        found[one.name] = recipes_for(f"{one.name}.{one.name.title()}", options)[0]
    return found


def judged(
    one: Attacked, claim: Mapping[str, Any], ways: Mapping[str, Recipe], seed: int
) -> tuple[str, Judged]:
    """The verdict of the checker, and all it has to say."""
    value = Claim.model_validate(claim)
    way = ways[one.name]
    found = hold(way, value, seed, str(sys.modules[way.calls_as.rpartition(".")[0]].__file__))
    return found.verdict(value), found


def attack(count: int, seed: int, folder: Path) -> dict[str, Any]:
    """So many false claims, and the right ones: what became of them."""
    rng = random.Random(seed)
    ways = recipes(folder)
    right: dict[str, str] = {}
    for one in CLASSES:
        verdict, found = judged(one, one.claim, ways, seed)
        right[one.name] = (
            verdict if verdict in PROVED else f"{verdict}: {found.reason} {found.differences[:3]}"
        )
        print(f"{one.name}: {right[one.name]}, {len(found.points)} points", flush=True)
    kinds, how, stored = Counter[str](), Counter[str](), list[dict[str, str]]()
    for number in range(count):
        made = mutant(rng)
        kinds[made.kind] += 1
        try:
            verdict, found = judged(made.attacked, made.claim, ways, seed + number)
        except ValueError:  # a formula that is longer, or grows faster, than a claim may say
            how["not a claim"] += 1
            continue
        how[
            "measured otherwise" if verdict == "wrong" else "refused by name" if found.reason else "stored"
        ] += 1
        if verdict in PROVED:
            told = {"class": made.attacked.name, "where": made.where, "change": made.change}
            stored.append(told)
            print("STORED", told, flush=True)
        if number % 10 == 9:
            print(f"{number + 1}/{count}: {dict(how)}", flush=True)
    return {"right claims": right, "false claims": count, "kinds": kinds, "outcomes": how, "stored": stored}


def main() -> None:
    """The figures, also as a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    began = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        found = attack(given.count, given.seed, Path(folder))
    command = f"python -m benchmarks.attack_claims --count {given.count} --seed {given.seed}"
    found = {"command": command, "cpu seconds": round(time.process_time() - began), **found}
    RESULT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1))
    sys.exit(bool(found["stored"]))


if __name__ == "__main__":
    main()
