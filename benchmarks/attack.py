"""Every attack on the product, one after another: hostile sources and databases, false claims, fuzz, kills.

    python -m benchmarks.attack

Each part runs in a process of its own and writes its own figures under results/; exit code 1 where anything
got through. It takes hours on two cores; name parts to run only these.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from typing import Final

PARTS: Final = {
    "databases": ("attack_databases",),
    "terminal": ("attack_terminal",),
    "sources": ("attack_sources",),
    "formulas": ("attack_formulas", "--count", "20000"),
    "claims": ("attack_claims", "--count", "500"),
    "kills": ("kills", "--kills", "100"),
}


def main() -> int:
    """Run the parts, say how each ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="*", help=f"{', '.join(PARTS)}; by default all")
    parts = parser.parse_args().part or list(PARTS)
    if unknown := [part for part in parts if part not in PARTS]:
        parser.error(f"no part is named {', '.join(unknown)}; there are {', '.join(PARTS)}")
    failed = []
    for part in parts:
        start = time.monotonic()
        module, *rest = PARTS[part]
        code = subprocess.run([sys.executable, "-m", f"benchmarks.{module}", *rest], check=False).returncode
        print(f"{part}: {'held' if code == 0 else f'exit code {code}'}, {time.monotonic() - start:,.0f} s")
        failed += [part] if code else []
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
