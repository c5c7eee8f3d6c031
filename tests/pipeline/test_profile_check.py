"""Formulas of whole models held against real traces of GPUs, product by product."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from forwardbook.cli import main
from forwardbook.models.totals import Widths
from forwardbook.pipeline.model.find import find_model
from forwardbook.pipeline.model.pipeline import Model
from forwardbook.pipeline.profile.check import TraceCheck, check_trace
from forwardbook.profiling.readers.torch_trace import read_torch_trace
from forwardbook.workspace.model_files import ModelFiles

PROFILES = Path(__file__).parents[1] / "profiles"
TRACES = PROFILES / "traces"
BERT = TRACES / "tracelens_h100_gaunernst_bert-small-uncased__1016001.json.gz"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace in which formulas are kept from one test to the next."""
    return tmp_path_factory.mktemp("workspace")


def checked(trace: str, config: str, folder: Path, allowed: Sequence[str] = ()) -> TraceCheck:
    """The trace against the model of a config."""
    kept = ModelFiles(folder)
    model = Model(find_model(str(PROFILES / "configs" / config), kept), kept)
    return check_trace(read_torch_trace(next(TRACES.glob(f"*{trace}*"))), model, {}, Widths(), allowed)


@pytest.mark.parametrize("trace", ["h100_Qwen", "mi300_Qwen"])
def test_formulas_are_what_ran(trace: str, folder: Path) -> None:
    """At the batch and length of the trace, the formulas of the layers that ran are its flops as integers."""
    found = checked(trace, "qwen1.5-0.5b", folder, ["lm_head"])
    head, rotary = found.excused("gemm")

    assert ({"batch_size": 16, "seq_len": 559}, True) == (dict(found.sizes), found.exact)
    assert 5_514_536_681_472 == found.predicted("gemm") - head == found.counted("gemm") - rotary
    assert found.predicted("attention") == found.counted("attention")


def test_only_what_is_allowed_may_be_missing(folder: Path) -> None:
    """The trace has no head: a difference, unless the head is allowed to be missing."""
    found = checked("h100_Qwen", "qwen1.5-0.5b", folder)
    [head] = [link for link in found.links if not link.accepted]
    [rotary] = [link for link in found.links if link.excuse]

    assert (False, ("lm_head",), "not run") == (found.exact, head.expected[0].names, head.verdict)
    assert 16 * 559 * 2 * 1024 * 151936 == found.predicted("gemm") - 5_514_536_681_472
    assert (35_776, "not in the formulas") == (rotary.total, rotary.verdict)
    assert "rotary frequencies" in rotary.excuse


def test_whole_encoder(folder: Path) -> None:
    """Every product of the masked language model ran as often as its formulas say."""
    found = checked("bert-small", "bert-small", folder)

    assert {"equal"} == {link.verdict for link in found.links}


def test_another_model_is_not_equal(folder: Path) -> None:
    """The formulas of another model do not fit the trace, and the command says so by its exit code."""
    found = checked("bert-small", "qwen1.5-0.5b", folder)

    assert not found.exact


def ran(*arguments: str) -> object:
    """The exit code of a command."""
    with pytest.raises(SystemExit) as stopped:
        main(["profile", "check", "--trace", str(BERT), *arguments])
    return stopped.value.code


def test_json(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """JSON alone is printed, with the totals of both sides."""
    monkeypatch.chdir(folder)
    code = ran("--model", str(PROFILES / "configs" / "bert-small"), "--json")
    found = json.loads(capsys.readouterr().out)

    assert (0, True, 8_029_194_240) == (code, found["exact"], found["totals"]["gemm"]["trace"])


def test_counters_without_a_product_are_not_equal(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counters of other kernels are explained by no product of the trace: the exit code is 1."""
    monkeypatch.chdir(folder)

    assert 1 == ran("--ncu", str(PROFILES / "ncu"))


TILED = "Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_tn_align8>"
COUNTED = f""""ID","Process ID","Kernel Name","Block Size","Grid Size","{{counter}}","dram__bytes_read.sum"
"","","","","","","byte"
"0","1","{TILED}","(64, 1, 1)","(5, 16, 1)","{{ops}}","1"
"""


def test_the_chain_ends_in_counters(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """141 rows in tiles of 32 are counted as 160: the row of that product has formula, kernel and counter."""
    monkeypatch.chdir(folder)
    (folder / "ncu").mkdir()
    counter = "sm__ops_path_tensor_src_bf16_dst_fp32.sum"
    text = COUNTED.format(counter=counter, ops=2 * 160 * 512 * 512)
    (folder / "ncu" / "k_raw.csv").write_text(text)
    code = ran("--model", str(PROFILES / "configs" / "bert-small"), "--ncu", "ncu", "--json")
    found = json.loads(capsys.readouterr().out)
    [row] = [row for row in found["chain"] if row["counters"]]

    assert 0 == code
    assert ("524288 * {batch_size} * {seq_len}", 2 * 141 * 512 * 512, 17) == (
        row["formula"],
        row["flops"],
        row["calls"],
    )
    assert ("aten::addmm", "141x512 @ 512x512", True) == (
        row["operator"],
        row["shape"],
        "32x32_128x2" in row["kernel"],
    )
    assert [f"k: {2 * 160 * 512 * 512} = 80 * 2 * 32 * 32 * 512"] == row["counters"]
    assert "13.5% of padding" in found["counters"][0]["text"]


def test_kernels_stand_with_their_formulas(folder: Path) -> None:
    """Each product of the trace of a GPU leads from a formula through an operator to its kernel."""
    from forwardbook.pipeline.profile.chain import chain

    rows = [row for row in chain(checked("h100_Qwen", "qwen1.5-0.5b", folder).links) if row.formula]
    attention = next(row for row in rows if "attention" in row.operator)

    assert {24, 48, 72} == {row.calls for row in rows}
    assert all(row.kernel and row.launches == row.calls for row in rows)
    assert ("4096 * {batch_size} * {seq_len} * {seq_len}", True) == (attention.formula, attention.certain)
    assert "flash_fwd_kernel" in attention.kernel
