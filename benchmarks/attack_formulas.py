"""Fuzzed formulas against the parser: each is parsed within a second of the processor, or refused.

What is parsed is evaluated too, and short ones are printed and parsed again: both must give the same.
Run it with `python -m benchmarks.attack_formulas --count 20000`; it writes results/attack_formulas.json.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from forwardbook.errors import FormulaError
from forwardbook.formula import parse

RESULT = Path(__file__).parent / "results" / "attack_formulas.json"
LONGEST = 10_000
SECONDS = 1.0
NAMES = tuple(f"{{v{number}}}" for number in range(40))
WORDS = (
    "{a}",
    "{b.c}",
    "{",
    "}",
    "(",
    ")",
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    ",",
    "min(",
    "max(",
    "floor(",
    "ceil(",
)
OTHERS = (
    "==",
    "<",
    "0",
    "7",
    "9" * 99,
    "**",
    "lambda:",
    "__import__('os')",
    "\x00",
    "é",
    "٣",
    "\n",
    "\ud800",
)


def text(rng: random.Random) -> tuple[str, str]:
    """A kind of formula, and one of at most `LONGEST` characters."""
    kind, made = rng.choice([*KINDS.items()])
    return kind, made(rng)[:LONGEST]


def _name(rng: random.Random) -> str:
    return rng.choice(NAMES)


def _sum(rng: random.Random, terms: int) -> str:
    return "+".join(f"{rng.choice(('', '-'))}{rng.randint(1, 9)}*{_name(rng)}" for _ in range(terms))


def _product(rng: random.Random) -> str:
    terms = rng.choice((2, 2, 3, 4, 6))
    return "*".join(f"({_sum(rng, terms)})" for _ in range(rng.randint(2, 60)))


def _power(rng: random.Random) -> str:
    one = f"({_sum(rng, rng.randint(2, 5))}+1)"
    return "*".join([one] * rng.randint(2, 60))


def _rounded(rng: random.Random) -> str:
    op = rng.choice(("//", "%"))
    return op.join(f"({_sum(rng, rng.randint(1, 6))})" for _ in range(rng.randint(2, 90)))


def _quotient(rng: random.Random) -> str:
    above, below = (
        "*".join(f"({_name(rng)}+{_name(rng)})" for _ in range(rng.randint(1, 12))) for _ in range(2)
    )
    return f"floor({above} / ({below}))"


def _extreme(rng: random.Random) -> str:
    name, count = rng.choice(("min", "max")), rng.choice((2, 5, 20, 32, 33, 200))
    return f"{name}({','.join(_sum(rng, rng.randint(1, 12)) for _ in range(count))})"


def _extremes(rng: random.Random) -> str:
    op = rng.choice("+*-")
    each = (
        f"max({_name(rng)},{_name(rng)}-{_name(rng)},{rng.randint(1, 9)})" for _ in range(rng.randint(2, 80))
    )
    return op.join(each)


def _deep(rng: random.Random) -> str:
    found = _name(rng)
    for _ in range(rng.randint(1, 38)):
        other = _name(rng)
        found = rng.choice(
            (
                f"floor(({found}+{other})/{rng.randint(2, 9)})",
                f"max({found}-{other},{rng.randint(0, 99)})",
                f"ceil(({found})*{other}/{_name(rng)})",
                f"({found}+{other})*({other}-1)",
                f"({found})%{other}",
            )
        )
    return found


def _doubled(rng: random.Random) -> str:
    found = _name(rng)
    while len(found) < rng.choice((100, 1000, 4000)):
        found = rng.choice(
            (f"({found}+floor({found}/{rng.randint(2, 9)}))", f"max({found},2*{found}-{_name(rng)})")
        )
    return found


def _large(rng: random.Random) -> str:
    return "*".join(f"({'9' * 99}*{_name(rng)}+{'7' * 98})" for _ in range(rng.randint(2, 45)))


def _words(rng: random.Random) -> str:
    return "".join(rng.choice((*WORDS, *OTHERS)) for _ in range(rng.randint(0, 60)))


def _bytes(rng: random.Random) -> str:
    return bytes(rng.randrange(256) for _ in range(rng.randrange(80))).decode("latin-1")


def _nested(rng: random.Random) -> str:
    return rng.choice(("(", "min(", "-", "floor(", "max({a},")) * rng.randint(1, LONGEST)


KINDS: dict[str, Callable[[random.Random], str]] = {
    "product of sums": _product,
    "power of a sum": _power,
    "divisions and remainders": _rounded,
    "quotient of products": _quotient,
    "extreme of many": _extreme,
    "many extremes": _extremes,
    "deep": _deep,
    "repeated": _doubled,
    "large numbers": _large,
    "words": _words,
    "bytes": _bytes,
    "nested": _nested,
}


def attack(count: int, seed: int) -> dict[str, Any]:
    """So many formulas: what became of them, the slowest, and each that broke a promise."""
    rng = random.Random(seed)
    outcomes, kinds, faults = Counter[str](), Counter[str](), list[str]()
    slowest: dict[str, float] = {}
    gc.disable()  # what thousands of formulas before left is not the time of one
    for number in range(count):
        kind, given = text(rng)
        kinds[kind] += 1
        began = time.thread_time()
        try:
            value, outcome = parse(given), "parsed"
        except FormulaError:
            value, outcome = None, "refused"
        except Exception as error:  # noqa: BLE001 - it is what is looked for
            value, outcome = None, "another exception"
            faults.append(f"{type(error).__name__}: {given[:200]!r}")
        took = time.thread_time() - began
        slowest[kind] = max(slowest.get(kind, 0.0), took)
        if took > SECONDS:
            faults.append(f"{took:.2f} s: {given[:200]!r}")
        if value is not None and len(value.terms) < 60 and not _same(value, given, rng):
            faults.append(f"printed otherwise: {given[:200]!r}")
        outcomes[outcome] += 1
        if number % 500 == 499:
            gc.collect()
        if number % 2000 == 1999:
            print(f"{number + 1}/{count}: {dict(outcomes)}, {len(faults)} faults", flush=True)
    return {
        "formulas": count,
        "kinds": kinds,
        "outcomes": outcomes,
        "slowest, cpu seconds": {kind: round(value, 3) for kind, value in slowest.items()},
        "faults": faults,
    }


def _same(value: Any, given: str, rng: random.Random) -> bool:
    """Whether what is printed has the same value, where it can be printed and has one."""
    try:
        again = parse(value.text())
        sizes = {name: rng.randint(1, 10**6) for name in value.symbols()}
        return bool(again.evaluate(sizes) == value.evaluate(sizes))
    except FormulaError:
        return True


def main() -> None:
    """The figures, also as a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    found = {
        "command": f"python -m benchmarks.attack_formulas --count {given.count} --seed {given.seed}",
        **attack(given.count, given.seed),
    }
    RESULT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1))
    sys.exit(bool(found["faults"]))


if __name__ == "__main__":
    main()
