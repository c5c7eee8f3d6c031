"""What an H200 measured of whole models, held against formulas that were derived without one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from forwardbook.cli import main
from forwardbook.pipeline.model.find import changed, find_model
from forwardbook.pipeline.profile.model import phases_on
from forwardbook.pipeline.profile.predict import Predictor
from forwardbook.profiling.passes.workload import CallSeen
from forwardbook.workspace.model_files import ModelFiles

TESTS = Path(__file__).parents[1]
PROFILES = TESTS / "profiles"
RUNS = json.loads((TESTS.parent / "benchmarks" / "results" / "gpu_h200.json").read_text())["runs"]
QUICK = ("bert-base", "vit-base-patch16-224", "mixtral-8x7b")
GPT2 = ("--model", "gpt2", "--set", "n_layer=2", "--batch_size", "2", "--seq_len", "64")
COUNTERS = PROFILES / "ncu_h200"


@pytest.mark.parametrize(
    "run", [one for one in RUNS if one["model"] in QUICK], ids=lambda run: str(run["model"])
)
def test_formulas_are_what_a_gpu_counted(run: dict[str, Any], tmp_path: Path) -> None:
    """flops and the most that CUDA's allocator was asked for; `generate` batches experts' products there."""
    architecture = changed(find_model(run["model"], ModelFiles(tmp_path)), run["set"])
    phases, *_ = phases_on(architecture, "cuda")
    predictor = Predictor({phase.name: phase for phase in phases}, getattr(torch, run["dtype"]), run["sizes"])
    for index, one in enumerate(run["calls"]):
        total = predictor.predict(CallSeen(index, one["phase"], one["positions"], one["past"])).total
        assert (one["flops"], one["peak_bytes"]) == (total.flops, total.peak)


def ran(trace: str, *arguments: str) -> object:
    """The exit code of a check of one of the traces of the H200."""
    path = PROFILES / "traces" / f"h200_{trace}.json.gz"
    with pytest.raises(SystemExit) as stopped:
        main(["profile", "check", "--trace", str(path), *arguments])
    return stopped.value.code


def test_convolutions_and_products_are_one_sum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A layer's formula does not say which kernel multiplies: both sides are added up alike."""
    monkeypatch.chdir(tmp_path)
    code = ran("vit", "--model", "vit-base-patch16-224", "--batch_size", "16")
    said = capsys.readouterr().out

    assert 0 == code
    assert "products and convolutions: formulas 539,152,023,552, trace 539,152,023,552: equal" in said
    assert "attention: formulas 22,890,479,616, trace 22,890,479,616: equal" in said
    assert "DIFFERENT" not in said


@pytest.mark.parametrize(
    ("phase", "sizes", "attention"),
    [
        ("prefill", (), "24 * 1 * 2 * 128 * 128 * 128"),
        ("decode", ("--kv_len", "64"), "24 * 2 * 2 * 64 * 64 * 128"),
    ],
)
def test_counters_of_tensor_cores_are_the_formulas_in_whole_tiles(
    phase: str,
    sizes: tuple[str, ...],
    attention: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each product and attention, the head of the last position too, ends in a counter, equal once padded."""
    monkeypatch.chdir(tmp_path)
    code = ran("gpt2_two_layers", *GPT2, *sizes, "--ncu", str(COUNTERS / phase), "--json")
    found = json.loads(capsys.readouterr().out)
    reached = {module for row in found["chain"] if row["counters"] for module in row["modules"]}
    [row] = [row for row in found["chain"] if "attention" in row["operator"]]

    assert 0 == code
    assert {"attn", "c_attn", "c_proj", "c_fc", "lm_head"} == {name.rpartition(".")[2] for name in reached}
    assert {"equal"} == {one["verdict"] for one in found["products"]}
    assert {attention} == {one.partition(" = ")[2] for one in row["counters"]}


def test_a_counter_that_is_no_padded_product_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One operation more than the product in whole tiles: the exit code is 1, and the kernel is named."""
    monkeypatch.chdir(tmp_path)
    text = (COUNTERS / "prefill" / "kernels.raw.csv").read_text()
    (tmp_path / "ncu").mkdir()
    (tmp_path / "ncu" / "kernels.raw.csv").write_text(text.replace('"452984832"', '"452984833"', 1))
    code = ran("gpt2_two_layers", *GPT2, "--ncu", "ncu")
    said = capsys.readouterr().out

    assert 1 == code
    assert "452,984,833: no product of the trace explains it" in said
    assert 1 == said.count("no product of the trace explains it")
