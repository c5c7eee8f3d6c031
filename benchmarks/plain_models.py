"""A shipped architecture in; transformers' own model of it, torch's count of a call, real caches out.

Nothing of forwardbook is imported here: config, model and counter are those of transformers and torch.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

MODELS: Final = Path(__file__).resolve().parent.parent / "models"
STATES: Final = ("past_key_values", "cache_params")  # where a call hands on what the next one needs
BESIDE: Final = (".costs.json", "_populated.json")  # files of models that are no architectures
Inputs = dict[str, object]


def ids() -> list[str]:
    """The ids of the shipped architectures."""
    names = (path.name for path in MODELS.glob("*.json"))
    return sorted(name.removesuffix(".json") for name in names if not name.endswith(BESIDE))


def architecture(model_id: str) -> dict[str, object]:
    """What an architecture file holds."""
    found: dict[str, object] = json.loads((MODELS / f"{model_id}.json").read_text(encoding="utf-8"))
    return found


@dataclass(frozen=True)
class Held:
    """Bytes of the parameters, of the buffers."""

    parameters: int
    buffers: int

    @property
    def both(self) -> int:
        """All of them."""
        return self.parameters + self.buffers


class PlainModel:
    """A model of full size on the meta device, in bfloat16, unless told otherwise."""

    def __init__(self, model_id: str, dtype: torch.dtype | None = None, device: str = "meta") -> None:
        import torch
        import transformers
        from transformers.models.auto.configuration_auto import CONFIG_MAPPING

        found = architecture(model_id)
        values = cast("dict[str, object]", found["config"])
        self.config = CONFIG_MAPPING[cast("str", values["model_type"])].from_dict(values)
        self.model_class = getattr(transformers, str(found["model_class"]).rpartition(".")[2])
        before = torch.get_default_dtype()
        torch.set_default_dtype(dtype or torch.bfloat16)
        try:
            with torch.device(device):
                self.model = cast("PreTrainedModel", self.model_class(self.config).eval())
        finally:
            torch.set_default_dtype(before)
        self.device = device
        self.takes = inspect.signature(self.model_class.forward).parameters

    def batched(self) -> PlainModel:
        """Itself with experts multiplied in batches: grouped products, the default, count 0 with torch."""
        self.model.set_experts_implementation("batched_mm")
        return self

    def held(self) -> Held:
        """Bytes that the module holds."""
        return Held(_bytes(self.model.parameters()), _bytes(self.model.buffers()))

    def inputs(self, sizes: Mapping[str, int]) -> Inputs:
        """What one call over all positions takes."""
        import torch

        batch, seq = sizes["batch_size"], sizes.get("seq_len", 1)
        found: Inputs = {}

        def tokens(length: int) -> torch.Tensor:
            return torch.ones(batch, length, dtype=torch.int64, device=self.device)

        def floats(*shape: int) -> torch.Tensor:
            return torch.zeros(batch, *shape, dtype=self.model.dtype, device=self.device)

        main = self.model.main_input_name
        vision = getattr(self.config, "vision_config", self.config)
        if main == "input_ids" or ("pixel_values" in self.takes and "input_ids" in self.takes):
            found["input_ids"] = tokens(seq)
        if "pixel_values" in self.takes:
            found["pixel_values"] = floats(vision.num_channels, vision.image_size, vision.image_size)
        if main == "input_features":
            found[main] = floats(self.config.num_mel_bins, 2 * self.config.max_source_positions)
        if main == "input_values":
            found[main] = floats(sizes["num_samples"])
        if self.config.is_encoder_decoder:
            steps = sizes["decoder_seq_len"]
            found["decoder_input_ids"] = tokens(steps)
            found |= self._mask(batch, steps, steps)
        if "use_cache" in self.takes:
            found["use_cache"] = any(name in self.takes for name in STATES)
        return found

    def _mask(self, batch: int, queries: int, keys: int) -> Inputs:
        """A ready mask for the decoder of a text: on meta nobody can ask for the values of one."""
        import torch

        if "decoder_attention_mask" not in self.takes or self.model.main_input_name != "input_ids":
            return {}
        shape = (batch, 1, queries, keys)
        return {"decoder_attention_mask": torch.zeros(shape, dtype=self.model.dtype, device=self.device)}

    def count(self, inputs: Mapping[str, object]) -> int:
        """Flops of one call by torch's own counter."""
        import torch
        from torch.utils.flop_counter import FlopCounterMode

        with torch.no_grad(), torch.device(self.device), FlopCounterMode(display=False) as counter:
            self.model(**inputs)
        return int(counter.get_total_flops())

    def continued(self, sizes: Mapping[str, int]) -> tuple[Inputs, int]:
        """What one further token takes after `kv_len` positions, and the bytes in the cache it meets."""
        import torch

        grown = "decoder_seq_len" if self.config.is_encoder_decoder else "seq_len"
        first = self.inputs({**sizes, grown: sizes["kv_len"]})
        with torch.no_grad(), torch.device(self.device):
            out = self.model(**first)
        name = next(name for name in STATES if getattr(out, name, None) is not None)
        token = torch.ones(sizes["batch_size"], 1, dtype=torch.int64, device=self.device)
        found: Inputs = {name: out[name], "use_cache": True}
        if self.config.is_encoder_decoder:
            found |= {"decoder_input_ids": token, "encoder_outputs": (out.encoder_last_hidden_state,)}
            found |= self._mask(sizes["batch_size"], 1, sizes["kv_len"] + 1)
        else:
            found["input_ids"] = token
        return found, _bytes(_tensors(out[name]))


def _bytes(tensors: Iterator[torch.Tensor]) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def _tensors(cache: object) -> Iterator[torch.Tensor]:
    """The tensors of a cache: of both halves of an encoder-decoder's, of each layer, of lists in these."""
    import torch

    if isinstance(cache, torch.Tensor):
        if cache.dim():  # numbers are counters of steps
            yield cache
        return
    if isinstance(cache, list | tuple):
        parts: list[object] = list(cache)
    elif isinstance(cache, dict):
        parts = list(cache.values())
    elif type(cache).__module__.startswith("transformers.") and not isinstance(cache, Callable):  # type: ignore[arg-type]
        parts = [part for name, part in vars(cache).items() if "config" not in name]
    else:
        return
    for part in parts:
        yield from _tensors(part)
