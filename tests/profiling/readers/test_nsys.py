"""Readers of Nsight Systems, held against real files of several versions and against each other."""

import gzip
import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from forwardbook.profiling.readers.kernels import KernelRow, by_name
from forwardbook.profiling.readers.nsys_sqlite import NsysExport, read_nsys_sqlite, totals
from forwardbook.profiling.readers.nsys_stats import NsysReport, read_nsys_stats
from forwardbook.profiling.readers.problem import NothingCaptured, ReportUnreadable

PROFILES = Path(__file__).parents[2] / "profiles"
JACOBI = "nways_jacobi.nsys2023.4_cuda_gpu_kern_sum"


def stats(name: str) -> NsysReport:
    """A file of the folder, read."""
    path = PROFILES / "nsys" / name
    data = gzip.decompress(path.read_bytes()) if name.endswith(".gz") else path.read_bytes()
    return read_nsys_stats(data.decode(), name)


def export(name: str, folder: Path) -> NsysExport:
    """An export of the folder, unpacked and read."""
    path = folder / name
    path.write_bytes(gzip.decompress((PROFILES / "sqlite" / f"{name}.gz").read_bytes()))
    return read_nsys_sqlite(path)


@pytest.mark.parametrize(
    ("csv", "sqlite"),
    [
        ("h100.nsys2023.4_cuda_gpu_kern_sum.csv", "nsysai_h100_2gpu_1s.min.sqlite"),
        ("mfub.nsys2023.4_cuda_gpu_kern_sum.csv", "nsysai_mfu_2gpu_before.min.sqlite"),
        ("nways_jacobi.nsys2023.4_cuda_gpu_kern_sum.csv", "nways_jacobi_gh200.min.sqlite"),
    ],
)
def test_export_and_csv_say_the_same(csv: str, sqlite: str, tmp_path: Path) -> None:
    """The export of a capture has the kernels, counts, totals and extremes of its CSV, row for row."""
    mine = by_name(export(sqlite, tmp_path).kernels)
    theirs = stats(csv).kernels

    def facts(rows: Iterable[KernelRow]) -> set[object]:
        return {(r.name, r.instances, r.total_ns, r.min_ns, r.max_ns) for r in rows}

    assert facts(theirs) == facts(mine)


@pytest.mark.parametrize(
    ("csv", "sqlite"),
    [
        ("h100.nsys2022.4_gpukernsum.csv", "nsysai_h100_2gpu_1s.min.sqlite"),
        ("h100.nsys2023.4_cuda_gpu_kern_gb_sum.csv", "nsysai_h100_2gpu_1s.min.sqlite"),
        ("mfub.nsys2022.4_gpukernsum.csv", "nsysai_mfu_2gpu_before.min.sqlite"),
        ("nways_jacobi.nsys2022.4_gpukernsum.csv", "nways_jacobi_gh200.min.sqlite"),
    ],
)
def test_grids_are_told_apart(csv: str, sqlite: str, tmp_path: Path) -> None:
    """With a row for each grid and block, CSV and export agree once devices are added up."""
    summed: dict[object, list[int]] = {}
    for row in export(sqlite, tmp_path).kernels:
        one = summed.setdefault((row.name, row.grid, row.block), [0, 0])
        one[0] += row.instances or 0
        one[1] += int(row.total_ns or 0)

    found = {(r.name, r.grid, r.block): [r.instances, r.total_ns] for r in stats(csv).kernels}

    assert found == summed


def test_totals_survive_the_versions() -> None:
    """The version that splits grids and the one that does not give each kernel the same total."""
    old = {
        r.name: (r.instances, r.total_ns) for r in by_name(stats("h100.nsys2022.4_gpukernsum.csv").kernels)
    }
    new = {r.name: (r.instances, r.total_ns) for r in stats("h100.nsys2023.4_cuda_gpu_kern_sum.csv").kernels}

    assert new == old


@pytest.mark.parametrize("suffix", [".json", ".tsv", ".column.txt"])
def test_formats_say_the_same(suffix: str) -> None:
    """JSON, TSV and the columns for people hold what the CSV holds."""
    assert stats(f"{JACOBI}.csv").kernels == stats(f"{JACOBI}{suffix}").kernels


def test_milliseconds_become_nanoseconds() -> None:
    """Times that were printed in milliseconds come out in nanoseconds, as exactly as they were printed."""
    assert [2071927500, 6000] == [row.total_ns for row in stats(f"{JACOBI}_ms.csv").kernels]


def test_noise_is_kept_apart() -> None:
    """Two reports in one stream, announced by lines of their own, are two tables."""
    found = stats("nways_jacobi.nsys2023.4_multi_noisy.txt")

    assert (2, 9, ("cuda_gpu_kern_sum", "cuda_api_sum")) == (len(found.kernels), len(found.api), found.names)


def test_lines_of_the_program_are_no_rows() -> None:
    """What the profiled program printed between rows is kept as said, and the rows around it are read."""
    text = (PROFILES / "nsys" / f"{JACOBI}.csv").read_text()
    lines = text.splitlines(keepends=True)
    found = read_nsys_stats("".join([*lines[:2], "step 3, loss 0.5, done\n", *lines[2:]]), "noisy")

    assert ([2071927531, 6016], ("step 3, loss 0.5, done",)) == (
        [r.total_ns for r in found.kernels],
        found.said,
    )


