"""`analyze-model`, `compare` and `advise`: what they print and write, and how they refuse."""

from __future__ import annotations

import csv
import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import TINY

Run = Callable[..., tuple[int, str, str]]
LLAMA = "meta-llama/Llama-2-7b-hf"
POINT = ("--batch_size", "1", "--seq_len", "2048")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Run) -> Run:
    """Runs a command in an empty folder: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)
    return command


def test_json_holds_integers(run: Run) -> None:
    """`total.flops` and every other amount, for the model, each layer and each class; attention and proof."""
    code, out, _ = run("analyze-model", "llama-2-7b", "--analyze", *POINT, "--json")
    found = json.loads(out)
    prefill = found["phases"]["prefill"]

    assert 0 == code
    assert 29_261_612_187_648 == found["total"]["flops"] == prefill["total"]["flops"]
    assert ("dense", "exact") == (found["attention"], prefill["proof"]["verdict"])
    assert {int} == {type(v) for layer in prefill["layers"] for v in layer["own"].values()}
    assert prefill["total"]["flops"] == sum(c["flops"] for c in prefill["classes"].values())
    assert prefill["total"]["reads"] == sum(
        layer["own"]["reads"] * layer["times"] for layer in prefill["layers"]
    )
    assert {"torch", "transformers", "rules"} <= found["versions"].keys()
    assert {"h100-sxm", "mi300x"} <= prefill["devices"].keys()


def test_the_documented_steps_of_the_predictor(run: Run, tmp_path: Path) -> None:
    """Structure, modules, parameters, analysis: the same flags, the same files."""
    named = ("--model_id", LLAMA)
    populated = "models/meta-llama-Llama-2-7b-hf_populated.json"
    assert 0 == run("analyze-model", "--generate-arch", *named)[0]
    assert 0 == run("analyze-model", "--ensure-modules", "--no-analyse", *named)[0]
    assert 0 == run("analyze-model", "--populate-arch", *named)[0]
    code, out, _ = run(
        "analyze-model",
        "--analyze",
        "--model_json",
        populated,
        *POINT,
        "--w_bit",
        "16",
        "--a_bit",
        "16",
        "--json",
    )

    assert 0 == code
    assert 29_261_612_187_648 == json.loads(out)["total"]["flops"]
    structure = json.loads((tmp_path / "models" / "meta-llama-Llama-2-7b-hf.json").read_text())
    assert {"name", "class", "repeat", "kind", "parameter_count", "sub_layers"} == structure["layers"][
        0
    ].keys()
    parameters = json.loads((tmp_path / populated).read_text())
    attention = parameters["layers"][0]["sub_layers"][0]["sub_layers"][1]["sub_layers"][0]["parameters"]
    assert {"value": "{batch_size}", "origin": "runtime", "source": "forward"} == attention["batch_size"]
    assert {"value": 4096, "origin": "config", "source": "config.hidden_size"} == attention["hidden_size"]


def test_both_phases_and_widths(run: Run) -> None:
    """The total is one call of each phase; weights of 4 bits are half of those of 8."""
    point = ("analyze-model", "llama-2-7b", "--analyze", "--batch-size", "1", "--seq-len", "64", "--json")
    both = json.loads(run(*point, "--phase", "both", "--w_bit", "4", "--kv-bit", "8")[1])
    wide = json.loads(run(*point, "--w_bit", "8")[1])
    phases = both["phases"]

    assert both["total"]["flops"] == sum(phases[name]["total"]["flops"] for name in ("prefill", "decode"))
    assert {"batch_size": 1, "kv_len": 64} == phases["decode"]["sizes"]
    assert 64 * 2 * 32 * 4096 == phases["decode"]["cache_bytes_before"]
    assert wide["weight_bytes"] - 512 == 2 * (both["weight_bytes"] - 512)


def test_files_are_written_whole_and_alike(run: Run, tmp_path: Path) -> None:
    """CSV, Markdown and pictures; the same numbers give the same bytes."""
    for folder in ("one", "two"):
        code, _, err = run(
            "analyze-model", "bert-base", "--analyze", "--batch_size", "2", "--seq_len", "16", "--out", folder
        )
        assert (0, 5) == (code, err.count("wrote"))
    names = sorted(path.name for path in (tmp_path / "one").iterdir() if not path.name.startswith("."))
    assert ["analysis.json", "analysis.md", "cost.svg", "layers.csv", "roofline.svg"] == names
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    with (tmp_path / "one" / "layers.csv").open() as file:
        rows = list(csv.DictReader(file))
    whole = int(rows[0]["flops"])
    assert whole == sum(int(row["own_flops"]) * int(row["calls"]) for row in rows)


def test_a_folder_with_a_config_is_analysed_and_kept(run: Run, tmp_path: Path) -> None:
    """Structure, parameters and formulas of a new model lie in `models` after one command."""
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "config.json").write_text(json.dumps(TINY))
    code, out, _ = run("analyze-model", "tiny", "--batch_size", "3", "--seq_len", "7", "--json")
    layer = 2 * 32 * (2 * 32 + 2 * 16) + 3 * 2 * 32 * 48
    expected = 3 * 7 * (2 * layer + 2 * 32 * 50 + 2 * 2 * 2 * 32 * 7)

    assert 0 == code
    assert expected == json.loads(out)["total"]["flops"]
    written = sorted(path.name for path in (tmp_path / "models").glob("[!.]*"))
    assert ["tiny.costs.json", "tiny.json", "tiny_populated.json"] == written


def test_a_factory_is_analysed(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any module, with the shapes of its inputs."""
    monkeypatch.syspath_prepend(tmp_path)
    layers = "nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)"
    text = f"from torch import nn\ndef build():\n    return nn.Sequential({layers})\n"
    (tmp_path / "gated_net.py").write_text(text)
    code, out, _ = run(
        "analyze-model", "gated_net:build", "--input", "input=batch_size,8", "--batch_size", "5", "--json"
    )

    assert 0 == code
    assert 2 * 5 * (8 * 16 + 16 * 4) == json.loads(out)["total"]["flops"]


