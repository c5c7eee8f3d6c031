"""Proves and stores every class of torch.nn and every class in the trees of fifteen transformers models.

    python benchmarks/prove_core.py [--only NAME ...] [--no-explore]

One child process per torch.nn batch or model, 30 minutes each. The verdicts
are written to benchmarks/results/core_runs.json.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

RESULTS = Path(__file__).parent / "results" / "core_runs.json"
SECONDS = 1800
MODELS = {
    "llama": "llama.modeling_llama.LlamaModel",
    "bert": "bert.modeling_bert.BertModel",
    "gpt2": "gpt2.modeling_gpt2.GPT2Model",
    "vit": "vit.modeling_vit.ViTModel",
    "qwen3": "qwen3.modeling_qwen3.Qwen3Model",
    "mixtral": "mixtral.modeling_mixtral.MixtralModel",
    "qwen3_moe": "qwen3_moe.modeling_qwen3_moe.Qwen3MoeModel",
    "t5": "t5.modeling_t5.T5Model",
    "mamba": "mamba.modeling_mamba.MambaModel",
    "clip": "clip.modeling_clip.CLIPModel",
    "whisper": "whisper.modeling_whisper.WhisperModel",
    "gemma3": "gemma3.modeling_gemma3.Gemma3TextModel",
    "deepseek_v3": "deepseek_v3.modeling_deepseek_v3.DeepseekV3Model",
    "mamba2": "mamba2.modeling_mamba2.Mamba2Model",
    "swin": "swin.modeling_swin.SwinModel",
}


def prove_torch(explore: bool) -> dict[str, object]:
    """Every class of torch.nn that can be called; stored one by one."""
    from forwardbook.analyzers.instances.torch_nn import rows, torch_recipes
    from forwardbook.pipeline.child.request import Request
    from forwardbook.pipeline.child.work import work
    from forwardbook.schema import Entry

    done: dict[str, object] = {}
    for name in sorted(rows()):
        begin = time.monotonic()
        recipe = torch_recipes(name)[0]
        if not recipe.target.startswith("torch."):
            continue
        try:
            response = work(Request(target=recipe.target, seed=20240229, explore=explore))
            entry = Entry.model_validate(response.entry) if response.entry else None
            verdict = entry.validation.verdict if entry and not response.problem else "wrong"
            reason = response.problem or (entry.validation.reason if entry else "")
            if entry is not None and not response.problem:
                keep(entry)
        except Exception as error:  # noqa: BLE001 - the table says what failed
            verdict, reason = "unproved", f"{type(error).__name__}: {str(error)[:200]}"
        seconds = round(time.monotonic() - begin, 2)
        done[f"torch.nn.{name}"] = {"verdict": verdict, "reason": reason, "seconds": seconds}
        print(name, verdict, reason[:100], flush=True)
    return done


def prove_model(root: str, explore: bool) -> dict[str, object]:
    """Every class of transformers in the tree of one model."""
    from forwardbook.pipeline.derivation.tree import derive_tree, entries

    begin = time.monotonic()
    tree = derive_tree(
        f"transformers.models.{root}",
        seed=20240229,
        explore=explore,
        wanted=partial(_wanted, f"transformers.models.{root.partition('.')[0]}.", stored()),
        told=lambda scenario: print(root, scenario, flush=True),
    )
    done: dict[str, object] = {}
    for name, entry in entries(tree.found, tree.reading).items():
        if entry.validation.verdict == "exact":
            keep(entry)
        done[name] = {
            "verdict": entry.validation.verdict,
            "reason": entry.validation.reason,
            "regimes": len(entry.regimes),
        }
        print(name, entry.validation.verdict, entry.validation.reason[:150], flush=True)
    for scenario, reason in tree.failed.items():
        done[f"{root} ({scenario})"] = {"verdict": "unproved", "reason": reason}
        print(root, scenario, "FAILED", reason[:200], flush=True)
    done["seconds"] = round(time.monotonic() - begin, 1)
    return done


def _wanted(folder: str, known: frozenset[str], name: str) -> bool:
    """The model's own classes; those that many models share keep the regimes of the first that has them."""
    return name.startswith(folder) or (name.startswith("transformers.") and name not in known)


def stored() -> frozenset[str]:
    """The full names of the classes in the database."""
    from forwardbook.workspace import Workspace

    return frozenset(Workspace.find().load().keys_by_class())


def keep(entry: object) -> None:
    """Into the workspace's database, with its calculator."""
    from forwardbook.analyzers.ops import RULES_VERSION
    from forwardbook.pipeline.store import store
    from forwardbook.workspace import Workspace

    store(entry, Workspace.find(), RULES_VERSION, force=True)  # type: ignore[arg-type]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=["torch", *MODELS])
    parser.add_argument("--no-explore", action="store_true")
    parser.add_argument("--child")
    options = parser.parse_args()
    if options.child:
        explore = not options.no_explore
        name = options.child
        done = prove_torch(explore) if name == "torch" else prove_model(MODELS[name], explore)
        print("RESULT " + json.dumps(done))
        return
    record = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in options.only:
        begin = time.monotonic()
        command = [sys.executable, "-W", "ignore", __file__, "--child", name]
        command += ["--no-explore"] if options.no_explore else []
        try:
            child = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=SECONDS, check=False)
            lines = [line for line in child.stdout.splitlines() if line.startswith("RESULT ")]
            result = json.loads(lines[-1][7:]) if lines else {"failed": f"exit code {child.returncode}"}
        except subprocess.TimeoutExpired:
            result = {"failed": f"longer than {SECONDS} s"}
        record[name] = result
        print(f"{name}: {_tally(result)} in {time.monotonic() - begin:.0f} s", flush=True)
        record["about"] = _about()
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")


def _tally(result: dict[str, object]) -> str:
    verdicts = [one["verdict"] for one in result.values() if isinstance(one, dict)]
    return ", ".join(f"{verdicts.count(v)} {v}" for v in sorted(set(verdicts))) or str(result)


def _about() -> dict[str, str]:
    from importlib.metadata import version

    return {
        "date": datetime.date.today().isoformat(),
        "python": platform.python_version(),
        "torch": version("torch"),
        "transformers": version("transformers"),
        "command": "python benchmarks/prove_core.py",
    }


if __name__ == "__main__":
    main()
