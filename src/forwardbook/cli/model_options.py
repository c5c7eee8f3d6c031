"""The options that commands about whole models share, each in both spellings; a request out of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from forwardbook.cli.given import pairs, size_number, whole_number

if TYPE_CHECKING:
    from pydantic import JsonValue

    from forwardbook.pipeline.model.analysis import Request

SIZES = ("batch_size", "seq_len", "decoder_seq_len", "encoder_seq_len", "kv_len", "num_samples")
BITS = ("w_bit", "a_bit", "kv_bit")


def _both(name: str) -> tuple[str, ...]:
    return f"--{name}", f"--{name.replace('_', '-')}"


def _size(name: str, meaning: str) -> object:
    return typer.Option(
        *_both(name),
        help=meaning,
        parser=size_number,
        metavar="INTEGER",
        rich_help_panel="Sizes of the call",
    )


BatchSize = Annotated[int | None, _size("batch_size", "Independent samples.")]
SeqLen = Annotated[int | None, _size("seq_len", "Positions in the sequence (of the encoder, if any).")]
DecoderSeqLen = Annotated[int | None, _size("decoder_seq_len", "Positions in the decoder's sequence.")]
KvLen = Annotated[int | None, _size("kv_len", "Positions in the cache before decode; by default seq_len.")]
NumSamples = Annotated[int | None, _size("num_samples", "Samples of a waveform.")]
ImageSize = Annotated[int | None, _size("image_size", "Pixels on each side; by default the config's.")]
NumFrames = Annotated[
    int | None, _size("num_frames", "Frames of audio features or video; by default the config's.")
]
Sizes = Annotated[
    list[str] | None,
    typer.Option(
        "--size", metavar="NAME=N", help="Any other size by name.", rich_help_panel="Sizes of the call"
    ),
]
Fields = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="FIELD=VALUE", help="Another value for a config field, e.g. num_hidden_layers=4."
    ),
]
Inputs = Annotated[
    list[str] | None,
    typer.Option("--input", metavar="NAME=B,3,224,224", help="Of a factory: what forward() takes."),
]
WBit = Annotated[
    int, typer.Option(*_both("w_bit"), help="Bits of a weight, 2 to 64.", rich_help_panel="Widths")
]
ABit = Annotated[
    int, typer.Option(*_both("a_bit"), help="Bits of an activation, 2 to 64.", rich_help_panel="Widths")
]
KvBit = Annotated[
    int | None,
    typer.Option(
        *_both("kv_bit"), help="Bits of an element of the cache; by default a_bit.", rich_help_panel="Widths"
    ),
]
Phase = Annotated[
    Literal["prefill", "decode", "both"], typer.Option(help="All positions at once, one more token, or both.")
]
Attention = Annotated[
    Literal["dense", "executed"],
    typer.Option(help="Count every pair of positions, or only those that causal and sliding masks leave."),
]
Hardware = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME", help="Devices by id, prefix (h100) or driver's name; repeat, or use commas."
    ),
]
Trust = Annotated[
    bool, typer.Option("--trust-remote-code", help="Run the code that a checkpoint's folder brings.")
]
Timeout = Annotated[float | None, typer.Option(help="Seconds that deriving formulas may take.")]


def request_from(
    model: str,
    *,
    sizes: dict[str, int | None],
    more: list[str] | None = None,
    w_bit: int = 16,
    a_bit: int = 16,
    kv_bit: int | None = None,
    phase: Literal["prefill", "decode", "both"] = "prefill",
    attention: Literal["dense", "executed"] = "dense",
    hardware: list[str] | None = None,
    image_size: int | None = None,
    num_frames: int | None = None,
    fields: list[str] | None = None,
    inputs: list[str] | None = None,
    trusted: bool = False,
) -> Request:
    """What was typed as a request; what is no NAME=VALUE is wrong usage."""
    from forwardbook.pipeline.model.analysis import Request

    given = {name: size for name, size in sizes.items() if size is not None}
    for name, text in pairs("--size", more, "num_regions=10"):
        size = whole_number(text)
        if size is None:
            message = f"{name}={text[:80]}: {text[:80]!r} is no whole number below 2**63"
            raise typer.BadParameter(message, param_hint="'--size'")
        given[name] = size
    names = [one.strip() for text in hardware or [] for one in text.split(",")]
    return Request(
        model=model,
        sizes=given,
        bits={"w_bit": w_bit, "a_bit": a_bit, "kv_bit": a_bit if kv_bit is None else kv_bit},
        phase=phase,
        attention=attention,
        devices=names,
        image_size=image_size,
        num_frames=num_frames,
        fields={name: _json(text) for name, text in pairs("--set", fields, "num_hidden_layers=4")},
        inputs=dict(pairs("--input", inputs, "x=batch_size,3,224,224")),
        trusted=trusted,
    )


def _json(text: str) -> JsonValue:
    import json

    try:
        found: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return found


@contextmanager
def refusing(timeout: float | None = None) -> Iterator[None]:
    """What is inside reads models; `timeout` seconds are all that it may take."""
    import os

    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")  # hints about weights that nobody loads
    with _limited(timeout):
        yield


@contextmanager
def _limited(seconds: float | None) -> Iterator[None]:
    import signal

    from forwardbook.errors import ForwardbookError

    if seconds is None or not hasattr(signal, "setitimer"):
        yield
        return
    if seconds <= 0:
        raise ForwardbookError(f"--timeout {seconds:g}: give a number of seconds above 0")

    def late(number: int, frame: object) -> None:
        raise ForwardbookError(f"it was not done after {seconds:g} s (--timeout); nothing was written")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
