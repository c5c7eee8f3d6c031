"""Two Llamas to count, and their exact count written down from first principles, part by part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch
    from torch import nn


@dataclass(frozen=True)
class Llama:
    """The sizes of a Llama; every head has hidden // heads features."""

    name: str
    num_hidden_layers: int
    hidden_size: int
    num_attention_heads: int
    num_key_value_heads: int
    intermediate_size: int
    vocab_size: int

    @property
    def head_dim(self) -> int:
        return self.hidden_size // self.num_attention_heads

    def sizes(self, batch: int, seq: int) -> dict[str, int]:
        """By the names that formulas use; float32."""
        fields = ("num_hidden_layers", "hidden_size", "num_attention_heads", "num_key_value_heads")
        widths = dict.fromkeys(("w_dtype_bytes", "a_dtype_bytes", "kv_dtype_bytes"), 4)
        return {
            **{
                name: getattr(self, name) for name in (*fields, "intermediate_size", "vocab_size", "head_dim")
            },
            **{"batch_size": batch, "seq_len": seq, "kv_len": seq, "max_position_embeddings": 2048},
            **widths,
        }

    def parts(self, batch: int, seq: int) -> dict[str, int]:
        """Flops of LlamaModel's forward(), a multiply-accumulate counting 2, by what they are spent on.

        A matrix product of [rows, k] and [k, n] is rows * n sums of k products: 2 * rows * k * n.
        Lookups, norms, rotations, softmax and activations contract nothing. Attention is counted dense, as it
        is defined: every query meets every key, also those that the causal mask then hides.
        """
        rows = batch * seq
        wide, narrow = (n * self.head_dim for n in (self.num_attention_heads, self.num_key_value_heads))
        one_product = 2 * batch * self.num_attention_heads * seq * seq * self.head_dim
        layer = {
            "q_proj": 2 * rows * self.hidden_size * wide,
            "k_proj": 2 * rows * self.hidden_size * narrow,
            "v_proj": 2 * rows * self.hidden_size * narrow,
            "o_proj": 2 * rows * wide * self.hidden_size,
            "attention scores": one_product,  # [seq, head_dim] by [head_dim, seq], each head of each sequence
            "attention values": one_product,  # [seq, seq] by [seq, head_dim]
            "gate_proj": 2 * rows * self.hidden_size * self.intermediate_size,
            "up_proj": 2 * rows * self.hidden_size * self.intermediate_size,
            "down_proj": 2 * rows * self.intermediate_size * self.hidden_size,
        }
        return {part: self.num_hidden_layers * flops for part, flops in layer.items()}

    def flops(self, batch: int, seq: int) -> int:
        """The sum of the parts."""
        return sum(self.parts(batch, seq).values())

    def build(self, device: str) -> nn.Module:
        """transformers' LlamaModel with random weights, or without any on the meta device."""
        import torch
        from transformers import LlamaConfig, LlamaModel

        config = LlamaConfig(
            num_hidden_layers=self.num_hidden_layers,
            hidden_size=self.hidden_size,
            num_attention_heads=self.num_attention_heads,
            num_key_value_heads=self.num_key_value_heads,
            intermediate_size=self.intermediate_size,
            vocab_size=self.vocab_size,
            max_position_embeddings=2048,
            use_cache=False,
        )
        torch.manual_seed(0)
        with torch.device(device):
            return Plain(LlamaModel(config)).eval()

    def ids(self, batch: int, seq: int, device: str) -> torch.Tensor:
        """Token numbers."""
        import torch

        return torch.arange(batch * seq, device=device).reshape(batch, seq) % self.vocab_size


def Plain(model: nn.Module) -> nn.Module:  # noqa: N802 - stands for a class, made when torch is imported
    """A module that calls the model and returns its tensor: some counters cannot take a ModelOutput."""
    from torch import nn

    class PlainModel(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
            output: torch.Tensor = self.model(input_ids=input_ids, attention_mask=mask)[0]
            return output

    return PlainModel()


TINY = Llama("tiny", 2, 64, 4, 2, 176, 1000)
MID = Llama("mid", 8, 1024, 16, 8, 2816, 32000)
LLAMAS = {one.name: one for one in (TINY, MID)}
ENTRY = "transformers.models.llama.modeling_llama.LlamaModel"


def left_out(reports: Sequence[int], parts: Sequence[Mapping[str, int]]) -> list[str]:
    """What each report lacks: the parts whose sum comes nearest over all sizes at once.

    Over all sizes, since at one of them two attention products may happen to cost what a projection does.
    """
    missing = [sum(one.values()) - report for report, one in zip(reports, parts, strict=True)]
    if not any(missing):
        return ["nothing"] * len(missing)
    names = list(parts[0])
    groups = [set(chosen) for count in range(1, len(names)) for chosen in combinations(names, count)]

    def gaps(group: set[str]) -> list[int]:
        return [sum(one[part] for part in group) - lack for one, lack in zip(parts, missing, strict=True)]

    nearest = min(groups, key=lambda group: (sum(map(abs, gaps(group))), len(group)))
    if any(abs(gap) > 0.01 * max(report, 1) for gap, report in zip(gaps(nearest), reports, strict=True)):
        return ["not a sum of parts"] * len(missing)
    named = "both attention products" if nearest == ATTENTION else ", ".join(n for n in names if n in nearest)
    return [named if not gap else f"{named}; adds {gap:,} of other work" for gap in gaps(nearest)]


ATTENTION = {"attention scores", "attention values"}
