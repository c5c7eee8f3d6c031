"""The commands of `profile`: what they print and write, and how they refuse."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

from forwardbook.cli.profile import COMMANDS

from .conftest import TINY

Run = Callable[..., tuple[int, str, str]]
PROFILES = Path(__file__).parents[1] / "profiles"
NSYS = PROFILES / "nsys"
TRACES = PROFILES / "traces"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Run) -> Run:
    """Runs `forwardbook profile ...` in a folder with a tiny model and no tool on the path."""
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "config.json").write_text(json.dumps(TINY))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    return partial(command, "profile")


def test_every_command_has_help(run: Run) -> None:
    """The group lists its commands, and each explains itself."""
    listed = run("--help")[1]

    assert [] == [name for name in COMMANDS if name not in listed]
    assert {0} == {run(name, "--help")[0] for name in COMMANDS}


def test_run(run: Run, tmp_path: Path) -> None:
    """A config is enough: the report is printed, the folder named, and `check` reads the trace of it."""
    code, out, err = run(
        *("run", "tiny/config.json", "--seq_len", "8", "--batch-size", "2", "--new-tokens", "2"),
        *("--repeats", "1", "--warmup", "0", "--run-id", "mine", "--passes", "timing,operators,flops"),
    )
    folder = tmp_path / "tmp" / "profile-output" / "mine"

    assert (0, True) == (code, "2 of 2 calls equal" in out)
    assert "wrote tmp/profile-output/mine" in out
    assert "timing\noperators\nflops\n" in err
    assert "complete" == json.loads((folder / "run.json").read_text())["status"]
    trace = str(folder / "torch_profiler" / "trace.json")
    code, out, _ = run("check", "--trace", trace, "--model", "tiny", "--kv_len", "8", "--json")
    found = json.loads(out)
    assert (0, True, "decode") == (code, found["exact"], found["phase"])
    assert {"equal"} == {link["verdict"] for link in found["products"]}
    assert "128 * {batch_size} * ({kv_len} + 1)" in {row["formula"] for row in found["chain"]}
    assert all(row["certain"] for row in found["chain"])
    assert 1 == run("run", "tiny", "--run-id", "mine")[0]
    assert 1 == run("check", "--trace", trace, "--model", "tiny", "--kv_len", "99")[0]


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("run", "no-such-model"), 1, "no-such-model"),
        (("run", "tiny", "--passes", "timings"), 1, "did you mean"),
        (("run", "tiny", "--device", "gpu"), 1, "give cpu, cuda or cuda:1"),
        (("run", "tiny", "--dtype", "int8"), 1, "give a format such as float32"),
        (("run", "tiny", "--size", "batch_sise=2"), 1, "did you mean batch_size"),
        (("check", "--trace", "none.json"), 1, "there is no such file"),
        (("check", "--trace", "tiny/config.json"), 1, "JSON without traceEvents"),
        (("kernels", "none.csv"), 1, "there is no such file"),
        (("kernels", "tiny"), 1, "it is a folder"),
        (
            ("kernels", str(NSYS / "h100.nsys2022.4_cudaapisum.csv")),
            1,
            "instead it holds 10 kinds of API calls",
        ),
        (("kernels", str(NSYS / "h100.nsys2022.4_gpukernsum.csv"), "--topk", "0"), 2, "--topk"),
        (("analyze", "none"), 1, "there is no such folder"),
        (("analyze", str(NSYS)), 1, "no report of Nsight Compute"),
        (("analyze", str(PROFILES / "ncu"), "--hardware", "rtx5090"), 1, "did you mean rtx-5090"),
        (("hardware", "--peaks", "h900"), 1, "the table has"),
        (("nsys", "tiny", "--range", "prefil"), 1, "these would fit: decode, encode, forward, prefill"),
        (("nsys", "tiny", "--instances", "0"), 2, "--instances"),
        (("ncu", "tiny", "--range", "decode*"), 1, "decode/"),
        (("ncu", "tiny", "--chip", "gh10"), 1, "did you mean gh100"),
        (("nsys", "tiny"), 3, "nsys.argv.json"),
        (("ncu", "tiny", "--chip", "gh100"), 3, "ncu.argv.json"),
    ],
)
def test_errors(arguments: tuple[str, ...], code: int, told: str, run: Run) -> None:
    """A user's mistake is a message on standard error and an exit code; a missing tool has one of its own."""
    found, _, err = run(*arguments)

    assert code == found
    assert told in " ".join(err.split())
    assert "Traceback" not in err


