"""Readers of Nsight Compute: pages, units, locales, noise and what was not collected."""

from pathlib import Path

import pytest

from forwardbook.profiling.readers.anything import read_report
from forwardbook.profiling.readers.ncu_csv import read_ncu_csv
from forwardbook.profiling.readers.numerals import STYLES, style_of
from forwardbook.profiling.readers.problem import NothingCaptured, ReportUnreadable
from forwardbook.profiling.readers.ranges import range_stack
from forwardbook.profiling.readers.units import base_unit

PROFILES = Path(__file__).parents[2] / "profiles"
KERNELS = sorted((PROFILES / "ncu").glob("*kernel_*.csv"))
DETAILS = PROFILES / "ncu" / "llmperfopt_rtx5090_kernel_0016_details.csv"

RAW = (
    '"ID","Process ID","Kernel Name","Block Size","Grid Size","Device","CC","dram__bytes_read.sum",'
    '"gpu__time_duration.sum"\n'
    '"","","","","","","","{unit}","{time}"\n'
    '"0","1","gemm","(128, 1, 1)","(152, 4, 1)","0","9.0","{bytes}","{duration}"\n'
)
LONG = '"ID","Process ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value"\n'


def raw(unit: str = "byte", amount: str = "3350000", time: str = "ns", duration: str = "23420") -> str:
    """A page `raw` of one launch."""
    return RAW.format(unit=unit, bytes=amount, time=time, duration=duration)


def test_units_of_one_column_differ_by_row() -> None:
    """Megabytes and kilobytes side by side both come out in bytes."""
    launch = read_ncu_csv(DETAILS.read_text(), "x").launches[0]

    assert (63_770_000, 197_380) == (
        launch.value("dram__bytes_read.sum"),
        launch.value("dram__bytes_write.sum"),
    )


def test_not_available_is_not_zero() -> None:
    """`n/a` is a counter without a number, a counter that was not asked for is absent, 0 is 0."""
    launch = read_ncu_csv(
        (DETAILS.parent / "llmperfopt_rtx5090_kernel_0003_details.csv").read_text(), "x"
    ).launches[0]

    assert ("flop_count_hp.sum" in launch.metrics, launch.value("flop_count_hp.sum")) == (True, None)
    assert ("lts__t_bytes.sum" in launch.metrics, launch.value("lts__t_bytes.sum")) == (False, None)
    assert 0 == launch.value("dram__bytes_write.sum")


def test_one_label_in_two_sections_is_two_counters() -> None:
    """`Memory Throughput` in percent and in bytes per second do not overwrite each other."""
    metrics = read_ncu_csv(DETAILS.read_text(), "x").launches[0].metrics

    assert ("%", "byte/second") == (
        metrics["Memory Throughput"].unit,
        metrics["Memory Workload Analysis: Memory Throughput"].unit,
    )


@pytest.mark.parametrize(
    ("unit", "amount"), [("byte", "3350000"), ("Kbyte", "3350"), ("Mbyte", "3.35"), ("Gbyte", "0.00335")]
)
def test_units_are_decimal(unit: str, amount: str) -> None:
    """The same bytes in any unit are the same whole number."""
    value = read_ncu_csv(raw(unit, amount), "x").launches[0].value("dram__bytes_read.sum")

    assert (3_350_000, int) == (value, type(value))


@pytest.mark.parametrize(
    ("unit", "amount"),
    [("ns", "23420"), ("nsecond", "23420"), ("us", "23.42"), ("usecond", "23.42"), ("ms", "0.02342")],
)
def test_times_of_all_versions(unit: str, amount: str) -> None:
    """Units of time are read as the old versions spell and the new ones abbreviate them."""
    launch = read_ncu_csv(raw(time=unit, duration=amount), "x").launches[0]

    assert pytest.approx(23.42e-6) == launch.value("gpu__time_duration.sum")


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("Gbyte/second", ("byte/second", 10**9)),
        ("Gbyte/s", ("byte/second", 10**9)),
        ("cycle/nsecond", ("hertz", 10**9)),
        ("Ghz", ("hertz", 10**9)),
        ("inst/cycle", ("inst/cycle", 1)),
        ("Kbyte/block", ("byte/block", 1000)),
        ("%", ("%", 1)),
        ("register/thread", ("register/thread", 1)),
        ("", ("", 1)),
    ],
)
def test_units(unit: str, expected: tuple[str, int]) -> None:
    """Units that scale are scaled; others stay as they are."""
    assert expected == base_unit(unit)


