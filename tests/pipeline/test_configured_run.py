"""`profile run` from a configuration: stages by their switches, overrides, datasets as inputs."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import yaml
from PIL import Image

Run = Callable[..., tuple[int, str, str]]
SMALL = {"n_layer": 1, "n_embd": 16, "n_head": 2, "vocab_size": 130, "n_positions": 64}
MODEL = f"name: gpt2\npath: models/gpt2\nfields: {json.dumps(SMALL)}\n"
VIT = (
    "name: vit-base-patch16-224\nfields: {num_hidden_layers: 1, hidden_size: 16, num_attention_heads: 2, "
    "intermediate_size: 32, image_size: 32}\n"
)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Run) -> Run:
    """Runs `profile run` in a folder whose conf/ has two tiny models."""
    (tmp_path / "conf" / "model").mkdir(parents=True)
    (tmp_path / "conf" / "model" / "small.yaml").write_text(MODEL)
    (tmp_path / "conf" / "model" / "seeing.yaml").write_text(VIT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("forwardbook.pipeline.profile.rates.device_peaks", _no_peaks, raising=True)
    monkeypatch.setattr("forwardbook.pipeline.profile.run.device_peaks", _no_peaks, raising=True)

    return partial(command, "profile", "run")


def _no_peaks(device: object, dtype: str, hardware: str | None) -> object:
    """No measuring of this machine, which takes seconds."""
    from forwardbook.pipeline.profile.rates import DevicePeaks

    return DevicePeaks("none", dtype, None, None, "not measured")


QUICK = ("profiling=quick", "--repeats", "1", "--warmup", "0", "--new-tokens", "2", "--seq_len", "8")


def folder(name: str) -> Path:
    """The folder of a run."""
    return Path("tmp/profile-output") / name


def test_printed_and_nothing_else(run: Run) -> None:
    """--cfg job prints the configuration, options included, and makes no folder."""
    code, out, _ = run(
        "model=small", "profiling=full", "pipeline.nsys.enable=true", "--repeats", 3, "--cfg", "job"
    )
    values = yaml.safe_load(out)

    assert (0, True, 3, SMALL) == (
        code,
        values["pipeline"]["nsys"]["enable"],
        values["pipeline"]["torch_profiler"]["repeats"],
        values["model"]["fields"],
    )
    assert not Path("tmp").exists()


def test_resolved(run: Run) -> None:
    """Interpolations are printed as written, and with --resolve as what they stand for."""
    words = ("model=small", "output.run_id=${model.name}-${runtime.seed}", "--cfg", "job")

    assert "run_id: ${model.name}-${runtime.seed}" in run(*words)[1]
    assert "run_id: gpt2-0" in run(*words, "--resolve")[1]


def test_options_and_overrides(run: Run) -> None:
    """What options and overrides say is what runs; the run folder keeps it as a configuration."""
    code, *_ = run("model=small", *QUICK, "runtime.batch_size=3", "--run-id", "a")
    metrics = json.loads((folder("a") / "torch_profiler" / "metrics.json").read_text())
    kept = yaml.safe_load((folder("a") / "config.yaml").read_text())
    again, *_ = run("--config-dir", folder("a"), "output.run_id=b")
    inputs = [yaml.safe_load((folder(one) / "torch_profiler" / "inputs.yaml").read_text()) for one in "ab"]

    assert (0, 0) == (code, again)
    assert ({"prefill", "decode"}, 1) == (
        set(metrics["timing"]["phases"]),
        metrics["timing"]["phases"]["prefill"]["n"],
    )
    assert (3, "gpt2") == (kept["runtime"]["batch_size"], kept["model"]["name"])
    assert inputs[0] == inputs[1] and inputs[0]["sizes"]["batch_size"] == 3
    assert not (folder("a") / "static_analysis").exists()


def test_stage_two_is_planned(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the tools their commands are written, the exit code says so, and the workload can run."""
    monkeypatch.setenv("PATH", "/nowhere")
    words = ("profiling=off", "pipeline.nsys.enable=true", "pipeline.ncu.enable=true", "--run-id", "a")
    code, _, err = run("model=small", *words, "--seq_len", 8, "--new-tokens", 2, "hardware.chip=gh100")
    plans = {
        tool: json.loads((folder("a") / tool / f"{tool}.argv.json").read_text())["argv"]
        for tool in ("nsys", "ncu")
    }
    workload = plans["nsys"][plans["nsys"].index("run") + 1 :]
    again, *_ = run(*workload)
    (own,) = (folder("a") / "nsys" / "workload" / "runs").iterdir()

    assert (3, 0) == (code, again)
    assert "running nsys: it is not installed" in err and "running ncu: it is not installed" in err
    assert "sm__ops_path_tensor_src_fp8.sum" in " ".join(plans["ncu"])
    assert not (folder("a") / "torch_profiler").exists()
    values = json.loads((own / "torch_profiler" / "metrics.json").read_text())
    assert ("complete", True, False) == (values["status"], "timing" in values, "operators" in values)


