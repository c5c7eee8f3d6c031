"""The model pipeline's two roles: commands as they are typed, against a scripted service."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forwardbook.pipeline.analysis.one import Options, analyze
from forwardbook.pipeline.child.job import Limits
from forwardbook.pipeline.model.stated_weights import stated_weights

from .inside import run_inside
from .script import Json, Say, say, tool_results, use
from .server import Scripted

Run = Callable[..., tuple[int, str, str]]
CONFIG: Json = {
    "model_type": "goose",
    "dim": 32,
    "n_layers": 3,
    "n_heads": 4,
    "n_kv_heads": 2,
    "ffn": 48,
    "vocab": 50,
    "pad_id": 0,
}
PARAMETERS = 2 * 50 * 32 + 3 * (2 * 32 * 32 + 2 * 32 * 16 + 3 * 32 * 48 + 2 * 32) + 32
SETTINGS: list[Json] = [
    {"name": "hidden_size", "copied": "dim"},
    {"name": "num_hidden_layers", "copied": "n_layers"},
    {"name": "num_attention_heads", "copied": "n_heads"},
    {"name": "num_key_value_heads", "copied": "n_kv_heads"},
    {"name": "intermediate_size", "formula": "{ffn}"},
    {"name": "vocab_size", "copied": "vocab"},
]
GOOD: Json = {
    "model_class": "LlamaForCausalLM",
    "settings": SETTINGS,
    "parts": [{"class_name": "LlamaDecoderLayer", "count": "{n_layers}"}],
    "ignored": ["pad_id"],
    "reasoning": "Fewer heads for keys than for queries, three products in the feed-forward part.",
}
UNUSED: Json = {**GOOD, "settings": SETTINGS[:3] + SETTINGS[4:]}
MISCOUNTED: Json = {**GOOD, "parts": [{"class_name": "LlamaDecoderLayer", "count": "2 * {n_layers}"}]}
TIED: Json = {**GOOD, "settings": [*SETTINGS, {"name": "tie_word_embeddings", "literal": True}]}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Run) -> Run:
    """Runs a command in an empty folder with a key; the user's configuration names the scripted service."""
    for name in ("CACHE", "STATE", "DATA", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key")
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)

    def call(url: str, *arguments: str) -> tuple[int, str, str]:
        path = tmp_path / "config" / "forwardbook" / "config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'[agents]\nbase_url = "{url}"\nretries = 0\n')
        return command(*arguments)

    return call


