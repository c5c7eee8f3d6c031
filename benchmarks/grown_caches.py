"""Counts stored regimes whose `boundary` may have a cache twice that the call extends; writes nothing.

    python benchmarks/grown_caches.py [--names]

A regime is named where its call writes bytes of a cache and its boundary has bytes of one: of a cache that
grows with `kv_len` (the old content was counted as written again), or of one whose size is fixed (windows,
states of convolutions and recurrences, of which only one of read and write was counted).
"""

from __future__ import annotations

import argparse
from collections import Counter
from typing import Literal

from forwardbook.formula import parse
from forwardbook.registry import Registry
from forwardbook.schema import Regime

WIDTH, HELD = "kv_dtype_bytes", "kv_len"
Kind = Literal["grown", "fixed"]


def kind_of(regime: Regime) -> Kind | None:
    """Whether its call extends a cache, or writes one of fixed size; None of any other."""
    written, boundary = (parse(regime.formula(name)) for name in ("writes", "boundary"))
    if WIDTH not in written.symbols() or WIDTH not in boundary.symbols():
        return None
    of_cache = written - written.subs({WIDTH: 0})
    return "grown" if HELD in of_cache.symbols() else "fixed"


def main() -> None:
    """Prints how many entries and regimes there are of each kind, and with --names which."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--names", action="store_true", help="print key and regime of each")
    names = parser.parse_args().names
    database = Registry().database
    regimes: Counter[str] = Counter()
    entries: Counter[str] = Counter()
    for key in database:
        if WIDTH not in str(database.raw(key)):
            continue
        kinds = [(regime.name, kind_of(regime)) for regime in database[key].regimes]
        found = [(name, kind) for name, kind in kinds if kind is not None]
        regimes.update(kind for _, kind in found)
        entries.update({kind for _, kind in found})
        for name, kind in found if names else ():
            print(f"{kind}\t{key}\t{name}")
    for one in sorted(regimes):
        print(f"{one}: {regimes[one]} regimes of {entries[one]} entries")
    print(f"{len(database)} entries in all")


if __name__ == "__main__":
    main()
