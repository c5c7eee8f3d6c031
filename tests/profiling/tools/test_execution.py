"""Tools run by scripts that stand for them: what is checked before, and what has to be there afterwards."""

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from forwardbook.profiling.tools.commands import ToolCommand, ncu_profile, nsys_profile
from forwardbook.profiling.tools.execution import ToolFailed, ToolMissing, run_tool
from forwardbook.profiling.tools.installed import ToolUnfit

from . import fake_tools

RAW = (
    '"ID","Process ID","Kernel Name","dram__bytes_read.sum","gpu__time_duration.sum"\n'
    '"","","","byte","nsecond"\n"0","1","gemm","1024","20"\n'
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for scripts that is first on the path."""
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    return tmp_path


def timeline(place: Path, instances: int = 1) -> ToolCommand:
    """The command for a timeline of decode."""
    return nsys_profile(["true"], str(place / "timeline"), "decode", instances)


def counters(place: Path, chip: str | None = "gh100", *asked: str) -> ToolCommand:
    """The command for counters of decode."""
    return ncu_profile(["true"], str(place / "kernels"), "decode/", chip, asked=asked)


def test_a_timeline_with_ranges(place: Path) -> None:
    """A fresh report whose export has ranges is the result; that it has no kernel is told."""
    export = fake_tools.export(place / "x.sqlite", ranges=2)
    fake_tools.nsys(place / "bin", f"echo report > $out.nsys-rep; cp {export} $out.sqlite")
    told: list[str] = []

    assert place / "timeline.nsys-rep" == run_tool(timeline(place), place, told.append)
    assert ["note: timeline.sqlite holds 2 ranges and no kernel: did anything run on a GPU?"] == told
    assert (place / "nsys.log").is_file()


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("exit 0", "no range that it waited for began"),
        ("echo 'Failed to launch'; exit 3", "exit code 3"),
        (": > $out.nsys-rep", "is empty"),
        ("echo report > $out.nsys-rep", "not its export timeline.sqlite"),
        ("echo report > $out.nsys-rep; echo nothing > $out.sqlite", "holds nothing"),
        ("echo x > $out.qdstrm", "timeline.qdstrm was left behind"),
    ],
)
def test_a_timeline_of_nothing(script: str, told: str, place: Path) -> None:
    """Whatever nsys leaves instead of a report with events is an error with its likely cause."""
    fake_tools.nsys(place / "bin", script)
    with pytest.raises(ToolFailed, match=told):
        run_tool(timeline(place), place, lambda text: None)


def test_an_export_without_events_is_nothing(place: Path) -> None:
    """A capture in which no range and no kernel was seen is an error."""
    export = fake_tools.export(place / "x.sqlite", ranges=0)
    fake_tools.nsys(place / "bin", f"echo report > $out.nsys-rep; cp {export} $out.sqlite")
    with pytest.raises(ToolFailed, match="holds nothing"):
        run_tool(timeline(place), place, lambda text: None)


def test_an_old_report_is_no_report(place: Path) -> None:
    """A report that was there before and was not written again is refused, however young it is."""
    fake_tools.nsys(place / "bin", "exit 0")
    (place / "timeline.nsys-rep").write_text("old")
    with pytest.raises(ToolFailed, match="older than this run"):
        run_tool(timeline(place), place, lambda text: None)


def test_fewer_instances_than_asked(place: Path) -> None:
    """Where the range began twice and four instances were asked for, the error says so."""
    fake_tools.nsys(place / "bin", "echo 1 > $out.1.nsys-rep; echo 2 > $out.2.nsys-rep")
    with pytest.raises(ToolFailed, match="began 2 times, not 4"):
        run_tool(timeline(place, 4), place, lambda text: None)


def test_options_follow_the_version(place: Path) -> None:
    """The environment is discarded where nsys can do that, and an option that it lacks is left out, aloud."""
    export = fake_tools.export(place / "x.sqlite", ranges=1)
    script = f"echo report > $out.nsys-rep; cp {export} $out.sqlite"
    options = fake_tools.NSYS_HELP.replace("--cuda-graph-trace= ", "") + " --discard-environment=\n"
    version = "NVIDIA Nsight Systems version 2031.1.1.9"
    fake_tools.nsys(place / "bin", script, version, options)
    told: list[str] = []
    run_tool(timeline(place), place, told.append)
    argv = json.loads((place / "nsys.argv.json").read_text())["argv"]

    assert "--discard-environment=true" in argv
    assert [] == [one for one in argv if one.startswith("--cuda-graph-trace")]
    assert "note: nsys 2031.1.1.9 has no --cuda-graph-trace: left out" in told
    assert "nsys 2031.1.1.9 was never tried" in told[0]


@pytest.mark.parametrize(
    ("version", "options", "told"),
    [
        ("some other program", fake_tools.NSYS_HELP, "it said some other program"),
        ("Nsight Systems version 2019.5.2", "\n--trace= --output=\n", "has no .*--nvtx-capture"),
    ],
)
def test_a_tool_that_does_not_do(version: str, options: str, told: str, place: Path) -> None:
    """A program that is no nsys, or one without what the command needs, is refused before it runs."""
    fake_tools.nsys(place / "bin", "echo ran > $out.ran", version, options)
    with pytest.raises(ToolUnfit, match=told):
        run_tool(timeline(place), place)

    assert not (place / "timeline.ran").exists()


def test_counters_become_a_page(place: Path) -> None:
    """The report of ncu is printed as CSV in base units, and counts launches."""
    (place / "page.csv").write_text(RAW)
    fake_tools.ncu(
        place / "bin", "echo x > $out.ncu-rep", fake_tools.listed("gh100"), f"cat {place}/page.csv; exit 0"
    )
    told: list[str] = []

    assert place / "kernels.ncu-rep" == run_tool(counters(place), place, told.append)
    assert [f"wrote {place / 'kernels.raw.csv'}"] == told
    assert RAW == (place / "kernels.raw.csv").read_text()


@pytest.mark.parametrize(
    ("script", "page", "told"),
    [
        ("echo '==ERROR== ERR_NVGPUCTRPERM'; exit 1", "exit 1", "needs rights"),
        ("echo '==ERROR== failed to connect to the CUDA driver'; exit 1", "exit 1", "no GPU or no driver"),
        ("echo '==WARNING== No kernels were profiled.'", "exit 1", "no kernel matched"),
        ("echo x > $out.ncu-rep", "echo '==WARNING== No kernels were profiled.'; exit 0", "has no launch"),
    ],
)
def test_counters_of_nothing(script: str, page: str, told: str, place: Path) -> None:
    """What ncu says when it measured nothing is an error with its likely cause."""
    fake_tools.ncu(place / "bin", script, fake_tools.listed("gh100"), page)
    with pytest.raises(ToolFailed, match=told):
        run_tool(counters(place), place, lambda text: None)


def test_counters_that_a_chip_lacks(place: Path) -> None:
    """One of ours is left out aloud, as tensor operations in ncu 2022.3; one asked for is an error."""
    names = [line for line in fake_tools.listed("gh100").splitlines() if "ops_path_tensor" not in line]
    (place / "page.csv").write_text(RAW)
    fake_tools.ncu(place / "bin", "echo x > $out.ncu-rep", "\n".join(names), f"cat {place}/page.csv; exit 0")
    told: list[str] = []
    run_tool(counters(place), place, told.append)
    argv = json.loads((place / "ncu.argv.json").read_text())["argv"]

    assert "ops_path_tensor" not in argv[argv.index("--metrics") + 1]
    assert 4 == len([line for line in told if "left out, unknown afterwards" in line])
    with pytest.raises(ToolUnfit, match=r"flop_count_hp(.|\n)*near dram__byte_read.sum: dram__bytes_read"):
        run_tool(counters(place, "gh100", "flop_count_hp", "dram__byte_read.sum"), place, told.append)


def test_an_export_loses_the_environment(place: Path) -> None:
    """Values of variables are taken out of the export, names of ranges stay though they look like one."""
    export = fake_tools.export(place / "x.sqlite", ranges=1)
    with closing(sqlite3.connect(export)) as base:
        base.execute("insert into StringIds values (1, 'API_KEY=swordfish'), (2, 'STEP=1'), (3, 'gemm')")
        base.execute("update NVTX_EVENTS set text = null, textId = 2")
        base.commit()
    fake_tools.nsys(place / "bin", f"echo report > $out.nsys-rep; cp {export} $out.sqlite")
    told: list[str] = []
    run_tool(timeline(place), place, told.append)
    with closing(sqlite3.connect(place / "timeline.sqlite")) as base:
        strings = [value for (value,) in base.execute("select value from StringIds order by id")]

    assert ["API_KEY=", "STEP=1", "gemm"] == strings
    assert b"swordfish" not in (place / "timeline.sqlite").read_bytes()
    assert "timeline.nsys-rep holds 1 environment variables" in told[-1]


def test_a_missing_tool_names_its_plan(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the tool the plan is there, and the error says where."""
    monkeypatch.setenv("PATH", str(place))
    with pytest.raises(ToolMissing, match="ncu.argv.json"):
        run_tool(counters(place), place)

    assert "ncu" == json.loads((place / "ncu.argv.json").read_text())["argv"][0]


def test_the_workload_sees_little(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the tool and the workload find in the environment is from a fixed list."""
    monkeypatch.setenv("MY_TOKEN", "secret")
    export = fake_tools.export(place / "x.sqlite", ranges=1)
    fake_tools.nsys(place / "bin", f"env > {place}/seen; echo x > $out.nsys-rep; cp {export} $out.sqlite")
    run_tool(timeline(place), place, lambda text: None)

    assert "MY_TOKEN" in os.environ
    assert "MY_TOKEN" not in (place / "seen").read_text()