@pytest.fixture
def goose(run: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkpoint's folder of an unknown type, whose index states the number of parameters."""
    monkeypatch.setattr("forwardbook.pipeline.agent.structure.run_child", run_inside)
    folder = Path("goose-1b")
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(CONFIG))
    index = {"metadata": {"total_parameters": PARAMETERS}, "weight_map": {"w": "away.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return folder


def then(answer: Json, *expected: str) -> Callable[[Json], Say]:
    """The next answer, after the model has read why the last one was refused."""

    def play(body: Json) -> Say:
        read = tool_results(body)
        assert all(words in read for words in expected), read
        return say(use("submit", answer))

    return play


def test_unknown_config_is_read_built_and_counted(run: Run, goose: Path) -> None:
    """A model says how a config is built; fields left over, wrong counts and other weights bounce."""
    steps: list[Any] = [
        say(use("config_fields", {"name": "LlamaForCausalLM"}), use("submit", UNUSED)),
        then(MISCOUNTED, "what becomes of n_kv_heads", "num_key_value_heads"),
        then(TIED, "you say 6, built are 3"),
        then(GOOD, f"{PARAMETERS - 1600:,} parameters", f"states {PARAMETERS:,}"),
    ]
    typed = ("analyze-model", str(goose), "--batch_size", "1", "--seq_len", "16", "--json")
    with Scripted(steps) as server:
        code, out, err = run(server.url, *typed, "--analyst", "api")
        again = run(server.url, *typed, "--analyst", "replay")
    found = json.loads(out)

    assert 0 == code, err
    assert 4 == server.pos == len(server.bodies)
    assert "exact" == found["phases"]["prefill"]["proof"]["verdict"]
    assert PARAMETERS == found["parameter_count"]
    [note] = [line for line in found["notes"] if "proposed by" in line]
    assert f"claude-sonnet-5-5 as LlamaForCausalLM; built and counted; its {PARAMETERS:,} parameters" in note
    assert "spent: architecture_analyst: $" in err
    kept = json.loads(Path("models/goose-1b.json").read_text())
    assert "proposed by claude-sonnet-5-5" in kept["proposal"]
    assert (0, found["total"]) == (again[0], json.loads(again[1])["total"])


def test_unknown_config_without_an_answer(run: Run, goose: Path) -> None:
    """Nobody chosen: the error says how to ask. A liar: unresolved, exit 1, diagnostics, nothing written."""
    alone, _, err = run("http://127.0.0.1:9", "analyze-model", str(goose), "--generate-arch")
    assert (1, True) == (alone, "--analyst api" in err)

    with Scripted(forever=lambda body: say(use("submit", MISCOUNTED))) as server:
        code, _, err = run(server.url, "analyze-model", str(goose), "--generate-arch", "--analyst", "api")

    assert (1, 5) == (code, len(server.bodies))
    assert "unresolved (invalid)" in err
    assert not Path("models").exists()
    [path] = Path("diagnostics").glob("*_diagnostics.json")
    told = json.loads(path.read_text())
    assert ("architecture_analyst", 5) == (told["role"], len(told["attempts"]))


def test_dry_run_shows_the_question(run: Run, goose: Path) -> None:
    """A dry run prints the request and its worst cost; nothing is sent or written."""
    with Scripted() as server:
        code, out, err = run(server.url, "analyze-model", str(goose), "--analyst", "api", "--dry-run")

    assert 0 == code, err
    assert "n_kv_heads" in json.loads(out)["messages"][0]["content"]
    assert "not sent" in err
    assert [] == server.log
    assert not Path("models").exists()


NET = """\
from torch import nn


class Block(nn.Module):
    def __init__(self, width: int, factor: int) -> None:
        super().__init__()
        self.up = nn.Linear(width, factor * width)
        self.down = nn.Linear(factor * width, width)

    def forward(self, x):
        return x + self.down(self.up(x))


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Block(24, 3), Block(24, 3)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def build() -> nn.Module:
    return Net()
"""


def widths(**numbers: str) -> Say:
    """What is proposed for the parameters of the blocks."""
    values = [
        {"owner": "blocks.0-1", "name": name, "formula": number, "source": "Net builds Block(24, 3)"}
        for name, number in numbers.items()
    ]
    return say(use("submit", {"values": values}))


@pytest.fixture
def net(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A class in the database whose sizes its instances do not keep, and a model of two of them."""
    Path("net.py").write_text(NET)
    monkeypatch.syspath_prepend(str(Path.cwd()))
    monkeypatch.delitem(sys.modules, "net", raising=False)
    options = Options(
        init={"width": "32", "factor": "2"}, inputs={"x": "batch_size,seq_len,width"}, explore=False
    )
    analyze("net.py:Block", options, limits=Limits(), run=run_inside)


TYPED = ("analyze-model", "net:build", "--input", "x=batch_size,seq_len,24")


def test_missing_parameters_are_filled_and_confirmed(run: Run, net: None) -> None:
    """Sizes that only the source states: wrong ones fail against the proof, right ones are kept, marked."""

    def mend(body: Json) -> Say:
        read = tool_results(body)
        assert "with width = 24, factor = 4 the formulas of blocks.0-1 differ" in read, read
        return widths(width="24", factor="3")

    with Scripted([say(use("source", {"name": "Net"})), widths(width="24", factor="4"), mend]) as server:
        sizes = ("--batch_size", "2", "--seq_len", "16")
        code, out, err = run(server.url, *TYPED, *sizes, "--analyst", "api", "--json")
    [path] = Path("models").glob("*_populated.json")
    kept = json.loads(path.read_text())
    [block] = kept["layers"][0]["sub_layers"]

    assert 0 == code, err
    assert 3 == server.pos == len(server.bodies)
    assert "Block(24, 3)" in tool_results(server.bodies[1])
    assert "factor = 3 of blocks.0-1: proposed by claude-sonnet-5-5: 3: Net builds Block(24, 3)" in err
    assert "spent: parameter_analyst: $" in err
    assert ([], 3, "agent") == (
        block["missing"],
        block["parameters"]["factor"]["value"],
        block["parameters"]["factor"]["origin"],
    )
    [phase] = kept["opinions"].values()
    assert ["agrees"] == [one["state"] for one in phase if one["layer"] == "blocks.0-1"]
    assert "net.Block" in json.loads(out)["module_database"]["agrees"]


def test_parameters_that_nobody_confirms_stay_missing(run: Run, net: None) -> None:
    """A model that keeps guessing fills nothing: what was populated without it is written, with a remark."""
    with Scripted(forever=lambda body: widths(width="25", factor="3")) as server:
        code, _, err = run(server.url, *TYPED, "--populate-arch", "--analyst", "api")
    [path] = Path("models").glob("*_populated.json")

    assert (0, 5) == (code, len(server.bodies)), err
    assert "parameters stay unresolved (invalid)" in err
    assert ["factor", "width"] == json.loads(path.read_text())["layers"][0]["sub_layers"][0]["missing"]
    assert len(list(Path("diagnostics").glob("*_diagnostics.json"))) == 1


def test_nothing_open_asks_nobody(run: Run) -> None:
    """Where every parameter that matters has a value nobody is asked, and a dry run says so."""
    with Scripted() as server:
        code, out, err = run(server.url, "analyze-model", "gpt2", "--analyst", "api", "--dry-run")

    assert (0, "", []) == (code, out, server.log), err
    assert "nobody would be asked" in err


def test_weights_are_counted_from_headers(tmp_path: Path) -> None:
    """The header of a safetensors file states shapes; a damaged one states nothing, and no weight is read."""
    header = {"__metadata__": {}, "a": {"dtype": "F32", "shape": [3, 4]}, "b": {"dtype": "F32", "shape": [5]}}
    data = json.dumps(header).encode()
    path = tmp_path / "model.safetensors"
    path.write_bytes(len(data).to_bytes(8, "little") + data)
    assert (17, "model.safetensors") == stated_weights(tmp_path, {})

    path.write_bytes(b"\xff" * 64)
    assert stated_weights(tmp_path, {}) is None
    index = {"metadata": {"total_size": 68}, "weight_map": {"a": "x.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    assert (17, "model.safetensors.index.json") == stated_weights(tmp_path, {"torch_dtype": "float32"})
    assert stated_weights(tmp_path, {}) is None
