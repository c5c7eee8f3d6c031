"""Classes of transformers, interpreted from source, issue the operations that running them issues."""

import dataclasses
import importlib
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from forwardbook.analyzers.static import ClassSource, Interpreter, construct, construct_config
from forwardbook.analyzers.static.run import interpreted_class

SIZES = {
    "hidden_size": 64,
    "num_attention_heads": 4,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "vocab_size": 128,
}
GROUPED = {**SIZES, "num_key_value_heads": 2}
EXPERTS = {**GROUPED, "head_dim": 16, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32}
DEEPSEEK = {
    **SIZES, "num_key_value_heads": 4, "n_routed_experts": 8, "n_group": 2, "topk_group": 1,
        "num_experts_per_tok": 2,
    "moe_intermediate_size": 32, "first_k_dense_replace": 1, "kv_lora_rank": 16, "q_lora_rank": 24,
    "qk_rope_head_dim": 8, "qk_nope_head_dim": 16, "v_head_dim": 16,
}  # fmt: skip
VISION = {"hidden_size": 64, "num_attention_heads": 4, "intermediate_size": 96, "num_hidden_layers": 2,
          "image_size": 32, "patch_size": 8}  # fmt: skip
WHISPER = {
    "d_model": 64, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 4,
        "decoder_attention_heads": 4,
    "encoder_ffn_dim": 96, "decoder_ffn_dim": 96, "vocab_size": 128, "num_mel_bins": 8,
        "max_source_positions": 16,
    "pad_token_id": 0,
}  # fmt: skip
TEXT, PIXELS = {"input_ids": (2, 6)}, {"pixel_values": (2, 3, 32, 32)}
MODELS: dict[str, tuple[str, dict[str, Any], dict[str, tuple[int, ...]]]] = {
    "LlamaModel": ("LlamaConfig", GROUPED, TEXT),
    "Qwen3Model": ("Qwen3Config", {**GROUPED, "head_dim": 16}, TEXT),
    "Qwen3MoeModel": ("Qwen3MoeConfig", EXPERTS, TEXT),
    "MixtralModel": ("MixtralConfig", {**GROUPED, "num_local_experts": 4}, TEXT),
    "DeepseekV3Model": ("DeepseekV3Config", DEEPSEEK, TEXT),
    "Gemma3TextModel": ("Gemma3TextConfig", {**GROUPED, "head_dim": 16,
                                             "layer_types": ["sliding_attention", "full_attention"]}, TEXT),
    "GPT2Model": ("GPT2Config", {"n_embd": 64, "n_layer": 1, "n_head": 4, "vocab_size": 128}, TEXT),
    "BertModel": ("BertConfig", SIZES, TEXT),
    "T5Model": ("T5Config", {"d_model": 64, "d_kv": 16, "d_ff": 96, "num_layers": 1, "num_heads": 4,
                             "vocab_size": 128}, {**TEXT, "decoder_input_ids": (2, 5)}),
    "ViTModel": ("ViTConfig", VISION, PIXELS),
    "CLIPModel": ("CLIPConfig", {"text_config": {**SIZES, "eos_token_id": 2}, "vision_config": VISION},
                  {**TEXT, **PIXELS}),
    "WhisperModel": ("WhisperConfig", WHISPER, {"input_features": (2, 8, 32), "decoder_input_ids": (2, 5)}),
    "SwinModel": ("SwinConfig", {"image_size": 32, "patch_size": 2, "embed_dim": 16, "depths": [2, 1],
                                 "num_heads": [2, 4], "window_size": 4}, PIXELS),
    "MambaModel": ("MambaConfig", {"hidden_size": 64, "state_size": 8, "num_hidden_layers": 1,
        "vocab_size": 128},
                   TEXT),
    "Mamba2Model": ("Mamba2Config", {"hidden_size": 64, "state_size": 8, "num_hidden_layers": 1,
        "vocab_size": 128,
                                     "num_heads": 8, "head_dim": 16, "n_groups": 2, "chunk_size": 4}, TEXT),
}  # fmt: skip
NAMED = {
    "LlamaModel": {"LlamaMLP", "LlamaRMSNorm", "LlamaAttention", "LlamaDecoderLayer"},
    "BertModel": {"BertSelfAttention"},
    "T5Model": {"T5LayerNorm", "T5Attention"},
}
WHOLE = {
    "LlamaModel",
    "T5Model",
}  # of these the model itself is compared too; it takes seconds to read its bases


