"""Runs of whole models on this processor: every measured number is the number that the formulas say."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import transformers as t

from forwardbook.errors import ForwardbookError
from forwardbook.models.architecture import Architecture
from forwardbook.pipeline.model.find import described
from forwardbook.pipeline.model.source import ModelSource
from forwardbook.pipeline.profile.run import PassFailed, profile_model
from forwardbook.pipeline.profile.settings import Settings
from forwardbook.workspace.run_folder import run_folder

SMALL = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
}
WORDS = {**SMALL, "num_key_value_heads": 2, "vocab_size": 100}
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32, "head_dim": 16}
T5 = {"d_model": 64, "d_ff": 128, "num_layers": 4, "num_heads": 4, "d_kv": 16, "vocab_size": 100}
WHISPER = {
    "d_model": 64,
    "encoder_layers": 4,
    "decoder_layers": 4,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 128,
    "decoder_ffn_dim": 128,
    "vocab_size": 200,
    "max_source_positions": 100,
    "max_target_positions": 50,
    "pad_token_id": 0,
    "decoder_start_token_id": 3,
}
MODELS = {
    "llama": (t.LlamaForCausalLM, t.LlamaConfig, WORDS, ["prefill", "decode"]),
    "qwen3-moe": (t.Qwen3MoeForCausalLM, t.Qwen3MoeConfig, {**WORDS, **EXPERTS}, ["prefill", "decode"]),
    "t5": (t.T5ForConditionalGeneration, t.T5Config, T5, ["encode", "prefill", "decode"]),
    "vit": (t.ViTModel, t.ViTConfig, {**SMALL, "image_size": 64, "patch_size": 16}, ["forward"]),
    "whisper": (t.WhisperForConditionalGeneration, t.WhisperConfig, WHISPER, ["encode", "prefill", "decode"]),
}
FILES = [
    *(
        "assumptions.md",
        "env.json",
        "inputs.yaml",
        "metrics.json",
        "operators.md",
        *("operators.png", "operators.svg"),
        "report.md",
    ),
    *("roofline.png", "roofline.svg", "stages.png", "stages.svg", "stakeholder_summary.md", "trace.json"),
]


def architecture(name: str) -> Architecture:
    """A small model with random weights."""
    kind, config, values, _ = MODELS[name]
    return described(ModelSource(name, kind, config(**values), "made for a test"))


@pytest.mark.parametrize("name", MODELS)
def test_formulas_are_what_runs(name: str, tmp_path: Path) -> None:
    """Prefill and each decode step: flops, peak and bytes of products equal as integers, in every module."""
    sizes = {"batch_size": 2} if name in ("vit", "whisper") else {"batch_size": 2, "seq_len": 19}
    settings = Settings(sizes, new_tokens=4, repeats=2, warmup=1)
    folder = profile_model(architecture(name), settings, tmp_path)
    calls = json.loads((folder / "static_analysis" / "static_compute.json").read_text())["calls"]
    told = [pair for call in calls for part in (call, *call["modules"]) for pair in part.get("pairs", [])]
    whole = {pair["quantity"] for call in calls for pair in call["whole"]}

    assert MODELS[name][3] == list(dict.fromkeys(call["phase"] for call in calls))
    assert [] == [pair for pair in told if pair["difference"]]
    assert [0] * len(calls) == [sum(abs(p["difference"]) for p in call["whole"]) for call in calls]
    assert {"flops", "peak bytes", "bytes read by products", "bytes written by products"} == whole
    assert all(call["exact"] for call in calls)
    assert FILES == sorted(path.name for path in (folder / "torch_profiler").iterdir())
    assert "complete" == json.loads((folder / "run.json").read_text())["status"]


def test_peaks_are_compared_by_themselves(tmp_path: Path) -> None:
    """Where only memory is measured its formulas alone are held against it, and the report says so."""
    settings = Settings({"seq_len": 8}, new_tokens=3, repeats=1, warmup=0, passes=["memory"])
    folder = profile_model(architecture("llama"), settings, tmp_path)
    calls = json.loads((folder / "static_analysis" / "static_compute.json").read_text())["calls"]

    assert [["peak bytes"]] * 3 == [[pair["quantity"] for pair in call["whole"]] for call in calls]
    assert "3 of 3 calls equal in peak;" in (folder / "torch_profiler" / "report.md").read_text()


def test_formulas_that_nobody_asked_for_are_not_missing_passes(tmp_path: Path) -> None:
    """The report says which of the two halves of a comparison there is not."""
    settings = Settings({"seq_len": 8}, new_tokens=2, repeats=1, warmup=0, static_analysis=False)
    folder = profile_model(architecture("llama"), settings, tmp_path)

    assert "no formulas were asked for" in (folder / "torch_profiler" / "report.md").read_text()


def test_samples_are_kept(tmp_path: Path) -> None:
    """Each call of each repeat is a sample of its own, and tokens are those asked for."""
    settings = Settings({"seq_len": 8}, new_tokens=3, repeats=2, warmup=0, passes=["timing"])
    folder = profile_model(architecture("llama"), settings, tmp_path)
    metrics = json.loads((folder / "torch_profiler" / "metrics.json").read_text())
    phases = [one["phase"] for one in metrics["timing"]["samples"]]

    assert ["prefill", "decode", "decode"] * 2 == phases
    assert [0, 8, 9] * 2 == [one["past"] for one in metrics["timing"]["samples"]]
    assert (2, 4, 1) == (
        metrics["timing"]["phases"]["prefill"]["n"],
        metrics["timing"]["phases"]["decode"]["n"],
        metrics["metrics_version"],
    )


def test_environment_is_from_a_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of the environment gets into any file of the run."""
    monkeypatch.setenv("MY_SECRET", "correct-horse-battery")
    settings = Settings({"seq_len": 8}, new_tokens=1, repeats=1, warmup=0)
    folder = profile_model(architecture("llama"), settings, tmp_path)

    assert [] == [p for p in folder.rglob("*") if p.is_file() and b"correct-horse" in p.read_bytes()]


