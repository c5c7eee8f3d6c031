"""Layers of torch.nn, interpreted from source, issue the operations that running them issues."""

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from forwardbook.analyzers.static import current_frames, interpret

x2, x3, x4, x5 = (2, 8), (2, 8, 12), (2, 8, 12, 12), (2, 8, 6, 6, 6)
CASES: list[tuple[str, tuple[object, ...], dict[str, object], tuple[tuple[int, ...], ...]]] = [
    ("Linear", (8, 5), {}, (x2,)),
    ("Linear", (12, 5), {"bias": False}, (x3,)),
    ("Bilinear", (8, 8, 3), {}, (x2, x2)),
    ("Conv1d", (8, 4, 3), {"stride": 2, "padding": 1}, (x3,)),
    ("Conv2d", (8, 4, 3), {"groups": 2, "dilation": 2, "padding": "same"}, (x4,)),
    ("Conv3d", (8, 4, 3), {}, (x5,)),
    ("ConvTranspose2d", (8, 4, 3), {"output_padding": 1, "stride": 2}, (x4,)),
    ("BatchNorm2d", (8,), {}, (x4,)),
    ("LayerNorm", (12,), {}, (x3,)),
    ("GroupNorm", (4, 8), {}, (x4,)),
    ("RMSNorm", (12,), {}, (x3,)),
    ("MaxPool2d", (2,), {}, (x4,)),
    ("AdaptiveAvgPool2d", (3,), {}, (x4,)),
    ("LSTM", (12, 5, 2), {"bidirectional": True}, (x3,)),
    ("GRU", (12, 5), {}, (x3,)),
    ("RNN", (12, 5), {}, (x3,)),
    ("LSTMCell", (8, 5), {}, (x2,)),
    ("MultiheadAttention", (12, 3), {}, (x3, x3, x3)),
    ("TransformerEncoderLayer", (12, 3), {}, (x3,)),
    ("TransformerDecoderLayer", (12, 3), {}, (x3, x3)),
    ("PixelShuffle", (2,), {}, (x4,)),
    ("Upsample", (), {"scale_factor": 2, "mode": "nearest"}, (x4,)),
    ("Unfold", (3,), {}, (x4,)),
    ("Softmax", (-1,), {}, (x3,)),
    ("GELU", (), {}, (x3,)),
    ("SiLU", (), {}, (x3,)),
    ("PReLU", (), {}, (x3,)),
    ("GLU", (), {}, (x3,)),
    ("CosineSimilarity", (), {}, (x3, x3)),
    ("MSELoss", (), {}, (x3, x3)),
    ("KLDivLoss", (), {"reduction": "batchmean"}, (x3, x3)),
    ("HuberLoss", (), {}, (x3, x3)),
    ("TripletMarginLoss", (), {}, (x2, x2, x2)),
    ("LocalResponseNorm", (2,), {}, (x4,)),
    ("ReflectionPad2d", (1,), {}, (x4,)),
    ("ChannelShuffle", (2,), {}, (x4,)),
    ("Flatten", (), {}, (x4,)),
    ("Fold", ((4, 4), 2), {}, ((2, 12, 9),)),
]


class Operations(TorchDispatchMode):
    """The names of operations, with the innermost frame of each."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.frames: list[tuple[object, ...]] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        self.names.append(str(func))
        self.frames.append(current_frames())
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case[0]))
def test_same_operations_as_executed(case) -> None:  # type: ignore[no-untyped-def]
    """The operations and the shape of the result are those of the executed layer."""
    name, args, kwargs, shapes = case
    with torch.device("meta"), torch.no_grad():
        inputs = [torch.empty(shape) for shape in shapes]
        real = getattr(nn, name)(*args, **kwargs).eval()
        executed, interpreted = Operations(), Operations()
        with executed:
            expected = real(*inputs)
        actual = interpret(f"torch.nn.{name}", args, kwargs, inputs, {}, interpreted).output
    assert interpreted.names == executed.names
    first = lambda value: value[0] if isinstance(value, tuple) else value  # noqa: E731
    assert first(actual).shape == first(expected).shape


def test_operations_are_placed() -> None:
    """Each operation knows its expression, function and module instance."""
    with torch.device("meta"):
        recorder = Operations()
        run = interpret("torch.nn.Bilinear", (8, 8, 3), {}, [torch.empty(x2), torch.empty(x2)], {}, recorder)
    frame = recorder.frames[0][0]
    assert (frame.qualname, frame.instance, frame.interpreted) == ("Bilinear.forward", run.module.value, True)  # type: ignore[attr-defined]
    assert frame.file.endswith("torch/nn/modules/linear.py")  # type: ignore[attr-defined]