def test_a_sweep_is_what_points_are(run: Run, tmp_path: Path) -> None:
    """One row for each combination; a row equals the analysis of its point."""
    sweep = "batch_size=1:4:x2,seq_len=16:48:+16"
    code, out, _ = run(
        "analyze-model", "llama-2-7b", "--sweep", sweep, "--json", "--csv", "s.csv", "--plot", "s.png"
    )
    found = json.loads(out)
    row = next(row for row in found["rows"] if (row["batch_size"], row["seq_len"]) == (4, 32))
    point = json.loads(
        run("analyze-model", "llama-2-7b", "--analyze", "--batch_size", "4", "--seq_len", "32", "--json")[1]
    )

    assert (0, 9) == (code, found["points"])
    assert point["total"] == {name: row[name] for name in point["total"]}
    assert point["phases"]["prefill"]["memory_bytes"] == row["memory"]
    assert 10 == len((tmp_path / "s.csv").read_text().splitlines())
    assert (tmp_path / "s.png").read_bytes().startswith(b"\x89PNG")


def test_a_sweep_as_parquet_is_the_csv(run: Run, tmp_path: Path) -> None:
    """Both formats hold the same rows, integers as integers, both phases in one table."""
    parquet = pytest.importorskip("pyarrow.parquet")
    asked = ("analyze-model", "llama-2-7b", "--phase", "both", "--hardware", "h100-sxm")
    sweep = ("--sweep", "batch_size=1:4:x2,seq_len=16:48:+16")
    assert 0 == run(*asked, *sweep, "--csv", "s.csv")[0] == run(*asked, *sweep, "--csv", "s.parquet")[0]

    rows = parquet.read_table(tmp_path / "s.parquet").to_pylist()
    lines = list(csv.DictReader((tmp_path / "s.csv").read_text().splitlines()))
    assert 18 == len(rows)
    assert {int} == {type(row["flops"]) for row in rows}
    assert lines == [{name: _csv_cell(value) for name, value in row.items()} for row in rows]


def _csv_cell(value: object) -> str:
    return "" if value is None else f"{value:.9g}" if isinstance(value, float) else str(value)


