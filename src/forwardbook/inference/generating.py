"""A model that writes text in; a function from a sample to what it writes, and regions in that, out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from forwardbook.inference.images import load_image
from forwardbook.inference.prediction import Predict, Prediction, as_json
from forwardbook.inference.regions import regions_in
from forwardbook.inference.samples import Sample

if TYPE_CHECKING:
    from pydantic import JsonValue

    from forwardbook.inference.checkpoint import Checkpoint, Wishes

TASKS: Final = ("text-generation", "text2text-generation", "image-to-text")


def predict_with(model: Any, found: Checkpoint, wishes: Wishes) -> Predict:
    """Greedy generation, one sample at a time."""
    if found.task.reads == "image":
        return _from_images(model, found, wishes)
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(found.folder, local_files_only=True)

    def predict(sample: Sample) -> Prediction:
        asked = sample.read_text()
        inputs = tokenizer(asked, return_tensors="pt", truncation=_longest(tokenizer))
        written = _generate(model, inputs, wishes.new_tokens)
        text = str(tokenizer.decode(written, skip_special_tokens=True))
        read = int(inputs["input_ids"].shape[-1])
        cut = len(tokenizer(asked)["input_ids"]) - read if read == tokenizer.model_max_length else 0
        counts = {"tokens_read": read, "tokens_left_out": cut, "tokens_written": len(written)}
        return Prediction({"text": text, **counts})

    return predict


def _from_images(model: Any, found: Checkpoint, wishes: Wishes) -> Predict:
    """Marks of regions are special tokens to decoders: `raw` keeps them, `text` does not."""
    prepare, tokenizer = _prepared(found, wishes)

    def predict(sample: Sample) -> Prediction:
        image = load_image(sample.path)
        written = _generate(model, prepare(image), wishes.new_tokens)
        raw = tokenizer.decode(written, skip_special_tokens=False)
        regions = tuple(regions_in(raw, image.size, found.model_type))
        values: dict[str, JsonValue] = {
            "text": tokenizer.decode(written, skip_special_tokens=True),
            "raw": raw,
            "tokens_written": len(written),
            "regions": [as_json(one) for one in regions],
        }
        return Prediction(values, image, regions)

    return predict


def _prepared(found: Checkpoint, wishes: Wishes) -> tuple[Any, Any]:
    """From an image to inputs, with the prompt where the model takes one; and the tokenizer."""
    from transformers import AutoImageProcessor, AutoProcessor, AutoTokenizer

    load: Any = AutoProcessor.from_pretrained
    load_images: Any = AutoImageProcessor.from_pretrained
    try:
        processor = load(found.folder, local_files_only=True)
    except (OSError, ValueError, KeyError):
        processor = None
    own = getattr(processor, "tokenizer", None)
    if own is None or getattr(processor, "image_processor", None) is None:
        images = load_images(found.folder, local_files_only=True)
        own = AutoTokenizer.from_pretrained(found.folder, local_files_only=True)
        return lambda image: images(image, return_tensors="pt"), own
    prompt = wishes.prompt or ""
    if getattr(processor, "chat_template", None):
        content = [{"type": "image"}, {"type": "text", "text": prompt or "Describe the image."}]
        prompt = processor.apply_chat_template(
            [{"role": "user", "content": content}], add_generation_prompt=True
        )
    return lambda image: processor(images=image, text=prompt or None, return_tensors="pt"), own


def _generate(model: Any, inputs: Mapping[str, Any], new_tokens: int) -> Any:
    """The tokens that were written, without those that were read."""
    import torch

    device, dtype = model.device, model.dtype
    moved = {
        name: value.to(device, dtype) if value.is_floating_point() else value.to(device)
        for name, value in inputs.items()
        if name != "token_type_ids" and hasattr(value, "to")
    }
    with torch.inference_mode():
        made = model.generate(**moved, max_new_tokens=new_tokens, do_sample=False, num_beams=1)[0]
    if model.config.is_encoder_decoder:
        return made[1:]  # the first is the one that decoders start with
    read = moved["input_ids"].shape[-1] if "input_ids" in moved else 0
    return made[read:]


def _longest(tokenizer: Any) -> bool:
    """Whether the tokenizer knows how much the model reads."""
    return int(tokenizer.model_max_length) < 10**9