def test_texts_as_inputs(run: Run) -> None:
    """Texts fill the batches of a run end to end; what is left over is said."""
    Path("texts").mkdir()
    for number in range(3):
        (Path("texts") / f"{number}.txt").write_text("a" * 20)
    words = ("dataset=text_folder", "dataset.root=texts", "dataset.sampling.num_samples_per_epoch=2")
    code, *_ = run("model=small", *QUICK, *words, "--run-id", "a")
    metrics = json.loads((folder("a") / "torch_profiler" / "metrics.json").read_text())
    assumed = (folder("a") / "torch_profiler" / "assumptions.md").read_text()
    inputs = yaml.safe_load((folder("a") / "torch_profiler" / "inputs.yaml").read_text())

    assert (0, 2) == (code, metrics["timing"]["phases"]["prefill"]["n"])
    assert "rows of 8: 2 batches of 2, 8 tokens left over" in assumed
    assert ["0.txt", "1.txt"] == [one["name"] for one in inputs["made_of"]["samples"]]


def test_images_as_inputs(run: Run) -> None:
    """Images fill the batches of a model that sees; formulas hold for every call."""
    Path("pictures").mkdir()
    for number in range(5):
        Image.new("RGB", (40, 30), (number, 0, 0)).save(f"pictures/{number}.png")
    words = ("dataset=image_folder", "dataset.root=pictures", "pipeline.torch_profiler.passes=[flops]")
    code, out, _ = run("model=seeing", *words, "--batch_size", 2, "--run-id", "a")

    assert (0, True) == (code, "2 of 2 calls equal" in out), out
    assert "2 batches of 2 images, 1 images left over" in out


def test_inference_as_a_stage(run: Run) -> None:
    """Inference needs a checkpoint, which is said before a folder is made."""
    Path("texts").mkdir()
    Path("texts/a.txt").write_text("a")
    words = (
        "profiling=off",
        "pipeline.direct_inference.enable=true",
        "dataset=text_folder",
        "dataset.root=texts",
    )
    code, _, err = run("model=small", *words)

    assert (1, True) == (code, "name one with weights" in err)
    assert not Path("tmp").exists()


REFUSED = {
    "nothing named": ([], "none is named"),
    "nothing switched on": (["gpt2", "profiling=off"], "no stage is switched on"),
    "two names": (["gpt2", "bert-base"], "one name too many"),
    "model twice": (["gpt2", "model=small"], "MODEL and model=small set the same"),
    "value twice": (["gpt2", "--repeats", "2", "pipeline.torch_profiler.repeats=3"], "set the same"),
    "no such option": (["model=smal"], "did you mean model=small"),
    "no such key": (["gpt2", "runtime.sed=1"], "did you mean runtime.seed"),
    "no such pass": (["gpt2", "--passes", "timng"], "did you mean timing"),
    "no such model": (["gtp2"], "gpt2"),
    "no such folder": (["gpt2", "--config-dir", "nowhere"], "no such folder"),
    "no such file": (["gpt2", "--config-name", "nothing"], "there is no nothing.yaml"),
    "no dataset": (["gpt2", "dataset=text_folder"], "give dataset.root"),
    "wrong dataset": (["gpt2", "dataset=image_folder", "dataset.root=nowhere"], "no such folder"),
    "empty range": (["gpt2", "pipeline.ncu.enable=true", "pipeline.ncu.range=decode*"], "decode"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, run: Run) -> None:
    """Each mistake is told, wrong usage with code 2, all else with 1, before a run folder is made."""
    words, said = REFUSED[case]
    code, _, err = run(*words)

    assert (2 if "Usage:" in err else 1, True) == (code, said in " ".join(err.replace("│", " ").split())), err
    assert "Traceback" not in err
    assert not Path("tmp").exists()


def test_samples_that_do_not_fit(run: Run) -> None:
    """Texts for a model that sees, and too few of them, are refused; the folder says why."""
    Path("texts").mkdir()
    Path("texts/a.txt").write_text("abc")
    words = ("dataset=text_folder", "dataset.root=texts")
    seeing = run("model=seeing", *words, "--run-id", "a")
    few = run("model=small", *words, "--run-id", "b")

    assert (1, True) == (seeing[0], "takes pixel_values" in seeing[2])
    assert (1, True) == (few[0], "3 tokens do not fill one batch of 2 x 32" in few[2])
    assert "failed" == json.loads((folder("b") / "run.json").read_text())["status"]
