"""Readers of traces and of any file: what each of the real traces holds, and what is refused."""

import gzip
import hashlib
import json
from pathlib import Path

import pytest

from forwardbook.profiling.readers.anything import kernels_of, read_report
from forwardbook.profiling.readers.kernels import KernelRow, by_name
from forwardbook.profiling.readers.problem import NothingCaptured, ReportUnreadable
from forwardbook.profiling.readers.torch_trace import kernel_rows, read_torch_trace

PROFILES = Path(__file__).parents[2] / "profiles"
TRACES = PROFILES / "traces"
QWEN = TRACES / "tracelens_h100_Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz"


@pytest.mark.parametrize("path", sorted(TRACES.iterdir()), ids=lambda path: path.name)
def test_counts_are_those_of_the_json(path: Path) -> None:
    """Operators and kernels are as many as the JSON has events of their categories."""
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    wanted = [
        sum(1 for e in events if e.get("cat") == kind and e.get("ph") == "X") for kind in ("cpu_op", "kernel")
    ]
    trace = read_torch_trace(path)

    assert wanted == [len(trace.operators), len(trace.kernels)]


def test_kernel_times_add_up() -> None:
    """Nanoseconds of the rows are the microseconds of the events."""
    trace = read_torch_trace(QWEN)

    assert pytest.approx(sum(one.duration_us for one in trace.kernels) * 1000, abs=len(trace.kernels)) == sum(
        row.total_ns or 0 for row in kernel_rows(trace)
    )


def test_device_and_settings() -> None:
    """A trace names its devices and says whether shapes were recorded."""
    trace = read_torch_trace(QWEN)

    assert (("NVIDIA H100 80GB HBM3",), True, 1) == (
        trace.devices,
        trace.has_shapes,
        trace.settings["record_shapes"],
    )


def test_counters_of_cupti() -> None:
    """A trace in which the profiler measured counters has them for each kernel."""
    trace = read_torch_trace(TRACES / "hta_cupti_profiler_2023_trace.json.gz")

    assert (77, True) == (len(trace.counters), any(trace.counters.values()))


def test_a_trace_may_be_plain_json(tmp_path: Path) -> None:
    """A trace that is not compressed is the same trace."""
    path = tmp_path / "trace.json"
    path.write_bytes(gzip.decompress(QWEN.read_bytes()))

    assert read_torch_trace(QWEN).kernels == read_report(path).kernels  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("x.json.gz", gzip.compress(b'{"traceEvents": []}' * 99, mtime=0)[:40], "EOFError"),
        ("x.json", b'{"traceEvents": [{"ph": "X"', "no JSON"),
        ("x.json", b'{"other": 1}', "without traceEvents"),
        ("x.nsys-rep", b"\x01\x02", "nsys export"),
        ("x.bin", b"\xff\x00\xfe", "neither text"),
    ],
)
def test_broken_files_are_refused(name: str, data: bytes, told: str, tmp_path: Path) -> None:
    """A file that is cut off or of another kind is an error that names it."""
    (tmp_path / name).write_bytes(data)

    with pytest.raises(ReportUnreadable, match=told):
        read_report(tmp_path / name)


@pytest.mark.parametrize(("name", "data"), [("x.csv", b""), ("x.json", b'{"traceEvents": []}')])
def test_nothing_is_an_error(name: str, data: bytes, tmp_path: Path) -> None:
    """A file that holds nothing is an error, not an empty table."""
    (tmp_path / name).write_bytes(data)

    with pytest.raises(NothingCaptured):
        read_report(tmp_path / name)


def test_a_report_of_ranges_has_no_kernels() -> None:
    """Asked for kernels, a report without any is an error that says so."""
    with pytest.raises(NothingCaptured, match="no kernel"):
        kernels_of(read_report(PROFILES / "nsys" / "own_cpu_llama.nsys2023_nvtx_sum.csv"))


def test_unknown_times_stay_unknown() -> None:
    """A total in which one part is not known is not known."""
    rows = [KernelRow("k", 1, 5), KernelRow("k", 1, None)]

    assert (None, 2) == (by_name(rows)[0].total_ns, by_name(rows)[0].instances)


def test_the_folder_is_what_its_list_says() -> None:
    """Every file of the folder is listed with its licence and digest."""
    lines = (PROFILES / "MANIFEST.tsv").read_text().splitlines()[1:]
    listed = {line.split("\t")[0]: (line.split("\t")[2], line.split("\t")[4]) for line in lines}
    there = {
        str(path.relative_to(PROFILES)): hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        for path in PROFILES.rglob("*")
        if path.is_file() and path.name not in ("README.md", "MANIFEST.tsv")
    }

    assert there == {name: digest for name, (digest, _) in listed.items()}
    assert {licence for _, licence in listed.values()} <= {"MIT", "Apache-2.0", "own", "names only (facts)"}
