"""A small Llama's own trace: its own config is the same, every changed field is not."""

import json
from pathlib import Path

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from forwardbook.cli import main

FIELDS = {
    "hidden_size": 192,
    "intermediate_size": 520,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "vocab_size": 3001,
}
MATRICES = 2 * 80 * (3001 * 192 + 3 * (3 * 192 * 520 + 2 * 192 * 192 + 2 * 192 * 64))  # 80 rows: 2 by 40
ATTENTION = 3 * 4 * 2 * 40 * 40 * 192


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with the config and two traces of one forward(): fused attention, and eager."""
    place = tmp_path_factory.mktemp("llama")
    config = LlamaConfig(**FIELDS)
    (place / "llama").mkdir()
    values = {**config.to_dict(), "architectures": ["LlamaForCausalLM"]}
    (place / "llama" / "config.json").write_text(json.dumps(values))
    for attention in ("sdpa", "eager"):
        model = LlamaForCausalLM._from_config(config, attn_implementation=attention).eval()
        with torch.no_grad(), torch.profiler.profile(record_shapes=True) as profile:
            model(torch.zeros(2, 40, dtype=torch.long), use_cache=False)
        profile.export_chrome_trace(str(place / f"{attention}.json"))
    return place


def checked(folder: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str, trace: str = "sdpa") -> object:
    """The exit code of the check of a trace."""
    monkeypatch.chdir(folder)
    with pytest.raises(SystemExit) as stopped:
        main(["profile", "check", "--trace", f"{trace}.json", "--model", "./llama", *arguments])
    return stopped.value.code


@pytest.mark.parametrize("trace", ["sdpa", "eager"])
def test_its_own_config_is_the_same(
    trace: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Totals of all formulas are the totals of all products, also where attention ran as two products."""
    code = checked(folder, monkeypatch, trace=trace)
    lines = capsys.readouterr().out.splitlines()

    assert 0 == code
    assert f"matrix products: formulas {MATRICES:,}, trace {MATRICES:,}: equal" in lines
    assert f"attention: formulas {ATTENTION:,}, trace {ATTENTION:,}: equal" in lines
    assert lines[-1].startswith("the same: 5 kinds of product")


@pytest.mark.parametrize(
    "change",
    [
        "hidden_size=240",
        "intermediate_size=600",
        "vocab_size=4000",
        "num_hidden_layers=4",
        "num_key_value_heads=6",
        "head_dim=48",
    ],
)
def test_a_changed_field_is_not_the_same(
    change: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One field of the config changed: exit 1, and the last line says that the products are not the same."""
    code = checked(folder, monkeypatch, "--set", change)

    assert 1 == code
    assert capsys.readouterr().out.splitlines()[-1].startswith("NOT the same")


def test_another_length_is_not_the_same(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A length that the trace did not run: exit 1, and a note says which length the trace has."""
    code = checked(folder, monkeypatch, "--seq_len", "64")
    note = "note: the look-ups of token embeddings in the trace have seq_len = 40, not 64"

    assert 1 == code
    assert note in capsys.readouterr().out.splitlines()