def test_a_module_of_a_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A factory and the shapes of its inputs are enough for all of it."""
    from forwardbook.pipeline.model.user import from_factory

    (tmp_path / "mine_profiled.py").write_text(
        "from torch import nn\n"
        "def make():\n    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    found = from_factory("mine_profiled:make", {"input": "batch_size,8"})
    folder = profile_model(found, Settings({"batch_size": 5}, repeats=1, warmup=0), tmp_path / "runs")
    calls = json.loads((folder / "static_analysis" / "static_compute.json").read_text())["calls"]

    assert [2 * 5 * (8 * 16 + 16 * 4)] == [
        p["measured"] for p in calls[0]["whole"] if p["quantity"] == "flops"
    ]
    assert calls[0]["exact"]


def test_a_failing_run_is_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that fails in a pass says where and why, and what was measured before can be read."""
    from forwardbook.profiling.passes import flops

    def broken(workload: object) -> None:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(flops, "count_calls", broken)
    with pytest.raises(PassFailed, match="measuring flops of llama on cpu in float32: RuntimeError: out of"):
        settings = Settings({"seq_len": 8}, new_tokens=2, repeats=1, warmup=0)
        profile_model(architecture("llama"), settings, tmp_path, "mine")
    mark = json.loads((tmp_path / "mine" / "run.json").read_text())
    metrics = json.loads((tmp_path / "mine" / "torch_profiler" / "metrics.json").read_text())

    assert ("failed", "flops") == (mark["status"], mark["last"])
    assert "RuntimeError: out of memory" in mark["reason"]
    assert "in broken" in (tmp_path / "mine" / "error.txt").read_text()
    assert ("partial", True) == (metrics["status"], "timing" in metrics)


def test_an_interrupted_run_is_marked(tmp_path: Path) -> None:
    """Ctrl-C leaves a folder that says so."""
    with pytest.raises(KeyboardInterrupt), run_folder(tmp_path, "x", "mine") as folder:
        folder.step("timing")
        raise KeyboardInterrupt
    mark = json.loads((tmp_path / "mine" / "run.json").read_text())

    assert ("interrupted", "timing") == (mark["status"], mark["last"])


def test_a_name_is_given_once(tmp_path: Path) -> None:
    """A second run of the same name is refused, and the first one's folder stays as it is."""
    with run_folder(tmp_path, "x", "mine") as folder:
        folder.write("a.txt", "first")
    with pytest.raises(ForwardbookError, match="exists"), run_folder(tmp_path, "x", "mine"):
        pass

    assert "first" == (tmp_path / "mine" / "a.txt").read_text()


