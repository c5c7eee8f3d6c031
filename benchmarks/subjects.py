"""The models that counters are held against: full size on meta, and small enough for real weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from benchmarks.plain_models import PlainModel, architecture

if TYPE_CHECKING:
    import torch
    from torch import nn


@dataclass(frozen=True)
class Subject:
    """A shipped model, the sizes of the call and the device."""

    name: str
    model_id: str
    sizes: Mapping[str, int]
    device: str = "meta"

    @property
    def title(self) -> str:
        """Which model at which sizes."""
        sizes = ", ".join(f"{name} {value}" for name, value in self.sizes.items())
        return f"{self.model_id} ({sizes}; {self.device})"

    def build(self) -> tuple[nn.Module, torch.Tensor]:
        """The model as transformers makes it, called with its main input alone, and that input."""
        import torch

        dtype = torch.bfloat16 if self.device == "meta" else torch.float32
        plain = PlainModel(self.model_id, dtype, self.device)
        inputs = plain.inputs(self.sizes)
        if self.device != "meta":  # on meta a cache spares the look for packed sequences, which reads values
            inputs["use_cache"] = False
        inputs = {name: value for name, value in inputs.items() if name in plain.takes}
        main = plain.model.main_input_name
        tensor = inputs.pop(main)
        assert isinstance(tensor, torch.Tensor)
        return one_input(plain.model, main, inputs), tensor


def one_input(model: nn.Module, main: str, others: Mapping[str, object]) -> nn.Module:
    """A module of one argument that returns a tensor: some counters take no more and no ModelOutput."""
    from torch import nn

    class OneInput(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model, self.others = model, dict(others)

        def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
            output: torch.Tensor = self.model(**{main: input_ids}, **self.others)[0]
            return output

    return OneInput().eval()


PROMPT: Final = {"batch_size": 1, "seq_len": 2048}
SUBJECTS: Final = (
    Subject("llama-2-7b", "llama-2-7b", PROMPT),
    Subject("llama-3.1-8b", "llama-3.1-8b", PROMPT),
    Subject("qwen3-4b", "qwen3-4b", PROMPT),
    Subject("mixtral-8x7b", "mixtral-8x7b", PROMPT),
    Subject("qwen3-30b-a3b", "qwen3-30b-a3b", PROMPT),
    Subject("deepseek-v3", "deepseek-v3", PROMPT),
    Subject("gemma-3-1b", "gemma-3-1b", PROMPT),
    Subject("mamba2-2.7b", "mamba2-2.7b", {"batch_size": 2, "seq_len": 100}),
    Subject("t5-base", "t5-base", {"batch_size": 2, "seq_len": 512, "decoder_seq_len": 128}),
    Subject("whisper-large-v3", "whisper-large-v3", {"batch_size": 2, "decoder_seq_len": 128}),
    Subject("bert-base", "bert-base", {"batch_size": 2, "seq_len": 256}),
    Subject("vit-base", "vit-base-patch16-224", {"batch_size": 2}),
    Subject("swin-tiny", "swin-tiny-patch4-window7-224", {"batch_size": 2}),
    Subject("gpt2, cpu", "gpt2", {"batch_size": 1, "seq_len": 128}, "cpu"),
    Subject("bert-base, cpu", "bert-base", {"batch_size": 1, "seq_len": 128}, "cpu"),
    Subject("vit-base, cpu", "vit-base-patch16-224", {"batch_size": 1}, "cpu"),
)
BY_NAME: Final = {one.name: one for one in SUBJECTS}


def config_of(subject: Subject) -> dict[str, object]:
    """Every field of the config, defaults among them, as transformers has it."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    values = architecture(subject.model_id)["config"]
    assert isinstance(values, dict)
    found: dict[str, object] = CONFIG_MAPPING[values["model_type"]].from_dict(values).to_dict()
    return found