def test_kernels(run: Run, tmp_path: Path) -> None:
    """Kernels are summed over grids; YAML holds whole names and exact patterns."""
    report = str(NSYS / "h100.nsys2022.4_gpukernsum.csv")
    code, out, _ = run("kernels", report, "--topk", "2")

    assert (0, True) == (code, "31,121,662       248  69.4%" in out)
    refused = run("kernels", report, "-o", "top/list.yaml")
    assert (1, "", True) == (*refused[:2], "there is no folder top" in refused[2])
    (tmp_path / "top").mkdir()
    assert (0, "wrote top/list.yaml\n") == run("kernels", report, "--topk", "2", "-o", "top/list.yaml")[:2]
    found = yaml.safe_load((tmp_path / "top" / "list.yaml").read_text())
    assert (1, 2, 31_121_662) == (found["version"], len(found["kernels"]), found["kernels"][0]["total_ns"])
    assert found["kernels"][0]["regex"].startswith("^sm80_xmma_gemm_f32f32")
    assert found == yaml.safe_load(run("kernels", report, "--topk", "2", "-o", "-")[1])


def test_analyze(run: Run, tmp_path: Path) -> None:
    """Each kernel has its place on the roofline of its format; table, page and pictures are written."""
    code, out, _ = run("analyze", str(PROFILES / "ncu"), "--hardware", "rtx-5090", "-o", "out")
    with (tmp_path / "out" / "kernels.csv").open() as file:
        rows = {row["kernel"][-4:]: row for row in csv.DictReader(file)}
    pictures = [f"{name}.{kind}" for name in ("intensity", "roofline", "times") for kind in ("png", "svg")]

    assert (0, True) == (code, "| bf16 | 1,275,068,416 | 3,350,000 | 23.42 | 380.6 |" in out)
    assert ("717.6", "compute", "") == (
        f"{float(rows['0016']['flops_per_byte']):.1f}",
        rows["0016"]["bound"],
        rows["0001"]["flops"],
    )
    assert sorted(["kernels.csv", "report.md", *pictures]) == sorted(
        p.name for p in (tmp_path / "out").iterdir()
    )


def test_check_without_a_model(run: Run) -> None:
    """A trace alone is reported as far as its shapes allow, and what nobody can say is named."""
    code, out, _ = run("check", "--trace", str(TRACES / "tracelens_b200_eager_trace.json.gz"))

    assert 0 == code
    assert "gemm: 235,838,453,760 flops" in out
    assert "not said: vllm::unified_attention_with_output (36)" in out


def test_hardware(run: Run) -> None:
    """The machine without measuring, and a GPU's peaks with the parts that prove them."""
    code, out, _ = run("hardware", "--no-measure", "--json")
    found = json.loads(out)

    assert (0, []) == (code, found["measured"])
    assert {"processor", "cores", "gpus", "nvml", "packages"} <= found.keys()
    code, out, _ = run("hardware", "--peaks", "rtx-4090")
    assert 0 == code
    assert "fp16    fp16     tensor  128  2520          1,024     330.3  330.3    660.6" in out
    assert "nvidia-ada-gpu-architecture.pdf" in out
    peaks = json.loads(run("hardware", "--peaks", "all", "--json")[1])
    assert {"h100-sxm", "mi300x"} <= peaks.keys()


def test_plans(run: Run, tmp_path: Path) -> None:
    """The plan is the exact command, whose workload is a run without a profiler of its own."""
    code, out, _ = run("nsys", "tiny", "--dry-run", "-o", "plan", "--instances", "3", "--", "--seq_len", "4")
    argv = json.loads((tmp_path / "plan" / "nsys.argv.json").read_text())["argv"]

    assert (0, True) == (code, "wrote plan/nsys.argv.json" in out)
    assert "--capture-range-end=repeat:3" in argv
    assert ["profile", "run", "tiny", "--passes", "timing"] == argv[argv.index("profile", 3) :][:5]
    assert ["--seq_len", "4"] == argv[-2:]
    named = (
        "ncu",
        "tiny",
        "--dry-run",
        "-o",
        "plan",
        "--range",
        "model.layers.1.mlp/",
        "--kernel",
        "_Z4gemm",
    )
    assert 1 == run(*named)[0]
    assert 0 == run(*named, "--", "--nvtx-modules")[0]
    assert "_Z4gemm" in (tmp_path / "plan" / "ncu.cmd.txt").read_text()
