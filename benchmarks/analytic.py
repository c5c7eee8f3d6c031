"""A model's config and sizes in; the flops that formulas written by others for language models give out."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from benchmarks.counters import MAC, Report

Config = Mapping[str, int]


@dataclass(frozen=True)
class Formula:
    """A tool that evaluates its own formulas: given the fields of a config it gives what counts a prompt."""

    name: str
    package: str
    prepare: Callable[[Config], Callable[[int, int], Report]]


def llm_analysis(config: Config) -> Callable[[int, int], Report]:
    """cli99's llm-analysis; the config is made by hand, as its reader of configs stops at most of them."""
    from llm_analysis.analysis import LLMAnalysis
    from llm_analysis.config import ModelConfig, get_gpu_config_by_name

    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    model = ModelConfig(
        name="model",
        num_layers=config["num_hidden_layers"],
        n_head=heads,
        hidden_dim=config["hidden_size"],
        vocab_size=config["vocab_size"],
        num_key_value_heads=kv_heads,
        num_key_value_groups=heads // kv_heads,
        ffn_embed_dim=config["intermediate_size"],
        expansion_ratio=config["intermediate_size"] / config["hidden_size"],
        moe_num_experts=config["num_experts"],
        moe_top_k=config["num_experts_per_tok"],
    )
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        analysis = LLMAnalysis(model, get_gpu_config_by_name("a100-sxm-80gb"))
    return lambda batch, seq: Report(round(analysis.get_num_flops_fwd_total(batch, seq)))


def genz(config: Config) -> Callable[[int, int], Report]:
    """GenZ; it reports millions of multiply-accumulates."""
    from GenZ import prefill_moddeling
    from GenZ.Models import ModelConfig

    model = ModelConfig(
        model="model",
        hidden_size=config["hidden_size"],
        num_attention_heads=config["num_attention_heads"],
        num_key_value_heads=config["num_key_value_heads"],
        head_dim=config["head_dim"],
        num_ffi=2,  # gate and up
        intermediate_size=config["intermediate_size"],
        num_decoder_layers=config["num_hidden_layers"],
        vocab_size=config["vocab_size"],
        num_experts=config["num_experts"],
        expert_top_k=config["num_experts_per_tok"],
        **({"moe_intermediate_size": config["intermediate_size"]} if config["num_experts"] > 1 else {}),
    )

    def count(batch: int, seq: int) -> Report:
        _, summary = prefill_moddeling(
            model=model,
            batch_size=batch,
            input_tokens=seq,
            system_name="A100_80GB_GPU",
            bits="bf16",
            model_profilling=True,
        )
        return Report(round(MAC * 1e6 * float(summary["MACs (MFLOP)"].values[0])))

    return count


FORMULAS = (
    Formula("llm-analysis", "llm-analysis", llm_analysis),
    Formula("GenZ", "genz-llm", genz),
)


def fields(config: Mapping[str, object]) -> Config | None:
    """What these formulas ask of a config; None for models that are no gated decoder of one width."""
    names = ("num_hidden_layers", "hidden_size", "num_attention_heads", "vocab_size")
    if config.get("hidden_act") != "silu" or any(not isinstance(config.get(name), int) for name in names):
        return None
    if "kv_lora_rank" in config:
        return None
    found = {name: value for name in names if isinstance(value := config[name], int)}
    experts = config.get("num_local_experts", config.get("num_experts", 1))
    more = {
        "num_key_value_heads": config.get("num_key_value_heads", found["num_attention_heads"]),
        "head_dim": config.get("head_dim") or found["hidden_size"] // found["num_attention_heads"],
        "intermediate_size": config.get("moe_intermediate_size", config.get("intermediate_size")),
        "num_experts": experts,
        "num_experts_per_tok": config.get("num_experts_per_tok", 1),
    }
    return found | {name: value for name, value in more.items() if isinstance(value, int)}
