"""The record: frozen, strict, and described by the shipped JSON schema."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from forwardbook.saying import together
from forwardbook.schema import QUANTITIES, CodeLocation, Entry, Regime, snake_case
from forwardbook.workspace.stored_form import json_schema

ROOT = Path(__file__).resolve().parent.parent


def test_shipped_json_schema_is_current() -> None:
    """The JSON schema file is what the models generate; `make schema` writes it."""
    shipped = json.loads((ROOT / "src/forwardbook/module_db.schema.json").read_text(encoding="utf-8"))

    assert json_schema() == shipped


def test_entry_survives_json(entry: Entry) -> None:
    """An entry written as JSON and read back is equal."""
    assert entry == Entry.model_validate_json(entry.model_dump_json())


def test_unknown_field_is_refused() -> None:
    """A field that the schema does not know is an error, not ignored."""
    with pytest.raises(ValidationError, match="colour"):
        CodeLocation.model_validate({"file": "a.py", "line_start": 1, "line_end": 2, "colour": "red"})


def test_records_are_frozen(entry: Entry) -> None:
    """An entry cannot be changed after it was built."""
    with pytest.raises(ValidationError, match="frozen"):
        entry.library = "other"  # type: ignore[misc]


def test_every_quantity_has_a_formula(prefill: Regime) -> None:
    """A regime answers for each of QUANTITIES."""
    assert all(prefill.formula(quantity) for quantity in QUANTITIES)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("LlamaAttention", "llama_attention"),
        ("GPT2MLP", "gpt2_mlp"),
        ("transformers_LlamaRMSNorm", "transformers_llama_rms_norm"),
        ("torch_Conv2d", "torch_conv2d"),
        ("T5LayerFF", "t5_layer_ff"),
    ],
)
def test_snake_case(name: str, expected: str) -> None:
    """Words of a class name are parted by underscores, acronyms stay whole."""
    assert expected == snake_case(name)


def test_what_is_assumed_of_single_fields_is_one_line() -> None:
    said = (
        "balanced routing",
        "built with window=None",
        "a config with act=\"gelu\"",
        "built with head=None",
        "a config with bias=true",
    )
    assert together(said) == [
        "balanced routing",
        "built with window=None, head=None",
        "a config with act=\"gelu\", bias=true",
    ]


def test_nothing_assumed_is_no_line() -> None:
    assert together(()) == []