def test_parquet_that_cannot_be_written_is_one_message(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without pyarrow, and for integers beyond 64 bits: what to do instead, exit code 1, no file."""
    asked = ("analyze-model", "llama-2-7b", "--csv", "s.parquet", "--sweep")
    if importlib.util.find_spec("pyarrow"):
        code, _, err = run(*asked, "batch_size=100000000000000,seq_len=16")
        assert (1, True) == (code, "CSV has integers of any size" in " ".join(err.split()))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    code, _, err = run(*asked, "batch_size=1,seq_len=16")

    assert (1, True) == (code, "pip install 'forwardbook[parquet]'" in " ".join(err.split()))
    assert not list(tmp_path.rglob("s.parquet*"))


def test_compare_and_advise(run: Run) -> None:
    """Models side by side, and what fits a device."""
    code, out, _ = run("compare", "llama-2-7b", "llama-3.1-8b", *POINT, "--json")
    assert 0 == code
    flops = [one["total"]["flops"] for one in json.loads(out)["models"]]
    assert [29_261_612_187_648, 32_938_104_193_024] == flops
    assert "times" in run("compare", "llama-2-7b", "llama-3.1-8b", *POINT)[1]

    code, out, _ = run("advise", "llama-3.1-8b", "--hardware", "h100-sxm", "--seq_len", "2048", "--json")
    [advice] = json.loads(out)["advice"]
    assert 0 == code
    assert {"prefill": "compute", "decode": "bandwidth"} == {
        name: phase["bound"] for name, phase in advice["phases"].items()
    }
    for batch, fits in ((advice["largest_batch_size"], True), (advice["largest_batch_size"] + 1, False)):
        sizes = ("--batch_size", str(batch), "--seq_len", "2048", "--phase", "both", "--json")
        phases = json.loads(run("analyze-model", "llama-3.1-8b", "--analyze", *sizes)[1])["phases"]
        need = max(phase["memory_bytes"] for phase in phases.values())
        assert fits == (need <= advice["device_memory_bytes"])


def test_problems_of_compared_models_are_named(run: Run) -> None:
    """What is wrong with one model says with which; what is wrong with all is said once."""
    code, _, err = run("compare", "t5-base", "bert-base", *POINT, "--phase", "decode")
    assert (1, "error: bert-base: this model has no decode") == (code, err.strip().partition(": it ")[0])
    assert 1 == run("compare", "gpt2", "bert-base", "--batch_size", "0")[2].count("batch_size = 0")


USUAL = {"batch_size": 1, "seq_len": 2048}


def _asked(run: Run, *arguments: str) -> tuple[dict[str, object], str]:
    """The sizes of the phases, and all notes."""
    code, out, err = run("analyze-model", *arguments, "--json")
    assert 0 == code, err
    found = json.loads(out)
    return {name: one["sizes"] for name, one in found["phases"].items()}, "\n".join(found["notes"])


def test_sizes_that_nobody_gave_are_one_sequence_of_2048_positions(run: Run) -> None:
    """Any of them, which a note says; a point that was given whole has no such note."""
    for given, sizes in (
        ((), USUAL),
        (("--batch_size", "4"), {**USUAL, "batch_size": 4}),
        (("--seq_len", "9"), {**USUAL, "seq_len": 9}),
    ):
        found, notes = _asked(run, "llama-3.1-8b", *given)
        taken = " ".join(f"--{name} {size}" for name, size in sizes.items() if f"--{name}" not in given)
        assert {"prefill": sizes} == found
        assert f"sizes that were not given are the usual ones: {taken}" in notes
    assert "usual" not in _asked(run, "llama-3.1-8b", *POINT)[1]


def test_decode_takes_the_length_that_was_given(run: Run) -> None:
    """And does not say of it that it is no size of the model."""
    for given in (("--seq_len", "2048"), ("--kv_len", "2048"), ()):
        found, notes = _asked(run, "llama-3.1-8b", "--phase", "decode", "--batch_size", "1", *given)
        assert {"decode": {"batch_size": 1, "kv_len": 2048}} == found
        assert "not a size of this model" not in notes
    _, notes = _asked(run, "llama-3.1-8b", "--phase", "decode", "--kv_len", "64", "--seq_len", "9")
    assert "not a size of this model in this phase: seq_len" in notes


def test_both_phases_of_a_model_without_decode_are_its_prefill(run: Run) -> None:
    """With a note; a sweep and a comparison have what there is, too."""
    found, notes = _asked(run, "bert-base", "--phase", "both")
    assert {"prefill": {"batch_size": 1, "seq_len": 512}} == found  # as long as it takes
    assert "this model has no decode" in notes
    sweep = ("--sweep", "batch_size=1:2,seq_len=8", "--phase", "both", "--json")
    rows = json.loads(run("analyze-model", "bert-base", *sweep)[1])["rows"]
    assert ["prefill"] * 2 == [row["phase"] for row in rows]
    code, out, _ = run("compare", "llama-2-7b", "bert-base", "--seq_len", "8", "--phase", "both")
    assert (0, True) == (code, "note: this model has no decode" in out)


def test_names_are_found_whatever_their_case(run: Run, tmp_path: Path) -> None:
    """An id as a person types it; a folder of that name is the folder."""
    flops = [
        json.loads(run("analyze-model", name, *POINT, "--json")[1])["total"]["flops"]
        for name in ("Llama-2-7B", "LLAMA-2-7b", LLAMA.upper())
    ]
    assert [29_261_612_187_648] * 3 == flops
    assert 0 == run("analyze-model", "GPT-2", *POINT)[0]
    (tmp_path / "Llama-2-7B").mkdir()
    code, _, err = run("analyze-model", "Llama-2-7B", *POINT)
    assert (1, True) == (code, "reading Llama-2-7B/config.json" in err)


def test_old_names_of_classes_are_answered_with_a_note(run: Run, tmp_path: Path) -> None:
    """Whichever class was taken is said, also after the structure was kept."""
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "config.json").write_text(json.dumps({**TINY, "architectures": ["NoSuchModel"]}))
    for name in ("old", "--model_json=models/old_populated.json"):
        _, notes = _asked(run, name, "--batch_size", "2", "--seq_len", "8")
        assert "transformers has no NoSuchModel: taken is LlamaForCausalLM" in notes


BAD = [
    (("no-such-model",), "nothing is downloaded"),
    (("llama-2-7b", "--batch_size", "0", "--seq_len", "-3"), "batch_size = 0, seq_len = -3"),
    (("llama-2-7b", *POINT, "--w_bit", "1", "--a_bit", "65"), "w_bit is 1, a_bit is 65, kv_bit is 65"),
    (("llama-2-7b", *POINT, "--hardware", "h9000"), "the table has a100-40gb"),
    (("llama-2-7b", *POINT, "--hardware", "h9000", "--w_bit", "0", "--size", "x=0"), "x = 0"),
    (("llama-2-7b", *POINT, "--set", "hidden_sise=4"), "it has no field hidden_sise"),
    (("llama-2-7b", *POINT, "--image_size", "224"), "takes no images"),
    (("whisper-large-v3", "--batch_size", "1", "--decoder_seq_len", "8", "--num_frames", "7"), "even number"),
    (("llama-2-7b", *POINT, "--num_frames", "8"), "takes no frames"),
    (("bert-base", "--batch_size", "1", "--seq_len", "8", "--phase", "decode"), "has no decode"),
    (("bert-base", *POINT), "does not run at these sizes; its formulas hold where {seq_len} <= 512"),
    (("llama-2-7b", *POINT, "--plot", "x.gif"), ".svg, .png, .pdf"),
    (("llama-2-7b", *POINT, "--csv", "no/such/x.csv"), "there is no folder no/such; make it"),
    (("llama-2-7b", "--sweep", "batch_size=1:4", "--plot", "no/x.svg"), "there is no folder no"),
    (("llama-2-7b", "--sweep", "batch_size=1:x"), "no whole number"),
    (("llama-2-7b", "--sweep", "batch_size=1,seq_len=8,colour=1:3"), "colour"),
    (("transformers.models.llama.configuration_llama.NoConfig", *POINT), "NoConfig"),
    (("os:getcwd", "--input", "x=batch_size,3", "--batch_size", "1"), "no torch.nn.Module"),
    (("no_such_module:build", "--input", "x=batch_size,3", "--batch_size", "1"), "no_such_module"),
    (("no_such_module:build", "--batch_size", "1"), "--input x=batch_size,3,224,224"),
    (("bad/config.json", *POINT), "reading bad/config.json"),
    (("list/config.json", *POINT), "one JSON object, found list"),
    (("code", *POINT), "building code: Y is in code of the checkpoint (auto_map) and not in transformers"),
    (("code", *POINT, "--trust-remote-code"), "put its files beside config.json"),
    (("foreign", *POINT), "put its files beside config.json and give --trust-remote-code"),
    (("llama-2-7b", *POINT, "--set", "torch_dtype=float16"), "--w_bit"),
    (("ghost", *POINT), "no model_type 'ghost'"),
    (("broken.json", *POINT), "Invalid JSON"),
    (("--model_json", "absent.json", *POINT), "reading absent.json: there is no such file"),
    (("empty.json", *POINT), "model_id: Field required"),
    (("newer.json", *POINT), "newer version"),
    ((), "no model was named"),
    (("llama-2-7b", "--model_id", "gpt2"), "2 models were named"),
    (("llama-2-7b", "--size", "a"), "NAME=VALUE"),
    (("llama-2-7b", *POINT, "--phase", "training"), "training"),
]


@pytest.mark.parametrize(
    ("arguments", "message"), BAD, ids=lambda one: " ".join(one)[:40] if one else "nothing"
)
def test_bad_input_is_one_message(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    """Everything wrong is told, without a traceback, and nothing is written; wrong usage is 2, all else 1."""
    for name, text in {
        "bad/config.json": "{",
        "list/config.json": "[]",
        "code/config.json": json.dumps({**TINY, "architectures": ["Y"], "auto_map": {"AutoModel": "x.Y"}}),
        "foreign/config.json": json.dumps({"model_type": "ghost", "auto_map": {"AutoConfig": "x.C"}}),
        "ghost/config.json": json.dumps({"model_type": "ghost"}),
        "broken.json": "{",
        "empty.json": "{}",
        "newer.json": json.dumps({"architecture_version": 99}),
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    before = sorted(tmp_path.rglob("*"))
    code, out, err = run("analyze-model", *arguments)

    assert (2 if "Usage:" in err else 1, "") == (code, out)
    assert message in " ".join(err.replace("│", " ").split())
    assert "Traceback" not in err
    assert before == sorted(tmp_path.rglob("*"))
