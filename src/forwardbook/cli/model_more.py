"""`forwardbook compare` and `advise`: models and sizes in; costs side by side, or what fits a device, out."""

from __future__ import annotations

from typing import Annotated

import typer

from forwardbook.cli import model_options as options

Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]


def compare(
    models: Annotated[list[str], typer.Argument(metavar="A B...", help="Models, as for analyze-model.")],
    batch_size: options.BatchSize = None,
    seq_len: options.SeqLen = None,
    decoder_seq_len: options.DecoderSeqLen = None,
    kv_len: options.KvLen = None,
    num_samples: options.NumSamples = None,
    image_size: options.ImageSize = None,
    size: options.Sizes = None,
    w_bit: options.WBit = 16,
    a_bit: options.ABit = 16,
    kv_bit: options.KvBit = None,
    phase: options.Phase = "prefill",
    attention: options.Attention = "dense",
    hardware: options.Hardware = None,
    trust: options.Trust = False,
    as_json: Json = False,
    timeout: options.Timeout = None,
) -> None:
    """Costs side by side: `forwardbook compare llama-2-7b llama-3.1-8b --batch_size 1 --seq_len 2048`"""
    if len(models) < 2:
        raise typer.BadParameter("name two models or more to compare")
    sizes = {
        "batch_size": batch_size,
        "seq_len": seq_len,
        "decoder_seq_len": decoder_seq_len,
        "kv_len": kv_len,
        "num_samples": num_samples,
    }
    requests = [
        options.request_from(
            name,
            sizes=sizes,
            more=size,
            w_bit=w_bit,
            a_bit=a_bit,
            kv_bit=kv_bit,
            phase=phase,
            attention=attention,
            hardware=hardware,
            image_size=image_size,
            trusted=trust,
        )
        for name in models
    ]
    with options.refusing(timeout):
        from forwardbook.cli.model_more_run import run_compare

        run_compare(requests, as_json)


def advise(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model, as for analyze-model.")],
    hardware: options.Hardware = None,
    batch_size: options.BatchSize = None,
    seq_len: options.SeqLen = None,
    decoder_seq_len: options.DecoderSeqLen = None,
    num_samples: options.NumSamples = None,
    image_size: options.ImageSize = None,
    size: options.Sizes = None,
    w_bit: options.WBit = 16,
    a_bit: options.ABit = 16,
    kv_bit: options.KvBit = None,
    attention: options.Attention = "dense",
    fields: options.Fields = None,
    trust: options.Trust = False,
    as_json: Json = False,
    timeout: options.Timeout = None,
) -> None:
    """The largest batch and context that fit: `forwardbook advise llama-3.1-8b --hardware h100-sxm`"""
    request = options.request_from(
        model,
        sizes={
            "batch_size": batch_size or 1,
            "seq_len": seq_len,
            "decoder_seq_len": decoder_seq_len,
            "num_samples": num_samples,
        },
        more=size,
        w_bit=w_bit,
        a_bit=a_bit,
        kv_bit=kv_bit,
        attention=attention,
        hardware=hardware,
        image_size=image_size,
        fields=fields,
        trusted=trust,
    )
    with options.refusing(timeout):
        from forwardbook.cli.model_more_run import run_advise

        run_advise(request, as_json)