@pytest.mark.parametrize(
    ("texts", "name"),
    [
        (["20466", "3"], "C"),
        (["1,275,068,416", "3.35"], "en"),
        (["20,466", "838,541,666.67"], "en"),
        (["838.541.666,67", "20.466"], "de"),
        (["20\u202f466", "1,5"], "fr"),
        (["20.466"], None),
        (["20,466"], None),
    ],
)
def test_locale_is_told_by_what_can_be_read_one_way(texts: list[str], name: str | None) -> None:
    """One number that fits a single locale decides for all of its file; without one nothing is guessed."""
    style, doubtful = style_of(texts)

    assert (name, name is None) == (style.name if style else None, bool(doubtful))


def test_foreign_numbers_are_refused_until_the_locale_is_said() -> None:
    """German numbers are an error that says what to do; with the locale given they are read."""
    text = raw(amount="838.541.666,67", duration="20.466")

    with pytest.raises(ReportUnreadable, match="LC_ALL=C"):
        read_ncu_csv(text, "x")
    assert 838541666.67 == read_ncu_csv(text, "x", "de").launches[0].value("dram__bytes_read.sum")


def test_bytes_without_units_are_refused() -> None:
    """A raw page whose row of units is gone says bytes of nobody knows what."""
    lines = raw().splitlines(keepends=True)

    with pytest.raises(ReportUnreadable, match="no unit"):
        read_ncu_csv(lines[0] + lines[2], "x")


def test_the_row_of_units_is_no_kernel() -> None:
    """A raw page of one kernel has one launch, with its grid and block."""
    launches = read_ncu_csv("==PROF== Connected to process 1\nhello\n" + raw(), "x").launches

    assert [("gemm", (152, 4, 1), (128, 1, 1), "9.0")] == [
        (one.name, one.grid, one.block, one.compute_capability) for one in launches
    ]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission", "rights"),
        ("==ERROR== Nsight Compute failed to connect to the CUDA driver", "no GPU or no driver"),
        ("==WARNING== No kernels were profiled.", "no kernel matched"),
        ("==PROF== Disconnected from process 7", "--page"),
    ],
)
def test_files_with_errors_alone(line: str, told: str) -> None:
    """A file without a row is an error that repeats ncu's and says what to do."""
    with pytest.raises(NothingCaptured, match=told):
        read_ncu_csv(f"==PROF== Connected\n{line}\n", "x")


def test_columns_may_stand_anywhere() -> None:
    """The columns that --nvtx inserts before the kernel's name move nothing."""
    column = '"thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg"'
    cell = '"129325 ""<default domain>:run_test:none:none:RGB:0xff00ff00:ASCII:run_test"" '
    cell += '""fb:decode:none:none:none:none:none:none"""'
    text = f'"ID","Process ID",{column},"Kernel Name","Metric Name","Metric Unit","Metric Value"\n'
    text += f'"0","1",{cell},"k","dram__bytes_read.sum","Kbyte","1.5"\n'
    launch = read_ncu_csv(text, "x").launches[0]

    assert (("run_test", "fb@decode"), 1500) == (launch.ranges, launch.value("dram__bytes_read.sum"))


def test_names_of_ranges_may_hold_colons() -> None:
    """The name is what remains once the six fields behind it are taken away."""
    cell = '7 "<default domain>:mod::layers.0:none:none:RGB:0xff:ASCII:mod::layers.0"'

    assert ("mod::layers.0",) == range_stack(cell)


def test_launches_of_two_processes_stay_apart() -> None:
    """Two processes both number their launches from 0."""
    rows = '"0","1","k","S","m","","1"\n"0","2","k","S","m","","2"\n'

    assert [1, 2] == [one.value("m") for one in read_ncu_csv(LONG + rows, "x").launches]


def test_rules_are_no_counters() -> None:
    """Advice of ncu is kept beside the counters, not among them."""
    launch = read_ncu_csv(DETAILS.read_text(), "x").launches[0]

    assert ("" not in launch.metrics, True) == (
        True,
        any(r.startswith("SOLBottleneck") for r in launch.rules),
    )


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_every_file_is_one_launch(path: Path) -> None:
    """Each real file holds one launch on compute capability 12.0, whose numbers all were read."""
    found = read_report(path)
    launch = found.launches[0]
    unread = [m.name for m in launch.metrics.values() if m.value is None and m.text != "n/a"]

    assert (1, "12.0", []) == (len(found.launches), launch.compute_capability, unread)


def test_styles_read_back_what_they_fit() -> None:
    """Each style reads its own spelling of one number alike."""
    texts = {
        "C": "838541666.67",
        "en": "838,541,666.67",
        "de": "838.541.666,67",
        "fr": "838\u00a0541\u00a0666,67",
    }

    assert {"838541666.67"} == {str(STYLES[name].read(text)) for name, text in texts.items()}


def test_summaries_of_other_programs_are_refused() -> None:
    """A table that another program computed from counters is no report of a tool."""
    with pytest.raises(NothingCaptured, match="no table"):
        read_report(PROFILES / "ncu" / "llmperfopt_analysis_metrics_summary.csv")
