"""Command lines of the tools: what they hold, what they keep away, and what is checked afterwards."""

import gzip
import json
import stat
from pathlib import Path

import pytest

from forwardbook.profiling.tools.commands import (
    CHIPS,
    TENSOR,
    ToolCommand,
    UnknownChip,
    metrics_for,
    ncu_profile,
    nsys_profile,
)
from forwardbook.profiling.tools.execution import ToolFailed, ToolMissing, run_tool
from forwardbook.profiling.tools.installed import base

LISTED = Path(__file__).parents[2] / "profiles" / "ncu_metric_base_names_2024.1.1.json.gz"


def test_environment_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """What nsys would write into its report does not hold what it should not."""
    monkeypatch.setenv("MY_TOKEN", "secret")
    found = nsys_profile(["python"], "x", "decode@forwardbook", 4)

    assert ("MY_TOKEN" in found.environment, "C") == (False, found.environment["LC_ALL"])
    assert ("x.1.nsys-rep", True) == (found.report, "--capture-range-end=repeat:4" in found.arguments)


def test_counters_exist_on_their_chip() -> None:
    """No counter is asked for that only older tools had, and each chip has its own of tensor cores."""
    assert all("flop_count" not in name for chip in TENSOR for name in metrics_for(chip))
    assert all(any("bf16" in name for name in TENSOR[chip]) for chip in ("ga100", "ad102", "gh100"))
    assert [] == [name for name in metrics_for(None) if "tensor" in name]
    with pytest.raises(UnknownChip, match="did you mean gh100"):
        metrics_for("gh10")


def test_counters_are_those_that_ncu_lists() -> None:
    """Every counter that is asked for on a chip is in the list that ncu 2024.1.1 prints for it."""
    listed = json.loads(gzip.decompress(LISTED.read_bytes()))

    assert set(TENSOR) == set(CHIPS.values()) == set(listed)
    for chip in TENSOR:
        assert [] == [name for name in metrics_for(chip) if base(name) not in set(listed[chip])]


def test_kernels_are_named_exactly() -> None:
    """ncu is given mangled names and leaves clocks and caches alone."""
    arguments = ncu_profile(["python"], "k", "decode/", "gh100", "_Z3k1v", 20, 3).arguments

    assert ("mangled", "_Z3k1v", "none", "20") == tuple(
        arguments[arguments.index(flag) + 1]
        for flag in ("--kernel-name-base", "--kernel-name", "--clock-control", "--launch-skip")
    )


def test_a_missing_tool_leaves_its_plan(tmp_path: Path) -> None:
    """Without the tool there is an error, and a file with what would have run."""
    command = ToolCommand("no-such-tool", ("no-such-tool", "x y"), {}, "r")
    with pytest.raises(ToolMissing, match="not installed"):
        run_tool(command, tmp_path)

    assert ["no-such-tool", "x y"] == json.loads((tmp_path / "no-such-tool.argv.json").read_text())["argv"]


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("exit 0", "no range that it waited for began"),
        ("echo '==ERROR== ERR_NVGPUCTRPERM'; exit 1", "needs rights"),
        (": > $1", "is empty"),
    ],
)
def test_silent_emptiness_is_an_error(
    script: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tool that exits with 0 and leaves nothing, or fails, is a named error with its likely cause."""
    tool = tmp_path / "fake-tool"
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    report = str(tmp_path / "out.rep")
    with pytest.raises(ToolFailed, match=told):
        run_tool(ToolCommand("fake-tool", (str(tool), report), {"PATH": "/usr/bin:/bin"}, report), tmp_path)
