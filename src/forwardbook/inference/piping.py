"""A checkpoint that judges in; a function from a sample to its labels, boxes or vector, by pipelines, out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from forwardbook.inference.images import load_image
from forwardbook.inference.prediction import Predict, Prediction, as_json
from forwardbook.inference.regions import Region
from forwardbook.inference.samples import Sample

if TYPE_CHECKING:
    import torch
    from pydantic import JsonValue

    from forwardbook.inference.checkpoint import Checkpoint, Wishes


def predict_with(found: Checkpoint, device: torch.device, dtype: torch.dtype, wishes: Wishes) -> Predict:
    """The pipeline of the task, one sample at a time."""
    from transformers import pipeline

    folder = str(found.folder)
    aids: dict[str, Any] = (
        {"tokenizer": folder} if found.task.reads == "text" else {"image_processor": folder}
    )
    pipe: Any = pipeline(
        found.task.name,  # type: ignore[call-overload]
        model=folder,
        device=device,
        dtype=dtype,
        trust_remote_code=wishes.trusted,
        **aids,
    )
    told = TOLD[found.task.name]

    def predict(sample: Sample) -> Prediction:
        if found.task.reads == "text":
            return told(pipe, sample.read_text(), wishes)
        return told(pipe, load_image(sample.path), wishes)

    return predict


def _boxes(pipe: Any, image: Any, wishes: Wishes) -> Prediction:
    regions = []
    for one in pipe(image, threshold=wishes.threshold):
        box = one["box"]
        points = (float(box["xmin"]), float(box["ymin"])), (float(box["xmax"]), float(box["ymax"]))
        regions.append(Region(str(one["label"]), points, float(one["score"])))
    regions.sort(key=lambda one: -(one.score or 0.0))
    return Prediction({"regions": [as_json(one) for one in regions]}, image, tuple(regions))


def _labels(pipe: Any, value: Any, wishes: Wishes) -> Prediction:
    found = pipe(value, top_k=wishes.top_k)
    return Prediction({"labels": [_label(one) for one in found]})


def _label(one: Any) -> JsonValue:
    return {"label": str(one["label"]), "score": round(float(one["score"]), 6)}


def _words(pipe: Any, text: str, wishes: Wishes) -> Prediction:
    words: list[JsonValue] = [
        {
            "label": str(one.get("entity", one.get("entity_group"))),
            "score": round(float(one["score"]), 6),
            "word": str(one["word"]),
            "start": one.get("start"),
            "end": one.get("end"),
        }
        for one in pipe(text)
    ]
    return Prediction({"words": words})


def _fillings(pipe: Any, text: str, wishes: Wishes) -> Prediction:
    """What stands in place of each mask of the text, likeliest first."""
    found = pipe(text, top_k=wishes.top_k)
    masks = found if found and isinstance(found[0], list) else [found]
    fillings: list[JsonValue] = [
        [{"token": str(one["token_str"]), "score": round(float(one["score"]), 6)} for one in mask]
        for mask in masks
    ]
    return Prediction({"fillings": fillings})


def _vector(pipe: Any, value: Any, wishes: Wishes) -> Prediction:
    """The mean over positions of the last hidden states."""
    import torch

    states = torch.as_tensor(pipe(value)).float()
    mean = states.reshape(-1, states.shape[-1]).mean(0)
    return Prediction({"vector": [round(float(one), 6) for one in mean], "positions": states.shape[-2]})


TOLD: Final[dict[str, Callable[[Any, Any, Wishes], Prediction]]] = {
    "object-detection": _boxes,
    "image-classification": _labels,
    "text-classification": _labels,
    "token-classification": _words,
    "fill-mask": _fillings,
    "image-feature-extraction": _vector,
    "feature-extraction": _vector,
}
