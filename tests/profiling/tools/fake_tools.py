"""Executables that stand for nsys and ncu: they print what the real ones printed, and leave what is asked."""

from __future__ import annotations

import gzip
import json
import sqlite3
from pathlib import Path

PROFILES = Path(__file__).parents[2] / "profiles"
NSYS_HELP = """
\t--capture-range= --capture-range-end= --cpuctxsw= --cuda-graph-trace= -e, --env-var= --export=
\t-f, --force-overwrite= --nvtx-capture= -o, --output= -s, --sample= -t, --trace=
"""
NCU_HELP = """
  --target-processes arg   --nvtx   --nvtx-include arg   --kernel-name-base arg   -k [ --kernel-name ] arg
  -s [ --launch-skip ] arg   -c [ --launch-count ] arg   --replay-mode arg   --clock-control arg
  --cache-control arg   --metrics arg   -f [ --force-overwrite ]   -o [ --export ] arg   --graph-profiling arg
"""
NSYS_VERSION = "NVIDIA Nsight Systems version 2023.4.4.54-234433681190v0"
NCU_VERSION = (
    "NVIDIA (R) Nsight Compute Command Line Profiler\\nCopyright (c) 2018-2024 NVIDIA Corporation\\n"
    "Version 2024.1.1.0 (build 33998838) (public-release)"
)


def nsys(folder: Path, profile: str, version: str = NSYS_VERSION, options: str = NSYS_HELP) -> Path:
    """An nsys whose `profile` runs these lines of shell; $out is where its report goes."""
    return _tool(
        folder,
        "nsys",
        f"""case "$1 $2" in
"--version ") printf '{version}\\n'; exit 0;;
"profile --help") cat <<'TEXT'{options}TEXT
exit 0;;
esac
{_OUT}
{profile}""",
    )


def ncu(
    folder: Path,
    profile: str,
    listed: str = "",
    page: str = "exit 1",
    version: str = NCU_VERSION,
    options: str = NCU_HELP,
) -> Path:
    """An ncu that lists these counters for every chip, prints a page of a report, and profiles by shell."""
    return _tool(
        folder,
        "ncu",
        f"""case "$1" in
--version) printf '{version}\\n'; exit 0;;
--help) cat <<'TEXT'{options}TEXT
exit 0;;
--query-metrics) cat <<'TEXT'
{listed}
TEXT
exit 0;;
--import) {page};;
esac
{_OUT}
{profile}""",
    )


_OUT = 'while [ $# -gt 0 ]; do [ "$1" = -o ] && out="$2"; shift; done'


def listed(chip: str) -> str:
    """The counters of a chip as ncu lists them."""
    names = json.loads(gzip.decompress((PROFILES / "ncu_metric_base_names_2024.1.1.json.gz").read_bytes()))[
        chip
    ]
    return "\n".join(f"{name}      Counter      # of something" for name in names)


def export(path: Path, ranges: int) -> Path:
    """An export of nsys with some ranges and no kernel."""
    base = sqlite3.connect(path)
    base.execute("create table StringIds (id integer primary key, value text)")
    base.execute(
        "create table NVTX_EVENTS (start integer, end integer, eventType integer, text text, textId integer, "
        "domainId integer, globalTid integer)"
    )
    for number in range(ranges):
        base.execute(
            "insert into NVTX_EVENTS values (?, ?, 59, 'decode', null, 0, 1)", (number * 10, number * 10 + 5)
        )
    base.commit()
    base.close()
    return path


def _tool(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path