class Operations(TorchDispatchMode):
    """Names and output shapes of operations."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, list[tuple[int, ...]]]] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        result = func(*args, **(kwargs or {}))
        leaves = torch.utils._pytree.tree_leaves(result)
        self.seen.append((str(func), [tuple(x.shape) for x in leaves if isinstance(x, torch.Tensor)]))
        return result


@dataclasses.dataclass
class Captured:
    """One module of a live model: how it was made, and its first call."""

    module: nn.Module
    made: tuple[tuple[Any, ...], dict[str, Any]]
    called: tuple[tuple[Any, ...], dict[str, Any]]


class Capture:
    """Notes the constructor arguments and the first call of each class of one module file."""

    def __init__(self, patch: pytest.MonkeyPatch, home: Any) -> None:
        self.made: dict[int, tuple[nn.Module, tuple[Any, ...], dict[str, Any]]] = {}
        self.calls: dict[type, Captured] = {}
        for kind in vars(home).values():
            if isinstance(kind, type) and issubclass(kind, nn.Module) and kind.__module__ == home.__name__:
                self._note(patch, kind)

    def _note(self, patch: pytest.MonkeyPatch, kind: type) -> None:
        if "__init__" not in kind.__dict__:
            return
        original = kind.__dict__["__init__"]

        def noted(module: Any, *args: Any, **kwargs: Any) -> None:
            self.made.setdefault(id(module), (module, args, dict(kwargs)))
            original(module, *args, **kwargs)

        patch.setattr(kind, "__init__", noted)

    def watch(self, model: nn.Module) -> None:
        """Note the calls of the modules whose construction was seen."""
        for module in model.modules():
            if id(module) in self.made:
                module.register_forward_pre_hook(self._called, with_kwargs=True)

    def _called(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        _, *made = self.made[id(module)]
        self.calls.setdefault(type(module), Captured(module, tuple(made), (args, dict(kwargs))))  # type: ignore[arg-type]


class Converter:
    """Configurations of a live model as interpreted ones."""

    def __init__(self, interpreter: Interpreter) -> None:
        self.interpreter = interpreter
        self.known: dict[int, Any] = {}

    def __call__(self, value: Any) -> Any:
        import transformers

        if isinstance(value, transformers.PreTrainedConfig):
            if id(value) not in self.known:
                self.known[id(value)] = self._config(value)
            return self.known[id(value)]
        if isinstance(value, type) and value.__module__.startswith("transformers."):
            return interpreted_class(
                ClassSource(f"{value.__module__}.{value.__qualname__}"), self.interpreter
            )[0]
        if isinstance(value, tuple | list):
            return type(value)(self(item) for item in value)
        return {key: self(item) for key, item in value.items()} if type(value) is dict else value

    def _config(self, value: Any) -> Any:
        import transformers

        kind = type(value)
        nested = {k: v for k, v in vars(value).items() if isinstance(v, transformers.PreTrainedConfig)}
        plain = {
            k: v
            for k, v in vars(value).items()
            if isinstance(v, int | float | str | list | dict | None) and not k.startswith("_")
        }
        fields = {item.name for item in dataclasses.fields(kind)} - {"id2label", "label2id"}
        given = {k: v for k, v in plain.items() if k in fields} | {k: v.to_dict() for k, v in nested.items()}
        made = construct_config(f"{kind.__module__}.{kind.__qualname__}", given, self.interpreter)
        made._attn_implementation = value._attn_implementation
        made._experts_implementation = value._experts_implementation
        vars(made).update(plain)
        vars(made).update({k: self(v) for k, v in nested.items()})
        return made


@pytest.fixture(scope="module")
def interpreter() -> Iterator[Interpreter]:
    """One interpreter, so that the base classes of transformers are read once."""
    yield Interpreter()


@pytest.mark.parametrize("name", MODELS)
def test_same_operations_as_executed(
    name: str, interpreter: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every class in a model's tree issues the same operations, with the same shapes, as when executed."""
    import transformers

    config_name, fields, inputs = MODELS[name]
    home = importlib.import_module(getattr(transformers, name).__module__)
    capture = Capture(monkeypatch, home)
    with torch.no_grad():
        config = getattr(transformers, config_name)(**fields)
        model = getattr(transformers, name)(config).eval()
        capture.watch(model)
        model(
            **{k: torch.zeros(v, dtype=torch.long if k.endswith("ids") else None) for k, v in inputs.items()}
        )
        monkeypatch.undo()
        convert = Converter(interpreter)
        differing = [
            kind.__name__
            for kind, found in capture.calls.items()
            if (kind.__name__ in WHOLE or not issubclass(kind, transformers.PreTrainedModel))
            and not _same(found, convert, interpreter)
        ]
    assert differing == []
    assert NAMED.get(name, set()) <= {kind.__name__ for kind in capture.calls}


def _same(found: Captured, convert: Converter, interpreter: Interpreter) -> bool:
    kind = type(found.module)
    args, kwargs = found.called
    kwargs = {k: v for k, v in kwargs.items() if not type(v).__name__.endswith("Cache")}
    args = tuple(None if type(v).__name__.endswith("Cache") else v for v in args)
    executed, interpreted = Operations(), Operations()
    with executed:
        found.module.forward(*args, **kwargs)
    made = construct(f"{kind.__module__}.{kind.__qualname__}", *convert(found.made), interpreter)
    made.value.eval()
    with interpreted:
        made.call(*args, **kwargs)
    return executed.seen == interpreted.seen


def test_a_table_of_another_module_has_what_this_one_puts_into_it(interpreter: Interpreter) -> None:
    """Model types whose module has another name are added where the table is imported."""
    auto = interpreter.imports.module("transformers.models.auto.configuration_auto")
    table = auto.get("SPECIAL_MODEL_TYPE_TO_MODULE_NAME")
    assert table["vibevoice_acoustic_tokenizer_encoder"] == "vibevoice_acoustic_tokenizer"
    assert table["mimi_encoder"] == "mimi"
