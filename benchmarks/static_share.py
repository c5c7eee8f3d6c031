"""Reads and runs every class of torch.nn and of the trees of fifteen models, and counts identical formulas.

    python benchmarks/static_share.py [--only NAME ...]
    python benchmarks/static_share.py --sample 60 --seed 7     # base models drawn from all of transformers

Both engines really run, one child process per family, float32 and bfloat16, prefill and decode. The models
are read before anything of transformers is imported. A class agrees where every total and every line of each
of its calls is the same polynomial. Results in benchmarks/results/static_share.json, of a sample in
static_sample.json.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import random
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results" / "static_share.json"
SAMPLE = RESULTS.with_name("static_sample.json")
SECONDS = 1800
INSTALLED = sysconfig.get_path("purelib")
"""Where packages lie on this machine; places in them are told from there."""
MODELS = {
    "llama": "llama.modeling_llama.LlamaModel",
    "qwen3": "qwen3.modeling_qwen3.Qwen3Model",
    "qwen3_moe": "qwen3_moe.modeling_qwen3_moe.Qwen3MoeModel",
    "mixtral": "mixtral.modeling_mixtral.MixtralModel",
    "deepseek_v3": "deepseek_v3.modeling_deepseek_v3.DeepseekV3Model",
    "gemma3_text": "gemma3.modeling_gemma3.Gemma3TextModel",
    "gpt2": "gpt2.modeling_gpt2.GPT2Model",
    "bert": "bert.modeling_bert.BertModel",
    "t5": "t5.modeling_t5.T5Model",
    "vit": "vit.modeling_vit.ViTModel",
    "clip": "clip.modeling_clip.CLIPModel",
    "whisper": "whisper.modeling_whisper.WhisperModel",
    "swin": "swin.modeling_swin.SwinModel",
    "mamba": "mamba.modeling_mamba.MambaModel",
    "mamba2": "mamba2.modeling_mamba2.Mamba2Model",
}
NAMED = (
    "LlamaMLP", "LlamaRMSNorm", "LlamaAttention", "LlamaDecoderLayer", "BertSelfAttention", "T5LayerNorm",
    "T5Attention",
)  # fmt: skip
Table = dict[str, dict[str, Any]]  # class -> leaf, calls compared, the first difference


def compare_class(name: str, target: str = "") -> Table:
    """The classes called in the recipes of one class, read and then run; `target` alone where it is given."""
    import torch

    from forwardbook.analyzers.instances.recipes import recipes_for
    from forwardbook.analyzers.static.derive import run_first_statically, static_recipes

    read: list[tuple[object, str]] = []
    unread = ""
    try:
        recipes = static_recipes(name)
    except Exception as error:
        recipes, unread = [], f"not followed: {error}"
    for recipe in recipes:
        for dtype in (torch.float32, torch.bfloat16):
            try:
                read.append((run_first_statically(recipe, dtype)[1], ""))
            except Exception as error:
                read.append((None, f"not followed: {error}"))
    table: Table = {}
    if any(key.startswith("transformers.models") for key in sys.modules):
        raise RuntimeError("reading has imported the library")
    results = iter(read)
    for recipe in recipes_for(name):
        for dtype in (torch.float32, torch.bfloat16):
            run, problem = next(results, (None, unread))
            for found, leaf, difference in compare_runs(recipe, dtype, run, problem):
                if target and found not in (recipe.calls_as, target):
                    continue
                row = table.setdefault(found, {"leaf": leaf, "calls": 0, "difference": ""})
                row["calls"] += 1
                row["leaf"] = row["leaf"] and leaf
                row["difference"] = row["difference"] or difference.replace(f"{INSTALLED}/", "")
    return table


def compare_runs(recipe: Any, dtype: Any, read: Any, problem: str) -> Iterator[tuple[str, bool, str]]:
    """Each call of the run: its class, whether it calls no other module, and how the reading differs."""
    from forwardbook.analyzers.static.agreement import differences
    from forwardbook.analyzers.symbolic.patterns import class_name, hint_reader, summary_at
    from forwardbook.analyzers.symbolic.summary import summarise
    from forwardbook.pipeline.derivation.regimes import run_first

    try:
        _, ran = run_first(recipe, dtype)
    except Exception:
        return  # it has no kernel in this dtype: there is nothing to compare
    parents = {call.parent for call in ran.trace.calls}
    seen: dict[str, int] = {}
    for call in ran.trace.calls:
        occurrence = seen.get(call.path, 0)
        seen[call.path] = occurrence + 1
        first = problem
        if read is not None:
            ours = summary_at(read, call.path, occurrence)
            theirs = summarise(ran.trace, call, hint_reader(ran))
            first = "it is not called when it is read"
            if ours is not None:
                first = next(differences(ours, theirs), "")
        yield class_name(call.module), call.index not in parents, first


def family(name: str) -> Table:
    """The table of torch.nn or of one model."""
    if name != "torch":
        return compare_class(f"transformers.models.{MODELS.get(name, name)}")
    from forwardbook.analyzers.instances.torch_nn import rows

    table: Table = {}
    for row in sorted(rows()):
        if rows()[row][0].home == "torch.nn":
            for found, result in compare_class(f"torch.nn.{row}", f"torch.nn.{row}").items():
                table.setdefault(found, result)
    return table


def summary(families: dict[str, Table]) -> dict[str, Any]:
    """Counts over the distinct classes of all families."""
    rows: Table = {}
    for table in families.values():
        for name, row in table.items():
            if name not in rows or row["difference"]:
                rows[name] = row
    counts = {}
    for kind, leaf in (("leaf", True), ("other", False)):
        found = [row for row in rows.values() if row["leaf"] is leaf]
        same = sum(not row["difference"] for row in found)
        share = round(same / max(len(found), 1), 4)
        counts[kind] = {"classes": len(found), "identical": same, "share": share}
    last = {name.rpartition(".")[2]: not row["difference"] for name, row in rows.items()}
    others = {name: row["difference"] for name, row in rows.items() if row["difference"]}
    return {**counts, "named": {name: last.get(name) for name in NAMED}, "others": others}


def drawn(count: int, seed: int) -> list[str]:
    """Base models of that many model types, below `transformers.models`."""
    import transformers
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

    found = {}
    for kind, name in MODEL_MAPPING_NAMES.items():
        first = name if isinstance(name, str) else name[0]
        home = getattr(getattr(transformers, first, None), "__module__", "")
        if home.startswith("transformers.models."):
            found[kind] = f"{home.removeprefix('transformers.models.')}.{first}"
    chosen = random.Random(seed).sample(sorted(found), count)
    return [found[kind] for kind in chosen]


def about(command: str) -> dict[str, object]:
    """When, with what and by which command."""
    from importlib.metadata import version

    versions = {name: version(name) for name in ("torch", "transformers")}
    return {
        "date": datetime.date.today().isoformat(),
        "command": command,
        "versions": {"python": platform.python_version(), **versions},
        "machine": {"cores": os.cpu_count(), "processor": platform.machine()},
    }


def main() -> None:
    """Every family in a child of its own; the file is written after each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=["torch", *MODELS])
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--child")
    options = parser.parse_args()
    if options.child:
        print("RESULT " + json.dumps(family(options.child)))
        return
    results, names, command = RESULTS, options.only, "python benchmarks/static_share.py"
    if options.sample:
        results, names = SAMPLE, drawn(options.sample, options.seed)
        command += f" --sample {options.sample} --seed {options.seed}"
    record = json.loads(results.read_text()) if results.exists() else {}
    families = record.get("families", {}) if record.get("about", {}).get("command") == command else {}
    for name in names:
        if options.sample and name in families:
            continue
        begin = time.monotonic()
        line = [sys.executable, "-W", "ignore", __file__, "--child", name]
        child = subprocess.run(line, stdout=subprocess.PIPE, text=True, timeout=SECONDS, check=False)
        lines = [line for line in child.stdout.splitlines() if line.startswith("RESULT ")]
        if not lines:
            print(f"{name}: exit code {child.returncode}", flush=True)
            continue
        families[name] = json.loads(lines[-1][7:])
        same = sum(not row["difference"] for row in families[name].values())
        seconds = time.monotonic() - begin
        print(f"{name}: {same} of {len(families[name])} identical, {seconds:.0f} s", flush=True)
        for found, row in families[name].items():
            if row["difference"]:
                print(f"  {found}: {row['difference'][:200]}", flush=True)
        results.parent.mkdir(exist_ok=True)
        record = {"about": about(command), "summary": summary(families), "families": families}
        results.write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(record["summary"], indent=1))


if __name__ == "__main__":
    main()