def _made(root: str) -> str:
    with run_folder(Path(root), "x") as folder:
        return folder.path.name


def test_runs_at_once_share_nothing(tmp_path: Path) -> None:
    """Many runs begun at the same moment all have folders of their own."""
    with ThreadPoolExecutor(8) as pool:
        names = list(pool.map(_made, [str(tmp_path)] * 24))

    assert 24 == len(set(names)) == len(list(tmp_path.iterdir()))


@pytest.mark.parametrize("dtype", ["bfloat16", pytest.param("float64", marks=pytest.mark.slow)])
def test_formulas_hold_in_every_format(dtype: str, tmp_path: Path) -> None:
    """In other formats peaks and bytes follow the width, and what oneDNN reorders for itself is nobody's."""
    settings = Settings({"batch_size": 1, "seq_len": 9}, dtype=dtype, new_tokens=2, repeats=1, warmup=0)
    folder = profile_model(architecture("llama"), settings, tmp_path)
    calls = json.loads((folder / "static_analysis" / "static_compute.json").read_text())["calls"]

    assert [True, True] == [call["exact"] for call in calls]


def test_sizes_that_nobody_gave_are_those_that_ran(tmp_path: Path) -> None:
    """Without sizes the run has small ones, says which, and its formulas hold at them."""
    settings = Settings(new_tokens=2, repeats=1, warmup=0, passes=["flops"])
    folder = profile_model(architecture("llama"), settings, tmp_path)
    calls = json.loads((folder / "static_analysis" / "static_compute.json").read_text())["calls"]

    assert [True, True] == [call["exact"] for call in calls]
    assert "batch_size: 2\n  seq_len: 32" in (folder / "torch_profiler" / "inputs.yaml").read_text()


def test_sizes_that_a_model_lacks_are_told(tmp_path: Path) -> None:
    """A length for a model of images is not used, aloud; a name that nothing has is an error."""
    told: list[str] = []
    once = {"repeats": 1, "warmup": 0, "passes": ["timing"]}
    profile_model(architecture("vit"), Settings({"seq_len": 9}, **once), tmp_path, told=told.append)

    assert "warning: seq_len is not used: inputs of vit have batch_size" in told
    with pytest.raises(
        ForwardbookError, match="there is no batch_sise, only batch_size; did you mean batch_size"
    ):
        profile_model(architecture("vit"), Settings({"batch_sise": 9}, **once), tmp_path)


def test_the_chain_leads_from_formulas_to_operators(tmp_path: Path) -> None:
    """Each product of a decode step, those of experts in sum, has its formula, module and operator."""
    sizes = {"batch_size": 2, "seq_len": 8}
    settings = Settings(sizes, new_tokens=2, repeats=1, warmup=0, passes=["operators", "flops"])
    folder = profile_model(architecture("qwen3-moe"), settings, tmp_path)
    report = (folder / "torch_profiler" / "report.md").read_text()
    decode = report.partition("### decode")[2]
    rows = [[cell.strip(" `") for cell in line.split("|")[1:5]] for line in decode.splitlines()[4:] if line]
    experts = 2 * 2 * 2 * (64 * 2 * 32 + 32 * 64)

    assert ["24576 * {batch_size}", "model.layers.0-3.mlp.experts", f"{experts:,}"] in [r[:3] for r in rows]
    assert ["512 * {batch_size}", "model.layers.0-3.mlp.gate", "1,024", "4"] in rows
    assert [] == [row for row in rows if row[0] == "-"]
    assert "in 6 shapes" in decode or "shapes, together" in decode


def test_a_trace_names_no_machine(tmp_path: Path) -> None:
    """The trace does not say where it was made."""
    import platform

    settings = Settings({"seq_len": 8}, new_tokens=1, repeats=1, warmup=0, passes=["operators"])
    text = (
        profile_model(architecture("llama"), settings, tmp_path) / "torch_profiler" / "trace.json"
    ).read_text()

    assert '"host_name": ""' in text
    assert str(tmp_path) not in text
    assert f'"host_name": "{platform.node()}"' not in text
