"""The files that the small site is built from: classes as shipped, and every free text hostile in some."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from forwardbook.schema import Entry
from forwardbook.workspace import Workspace

ROOT: Final = Path(__file__).resolve().parents[3]
CLASSES: Final = (
    "torch_AdaptiveAvgPool2d", "torch_Bilinear", "torch_Conv2d", "torch_ConvTranspose2d",
    "torch_EmbeddingBag", "torch_GRUCell", "torch_GroupNorm", "torch_LSTM", "torch_Linear",
    "torch_MaxPool2d", "torch_MultiheadAttention", "torch_TransformerEncoderLayer",
    "transformers_BertSelfAttention", "transformers_GPT2Attention",
    "transformers_LlamaAttention", "transformers_LlamaDecoderLayer", "transformers_LlamaMLP",
    "transformers_LlamaRMSNorm", "transformers_MambaMixer", "transformers_MixtralSparseMoeBlock",
    "transformers_Qwen3MoeAttention", "transformers_T5LayerCrossAttention",
)  # fmt: skip
"""Of all kinds: with one regime and many, with and without floor, ceil, max and a cache."""

MODEL: Final = "gpt2"
HOSTILE: Final[list[str]] = json.loads(Path(__file__).with_name("hostile.json").read_text(encoding="utf-8"))

FREE_TEXTS: Final = (
    ("parameters", "meaning"), ("parameters", "source"),
    ("regimes", "name"), ("regimes", "context"), ("regimes", "assumptions"), ("validation", "reason"),
    ("regimes.flop_analysis", "reasoning"), ("regimes.memory_analysis", "reasoning"),
    ("regimes.flop_analysis.lines", "code"), ("regimes.flop_analysis.lines", "operations"),
    ("regimes.flop_analysis.lines", "chain"), ("regimes.memory_analysis.lines", "code"),
    ("regimes.proof", "device"), ("regimes.proof", "dtype"),
    ("regimes.proof.judges", "name"), ("regimes.proof.judges", "remark"),
)  # fmt: skip


def prepare_workspace(root: Path) -> None:
    """The files that the site is built from."""
    (root / "docs").mkdir(parents=True)
    for path in [*sorted((ROOT / "docs").glob("*.md")), ROOT / "mkdocs.yml"]:
        shutil.copy(path, root / path.relative_to(ROOT))
    (root / "models").mkdir()
    for path in (ROOT / "models").glob(f"{MODEL}[._]*"):
        shutil.copy(path, root / "models")
    shipped = Workspace(ROOT).load()
    entries = {key: shipped[key] for key in CLASSES}
    entries |= {
        f"hostile_Class{place}": hostile_entry(shipped["torch_Linear"], place)
        for place in range(len(HOSTILE))
    }
    Workspace(root).save(entries)
    explain_hostile_file(root)


def explain_hostile_file(root: Path) -> None:
    """A source file whose docstrings hold every hostile string, explained; prose that holds them raw."""
    from forwardbook.cli import main

    text = "\n\n".join(
        f'def function_{place}(x: int) -> int:\n    """Twice {docstring(each)}."""\n    return x * 2'
        for place, each in enumerate(HOSTILE)
    )
    (root / "hostile.py").write_text(
        f'"""Numbers {docstring(HOSTILE[0])}."""\n\n\n{text}\n', encoding="utf-8"
    )
    here = Path.cwd()
    os.chdir(root)
    try:
        main(["explain", "hostile.py"])
    except SystemExit as stop:
        assert not stop.code
    finally:
        os.chdir(here)
    prose = "\n\n".join(
        f"## Part {each}\n\n{each}\n\n- {each}\n\n> {each}\n\n"
        f"| a |\n| --- |\n| {each} |\n\n[{each}]({each})\n\n`{each}`"
        for each in HOSTILE
    )
    (root / "docs" / "code-explained" / "prose.md").write_text(f"# Prose\n\n{prose}\n", encoding="utf-8")


def docstring(text: str) -> str:
    """The text as it can stand between triple quotes."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


def hostile_entry(entry: Entry, place: int) -> Entry:
    """The entry with a hostile string in each of its free texts; formulas and conditions stay."""
    text = HOSTILE[place]
    raw = entry.model_dump(mode="json")
    for path, name in FREE_TEXTS:
        for holder in _holders(raw, path):
            if isinstance(holder.get(name), str):
                holder[name] = text
            elif isinstance(holder.get(name), list):
                holder[name] = [text, text]
    raw["full_class_name"] = f"hostile.Class{place}"  # names of a database are refused where they are none
    raw["library"] = "hostile"
    raw["versions"] = {text: text}
    raw["unresolved"] = [{"file": text, "line": 1, "operation": text, "reason": text}]
    raw["same_as"], raw["generated_file_name"], raw["generated_class_name"] = None, "", ""
    for regime in raw["regimes"]:
        regime["flop_analysis"]["submodule_calls"] = [
            {"line": 1, "attribute": text, "class_name": text, "times": text, "bindings": {text: text}}
        ]
    return Entry.model_validate(raw)


def _holders(raw: Any, path: str) -> Iterator[dict[str, Any]]:
    """The objects that a path of names leads to, through lists."""
    if isinstance(raw, list):
        for each in raw:
            yield from _holders(each, path)
    elif isinstance(raw, dict):
        first, _, rest = path.partition(".")
        if first:
            yield from _holders(raw.get(first), rest)
        else:
            yield raw
