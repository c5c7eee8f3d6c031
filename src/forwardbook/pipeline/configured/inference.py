"""A configuration in; a prediction for each sample of its dataset, written as it comes, out."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from forwardbook.configuration.schema import Configuration
from forwardbook.errors import ForwardbookError
from forwardbook.inference.checkpoint import CheckpointRefused, Wishes, checkpoint_in, fingerprint
from forwardbook.inference.samples import DatasetError, Turn, samples_of, turns
from forwardbook.workspace.json_lines import Line, LineWriter
from forwardbook.workspace.run_folder import RunFolder
from forwardbook.workspace.storage import locked, write_atomically

if TYPE_CHECKING:
    from pydantic import JsonValue

    from forwardbook.inference.checkpoint import Checkpoint
    from forwardbook.inference.prediction import Predict, Prediction

PLACE: Final = "direct_inference"
LINES: Final = f"{PLACE}/predictions.jsonl"
VERSION: Final = 1
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Summary:
    """How many samples there are, were done before, were predicted now, and could not be."""

    total: int
    before: int
    predicted: int
    failed: int
    drawn: int


def predictions_lock(path: Path) -> AbstractContextManager[None]:
    """Held while the predictions of a run folder are written, so that no other process goes on with them."""
    return locked(path / LINES, seconds=1.0)


def infer_into(
    folder: RunFolder,
    wanted: Configuration,
    told: Callable[[str], None],
    progress: Progress = lambda doing, done, total: None,
) -> Summary:
    """Predictions in the folder of a run; samples that it has a prediction for are not predicted again.

    Raises:
        ForwardbookError: where dataset or checkpoint cannot be read; a sample that cannot be is a line.
    """
    folder.step(PLACE)
    order, found = plan(wanted)
    told(f"{PLACE}: {found.task.name} with {found.class_name}, {len(order)} samples")
    _refuse_other(folder, found)
    summary = _Inference(folder, wanted, _predictor(found, wanted), progress).all(order)
    values = {"inference_version": VERSION, "task": found.task.name, "class": found.class_name}
    counts = {
        "samples": summary.total,
        "predicted_before": summary.before,
        "predicted_now": summary.predicted,
        "failed": summary.failed,
        "drawn": summary.drawn,
    }
    folder.write(f"{PLACE}/summary.json", json.dumps({**values, **counts}, indent=1) + "\n")
    return summary


def _refuse_other(folder: RunFolder, found: Checkpoint) -> None:
    """Notes the checkpoint of a new run; that of a resumed one must be the same.

    Raises:
        CheckpointRefused: where files of it changed since, all of them named.
    """
    place, now = folder.path / PLACE / "checkpoint.json", fingerprint(found.folder)
    if not place.is_file():
        folder.write(f"{PLACE}/checkpoint.json", json.dumps(now, indent=1) + "\n")
        return
    before = json.loads(place.read_text(encoding="utf-8"))
    if other := sorted(name for name in {*before, *now} if before.get(name) != now.get(name)):
        raise CheckpointRefused(
            f"resuming {folder.path}: {found.folder} changed since: {', '.join(other)}; start a new run"
        )


def plan(wanted: Configuration) -> tuple[list[Turn], Checkpoint]:
    """The samples in order, and the checkpoint; both are looked at before anything is loaded.

    Raises:
        DatasetError: without a dataset, or one of the other kind than the model reads.
        CheckpointRefused: without a folder that holds a checkpoint.
    """
    if wanted.dataset.kind == "random":
        raise DatasetError(
            "predicting: there is no dataset; give its folder, or dataset=text_folder dataset.root=FOLDER"
        )
    order = list(turns(samples_of(wanted.dataset), wanted.dataset.sampling))
    found = checkpoint_in(weights_folder(wanted), wanted.model.task, wanted.dataset.kind)
    if found.task.reads != wanted.dataset.kind:
        raise DatasetError(
            f"predicting with {found.class_name}: {found.task.name} reads {found.task.reads}s, "
            f"the dataset has {wanted.dataset.kind}s"
        )
    return order, found


def weights_folder(wanted: Configuration) -> Path:
    """The folder of the checkpoint.

    Raises:
        CheckpointRefused: where neither path nor name is a folder.
    """
    for name in (wanted.model.path, wanted.model.name):
        if name and Path(name).is_dir():
            return Path(name)
    named = wanted.model.path or wanted.model.name
    if named is None:
        raise CheckpointRefused("predicting: no model is named; give the folder of a checkpoint")
    raise CheckpointRefused(
        f"predicting with {named}: there is no such folder; name one with weights and tokenizer, "
        "or link it: forwardbook profile bootstrap"
    )


def _predictor(found: Checkpoint, wanted: Configuration) -> Predict:
    import torch

    from forwardbook.inference.loading import predictor

    stage, runtime = wanted.pipeline.direct_inference, wanted.runtime
    torch.manual_seed(runtime.seed)
    dtype = getattr(torch, wanted.dtype, None)
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
        raise CheckpointRefused(f"predicting in {runtime.dtype}: give a format such as float32 or bfloat16")
    try:
        device = torch.device(wanted.hardware.device)
    except RuntimeError as error:
        raise CheckpointRefused(f"predicting on {wanted.hardware.device}: give cpu or cuda") from error
    if device.type == "cuda" and not torch.cuda.is_available():
        raise CheckpointRefused("predicting on cuda: torch sees no GPU here; give hardware=cpu")
    wishes = Wishes(
        runtime.new_tokens,
        stage.threshold,
        stage.top_k,
        wanted.dataset.prompt,
        wanted.model.trust_remote_code,
    )
    return predictor(found, device, dtype, wishes)


@dataclass
class _Inference:
    folder: RunFolder
    wanted: Configuration
    predict: Predict
    progress: Progress
    predicted: int = 0
    failed: int = 0
    drawn: int = 0

    def all(self, order: Sequence[Turn]) -> Summary:
        """Every sample that has no prediction yet."""
        writer = LineWriter(self.folder.path / LINES)
        _refuse_shifted(writer.known, order)
        done = {str(line.get("key")) for line in writer.known if line.get("error") is None}
        left = [turn for turn in order if turn.key not in done]
        before = len(order) - len(left)
        try:
            for turn in left:
                self.progress(turn.sample.name, before + self.predicted + self.failed, len(order))
                writer.write(self.line(turn))
        finally:
            writer.close()
        return Summary(len(order), before, self.predicted, self.failed, self.drawn)

    def line(self, turn: Turn) -> dict[str, JsonValue]:
        """The line of one sample: its prediction, or why there is none."""
        head: dict[str, JsonValue] = {
            "key": turn.key,
            "epoch": turn.epoch,
            "index": turn.index,
            "sample": turn.sample.name,
        }
        start = time.perf_counter()
        try:
            found = self.predict(turn.sample)
        except Exception as error:  # what a model does not take, each says in its own way; the others go on
            self.failed += 1
            told = str(error) if isinstance(error, ForwardbookError) else f"{type(error).__name__}: {error}"
            return {**head, "prediction": None, "drawn": None, "error": told}
        spent = round(time.perf_counter() - start, 6)
        self.predicted += 1
        drawn = self.draw(turn, found)
        values = dict(found.values)
        return {**head, "prediction": values, "seconds": spent, "drawn": drawn, "error": None}

    def draw(self, turn: Turn, found: Prediction) -> str | None:
        """The copy of the image with what was found in it, where something was."""
        wished = self.wanted.pipeline.direct_inference.output.draw
        if not wished or found.image is None or not found.regions:
            return None
        from forwardbook.inference.drawing import as_png, drawn

        stem = "".join(c if c.isalnum() or c in "-_" else "_" for c in Path(turn.sample.name).stem)[:60]
        name = f"drawn/{turn.epoch:03d}-{turn.index:06d}-{stem}.png"
        path = self.folder.path / PLACE / name
        write_atomically(path, as_png(drawn(found.image, found.regions)))
        self.drawn += 1
        return name


def _refuse_shifted(known: Sequence[Line], order: Sequence[Turn]) -> None:
    """Lines of a resumed run must be about the samples that now have their places.

    Raises:
        DatasetError: where the dataset changed since.
    """
    now = {turn.key: turn.sample.name for turn in order}
    for line in known:
        key, name = str(line.get("key")), line.get("sample")
        if now.get(key) != name:
            raise DatasetError(
                f"resuming predictions: the dataset changed since: sample {key} was {name}, "
                f"is {now.get(key, 'none')}; start a new run"
            )
