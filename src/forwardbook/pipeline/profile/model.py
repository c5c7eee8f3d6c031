"""An architecture, sizes and a device in; a workload to run, and the phases its formulas come from, out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from forwardbook.models.architecture import Architecture
from forwardbook.pipeline.model.source import ModelRefused, config_from, model_named
from forwardbook.pipeline.model.user import user_phases
from forwardbook.profiling.raised import first_line_kept

if TYPE_CHECKING:
    import torch
    from torch import nn

    from forwardbook.analyzers.instances.pretrained.whole import Phase
    from forwardbook.profiling.passes.workload import Workload

SIZES: Final = (
    *("batch_size", "seq_len", "decoder_seq_len", "encoder_seq_len", "kv_len", "num_samples"),
    *("image_size", "num_frames"),
)
SMALLEST = {"batch_size": 2, "seq_len": 32, "decoder_seq_len": 8, "num_samples": 16000}


class Content(Protocol):
    """What a run reads in place of random inputs: the same inputs, filled from a dataset, batch by batch."""

    def fill(self, inputs: Mapping[str, object]) -> tuple[list[dict[str, object]], tuple[str, ...]]:
        """Inputs of equal shapes for each batch, and notes on how they were made."""
        ...

    def described(self) -> Mapping[str, object]:
        """Which samples, for `inputs.yaml`."""
        ...


@dataclass(frozen=True)
class Prepared:
    """A workload, its phases by name, the sizes it runs at, and notes for who reads the results."""

    workload: Workload
    phases: Mapping[str, Phase]
    sizes: Mapping[str, int]
    notes: tuple[str, ...]


def prepared(
    architecture: Architecture,
    sizes: Mapping[str, int],
    device: torch.device,
    dtype: torch.dtype,
    *,
    new_tokens: int,
    seed: int,
    weights: Path | None = None,
    content: Content | None = None,
) -> Prepared:
    """The model on its device, inputs of these sizes; weights are random unless a folder holds them.

    Raises:
        ModelRefused: where it cannot be built or called at these sizes.
    """
    import torch

    torch.manual_seed(seed)
    try:
        return _prepared(architecture, sizes, device, dtype, new_tokens, weights, content)
    except (RuntimeError, ValueError, TypeError) as error:
        said = first_line_kept(error)
        raise ModelRefused(f"building {architecture.model_id} on {device}: {said}") from error


def _prepared(
    architecture: Architecture,
    sizes: Mapping[str, int],
    device: torch.device,
    dtype: torch.dtype,
    new_tokens: int,
    weights: Path | None,
    content: Content | None,
) -> Prepared:
    import torch

    from forwardbook.analyzers.instances.draw import ChosenSizes
    from forwardbook.analyzers.instances.tensors import PlainMaker

    phases, generates, encodes = phases_on(architecture, device.type)
    first = phases[0]
    chosen = ChosenSizes({**SMALLEST, **sizes})
    default = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with torch.device("cpu"):
            model = _with_weights(architecture, weights, dtype) or _random(architecture, device)
            args, kwargs = first.recipe.inputs(chosen, model, PlainMaker("cpu"))
    finally:
        torch.set_default_dtype(default)
    model = model.eval().to(device)
    batches, told = content.fill(kwargs) if content is not None else ([kwargs], ())
    args, batches = _moved((args, batches), device)
    made = {name: chosen.chosen[name] for name in chosen.hints}
    unused = _unused(architecture.model_id, sizes, made)
    run = _each(
        [_generate(model, one, new_tokens) if generates else _forward(model, args, one) for one in batches]
    )
    from forwardbook.profiling.passes.workload import Workload

    encoder = model.get_encoder() if generates and encodes else None
    workload = Workload(model, run, device, dtype, generates, encoder)
    notes = ("weights are those of the checkpoint",) if weights else ("weights are random",)
    return Prepared(workload, {phase.name: phase for phase in phases}, made, (*notes, *unused, *told))


def phases_on(architecture: Architecture, device: str) -> tuple[Sequence[Phase], bool, bool]:
    """The calls of a model as made on `cpu` or `cuda`; whether it generates; whether it has an encoder."""
    from forwardbook.analyzers.instances.pretrained.generated import generation_phases
    from forwardbook.analyzers.instances.pretrained.whole import phases_of

    if architecture.inputs:
        return user_phases(architecture.model_class, architecture.inputs), False, False
    config = config_from(dict(architecture.config), architecture.model_id)
    kind = model_named(architecture.model_class)
    phases = phases_of(kind, config)
    generates = any(phase.name == "decode" for phase in phases)
    if generates:
        phases = generation_phases(kind, config, device)
    return phases, generates, bool(config.is_encoder_decoder)


def _unused(model: str, sizes: Mapping[str, int], made: Mapping[str, int]) -> tuple[str, ...]:
    """A note for each size that this model's inputs do not have, such as the length of a text for images.

    Raises:
        ModelRefused: for a name that no kind of model has.
    """
    known = [*made, *SIZES]
    for name in sizes:
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise ModelRefused(f"choosing sizes of {model}: there is no {name}, only {', '.join(made)}{hint}")
    having = ", ".join(made)
    return tuple(f"{name} is not used: inputs of {model} have {having}" for name in sizes if name not in made)


def _each(runs: list[Callable[[], object]]) -> Callable[[], object]:
    """One run after the other; only the last result is kept."""

    def run() -> object:
        for one in runs[:-1]:
            one()
        return runs[-1]()

    return run


def _random(architecture: Architecture, device: torch.device) -> Any:
    """The whole model with random weights, drawn where it will run: a GPU draws a billion in a second."""
    import torch

    if not architecture.inputs:
        from forwardbook.analyzers.instances.pretrained.models import instantiate

        config = config_from(dict(architecture.config), architecture.model_id)
        kind = model_named(architecture.model_class)
        if device.type == "cpu":
            return instantiate(kind, config)
        try:
            with torch.device(device):
                return instantiate(kind, config)
        except RuntimeError:  # its constructor joins what it makes on the device with what it does not
            return instantiate(kind, config)
    import importlib

    module, _, name = architecture.model_class.partition(":")
    return getattr(importlib.import_module(module), name)()


def _with_weights(architecture: Architecture, folder: Path | None, dtype: torch.dtype) -> Any:
    """The model with the weights that a folder holds; None where no folder was named."""
    if folder is None:
        return None
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    kind = model_named(architecture.model_class)
    return kind.from_pretrained(folder, local_files_only=True, dtype=dtype)


def weights_in(folder: Path) -> Path | None:
    """The folder, where it holds weights."""
    if folder.is_file():
        folder = folder.parent
    found = folder.is_dir() and any(
        path.suffix in (".safetensors", ".bin") for path in folder.iterdir() if path.is_file()
    )
    return folder if found else None


def _moved(value: Any, device: torch.device) -> Any:
    from torch.utils._pytree import tree_map

    return tree_map(
        lambda one: one.to(device) if hasattr(one, "to") and hasattr(one, "shape") else one, value
    )


def _forward(model: nn.Module, args: tuple[object, ...], kwargs: dict[str, object]) -> Callable[[], object]:
    import torch

    def run() -> object:
        with torch.inference_mode():
            return model(*args, **kwargs)

    return run


OWN = ("past_key_values", "position_ids", "logits_to_keep", "use_cache", "return_dict", "encoder_outputs")


def _generate(model: Any, kwargs: Mapping[str, object], new_tokens: int) -> Callable[[], object]:
    """Greedy, exactly `new_tokens` of them, whatever the model would rather say."""
    import torch
    from transformers import GenerationConfig
    from transformers.utils import logging

    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    given = {
        name: value
        for name, value in kwargs.items()
        if name not in OWN and not name.startswith(("decoder_", "output_"))
    }
    config = GenerationConfig(  # type: ignore[no-untyped-call]
        max_new_tokens=new_tokens,
        min_new_tokens=new_tokens,
        do_sample=False,
        num_beams=1,
        pad_token_id=0,
        eos_token_id=None,
        bos_token_id=1,
        decoder_start_token_id=_start(model),
        use_cache=True,
    )
    model.generation_config = config

    def run() -> object:
        with torch.inference_mode():
            return model.generate(**given)

    return run


def _start(model: Any) -> int:
    return cast("int", getattr(model.config, "decoder_start_token_id", None) or 0)