def test_oldest_header_is_read() -> None:
    """Headers of 2019 have no units; times are nanoseconds."""
    text = "Time(%),Total Time,Instances,Average,Minimum,Maximum,Name\n100.0,1500,3,500.0,400,600,k\n"

    assert (1500, 3, 500.0, 400, 600) == tuple(
        getattr(read_nsys_stats(text, "x").kernels[0], name)
        for name in ("total_ns", "instances", "avg_ns", "min_ns", "max_ns")
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("SKIPPED: output file run_cuda_gpu_kern_sum.csv exists.\n", "--force-overwrite"),
        ("SKIPPED: x.sqlite does not contain CUDA kernel data.\n", "no such events"),
        ("ERROR: Report 'cuda_gpu_kern_sum' could not be found.\n", "gpukernsum"),
        ("Exportation error: Report was created in Nsight Systems, newer than your current version", "newer"),
    ],
)
def test_emptiness_has_a_reason(text: str, told: str) -> None:
    """Output without a table is an error that says what nsys said and what to do."""
    with pytest.raises(NothingCaptured, match=told):
        read_nsys_stats(text, "x.csv")


def test_empty_cells_are_not_zero() -> None:
    """A row of a projection without a range of its own has no time on the CPU, rather than 0."""
    first = stats("nways_jacobi.nsys2023.4_nvtx_gpu_proj_trace.csv").ranges[0]

    assert (None, 2105455786, "") == (first.total_ns, first.gpu_ns, first.name)


def test_cut_off_file_is_refused() -> None:
    """A file that ends in the middle of a row is an error that names the line."""
    text = (PROFILES / "nsys" / f"{JACOBI}.csv").read_text()

    with pytest.raises(ReportUnreadable, match="x.csv:3"):
        read_nsys_stats(text[: text.index("6016,1")], "x.csv")


def test_wrong_number_is_refused() -> None:
    """A cell that is no number is an error that names column and line, never skipped."""
    text = "Time (%),Total Time (ns),Instances,Name\n1.0,1.234.567,1,k\n"

    with pytest.raises(ReportUnreadable, match=r"x:2.*Total Time"):
        read_nsys_stats(text, "x")


def test_export_knows_gpu_and_mangled_names(tmp_path: Path) -> None:
    """An export names its GPU, and each kernel as the linker knows it."""
    found = export("nways_jacobi_gh200.min.sqlite", tmp_path)

    assert ("NVIDIA GH200 120GB", 132, 1_980_000_000) == (
        found.gpus[0].name,
        found.gpus[0].sms,
        found.gpus[0].clock_hz,
    )
    assert all((row.mangled or "").startswith("_Z") for row in found.kernels)


def test_capture_without_gpu_has_ranges_alone(tmp_path: Path) -> None:
    """An export of a run on the CPU names the tables that it lacks; its ranges are those of the CSV."""
    found = export("own_cpu_llama.nsys2023.4.min.sqlite", tmp_path)
    csv = {(r.name, r.instances, r.total_ns) for r in stats("own_cpu_llama.nsys2023_nvtx_sum.csv").ranges}

    assert "CUPTI_ACTIVITY_KIND_KERNEL" in found.absent
    assert csv == {(r.name, r.instances, r.total_ns) for r in found.ranges}


def test_totals_add_devices(tmp_path: Path) -> None:
    """The total of a kernel is that of all its grids on all devices."""
    found = export("nsysai_h100_2gpu_1s.min.sqlite", tmp_path)

    assert sum(totals(found).values()) == sum(
        r.total_ns for r in stats("h100.nsys2022.4_gpukernsum.csv").kernels
    )


def test_other_databases_are_refused(tmp_path: Path) -> None:
    """A database that nsys did not write is an error, and nothing is written beside it."""
    import sqlite3

    path = tmp_path / "other.sqlite"
    sqlite3.connect(path).execute("CREATE TABLE t (a)").connection.close()

    with pytest.raises(ReportUnreadable, match="StringIds"):
        read_nsys_sqlite(path)
    assert [path] == list(tmp_path.iterdir())


def test_every_table_of_the_folder_is_read() -> None:
    """Each file of nsys gives as many rows as it has lines of data."""
    counted: dict[str, tuple[int, int]] = {}
    for path in sorted((PROFILES / "nsys").iterdir()):
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        if path.suffix in (".json", ".txt"):
            continue
        found = read_nsys_stats(data.decode(), path.name)
        rows = sum(
            len(part) for part in (found.kernels, found.in_ranges, found.ranges, found.api, found.copies)
        )
        lines = sum(1 for line in data.decode().splitlines() if line.strip()) - 1
        counted[path.name] = (lines, rows)

    assert {} == {name: pair for name, pair in counted.items() if pair[0] != pair[1]}
    assert len(counted) > 40


def test_json_without_rows_is_empty() -> None:
    """An empty list in JSON is a report that holds nothing."""
    with pytest.raises(NothingCaptured):
        read_nsys_stats(json.dumps([]), "x.json")
