"""Samples and the inputs of a model in; the same inputs filled from the samples, batch by batch, out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forwardbook.configuration.schema import Dataset
from forwardbook.inference.samples import DatasetError, Turn, samples_of, turns

if TYPE_CHECKING:
    import torch

TOKENS = "input_ids"
PIXELS = "pixel_values"


@dataclass
class Filling:
    """What a run reads in place of random inputs; `folder` holds the tokenizer or image processor, if any."""

    dataset: Dataset
    folder: Path | None
    turns: Sequence[Turn] = ()
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.turns = list(turns(samples_of(self.dataset), self.dataset.sampling))

    def fill(self, inputs: Mapping[str, object]) -> tuple[list[dict[str, object]], tuple[str, ...]]:
        """The inputs once for each batch, and how they were made.

        Raises:
            DatasetError: where the model takes no such inputs, or the samples do not fill one batch.
        """
        self.notes = [f"inputs are {len(self.turns)} samples of {self.dataset.name or self.dataset.root}"]
        name = TOKENS if self.dataset.kind == "text" else PIXELS
        made = inputs.get(name)
        if made is None:
            raise DatasetError(
                f"reading {self.dataset.kind} samples: this model takes {', '.join(inputs)}, no {name}; "
                "give dataset=random or another dataset"
            )
        batches = self._tokens(made) if name == TOKENS else self._pixels(made)
        return [{**inputs, name: batch} for batch in batches], tuple(self.notes)

    def described(self) -> Mapping[str, object]:
        """The dataset and its samples, in order."""
        return {
            "dataset": self.dataset.name,
            "root": self.dataset.root,
            "subset_filelist": self.dataset.subset_filelist,
            "sampling": self.dataset.sampling.model_dump(mode="json"),
            "samples": [{"epoch": one.epoch, "name": one.sample.name} for one in self.turns],
        }

    def _tokens(self, made: Any) -> list[torch.Tensor]:
        """Tokens of all samples end to end, cut into rows: no padding, so formulas hold as they are."""
        import torch

        rows, length = made.shape
        tokens: list[int] = []
        encode, end = self._encoder()
        for one in self.turns:
            tokens += [*encode(one.sample.read_text()), *end]
        count = len(tokens) // (rows * length)
        if not count:
            raise DatasetError(
                f"reading text samples: {len(tokens)} tokens do not fill one batch of {rows} x {length}; "
                "give runtime.seq_len, runtime.batch_size or more samples"
            )
        used = count * rows * length
        self.notes.append(
            f"their tokens are laid end to end and cut into rows of {length}: {count} batches of {rows}, "
            f"{len(tokens) - used} tokens left over"
        )
        filled = torch.tensor(tokens[:used], dtype=made.dtype).reshape(count, rows, length)
        return list(filled)

    def _encoder(self) -> tuple[Any, list[int]]:
        """A text's tokens, and what stands between texts; without a tokenizer they are its bytes."""
        if self.folder is not None and any(self.folder.glob("tokenizer*")):
            from transformers import AutoTokenizer

            tokenizer = AutoTokenizer.from_pretrained(self.folder, local_files_only=True)
            end = tokenizer.eos_token_id
            return lambda text: tokenizer(text, add_special_tokens=False)["input_ids"], (
                [] if end is None else [end]
            )
        self.notes.append(
            "there is no tokenizer beside the model: tokens are the bytes of the texts, below 100"
        )
        return lambda text: [byte % 100 for byte in text.encode()], []

    def _pixels(self, made: Any) -> list[torch.Tensor]:
        """Images as the model's processor makes them; a last batch that is not full is left out."""
        import torch

        if made.dim() != 4:
            raise DatasetError(f"reading image samples: this model takes pixels of shape {tuple(made.shape)}")
        batch, *shape = made.shape
        count = len(self.turns) // batch
        if not count:
            raise DatasetError(
                f"reading image samples: {len(self.turns)} do not fill a batch of {batch}; "
                f"give runtime.batch_size={len(self.turns)}"
            )
        prepare = self._processor(shape)
        images = [prepare(one.sample.path) for one in self.turns[: count * batch]]
        for one, image in zip(self.turns, images, strict=False):
            if list(image.shape) != shape:
                raise DatasetError(
                    f"reading {one.sample.path}: the model's processor makes {tuple(image.shape)}, "
                    f"the model takes {tuple(shape)}"
                )
        left = len(self.turns) - count * batch
        self.notes.append(f"{count} batches of {batch} images, {left} images left over")
        return list(torch.stack(images).to(made.dtype).reshape(count, batch, *shape))

    def _processor(self, shape: Sequence[int]) -> Any:
        from forwardbook.inference.images import load_image, plain_pixels

        if self.folder is not None and (self.folder / "preprocessor_config.json").is_file():
            from transformers import AutoImageProcessor

            load: Any = AutoImageProcessor.from_pretrained
            own = load(self.folder, local_files_only=True)
            return lambda path: own(load_image(path), return_tensors="pt")[PIXELS][0]
        self.notes.append(f"there is no image processor beside the model: images are scaled to {shape[1:]}")
        return lambda path: plain_pixels(load_image(path), shape)
