"""The counters held against ours: each takes a model and token numbers and gives the flops it reports."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch
    from torch import nn

MAC = 2  # operations in a multiply-accumulate, for tools that count these


@dataclass(frozen=True)
class Report:
    """A tool's total in flops, its matrix products alone where it tells them apart, its own warnings."""

    total: int
    products: int | None = None
    says: str = ""


Counter = Callable[["nn.Module", "torch.Tensor"], Report]


@dataclass(frozen=True)
class Tool:
    """A counter, the package it comes from, the device its model is on."""

    name: str
    package: str
    count: Counter
    device: str = "cpu"


def flop_counter_mode(model: nn.Module, ids: torch.Tensor) -> Report:
    """torch's own, as anyone would call it."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        model(ids)
    return Report(counter.get_total_flops())


def flop_counter_mode_with_mask(model: nn.Module, ids: torch.Tensor) -> Report:
    """torch's own on meta; a ready 4-D mask, since transformers reads values of tensors to make one."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    batch, seq = ids.shape
    mask = torch.zeros(batch, 1, seq, seq, device=ids.device)
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        model(ids, mask)
    return Report(counter.get_total_flops())


def calflops(model: nn.Module, ids: torch.Tensor) -> Report:
    """Its flops and its macs."""
    from calflops import calculate_flops

    flops, macs, _ = calculate_flops(
        model,
        kwargs={"input_ids": ids},
        print_results=False,
        print_detailed=False,
        output_as_string=False,
    )
    return Report(round(flops), round(MAC * macs))


def fvcore(model: nn.Module, ids: torch.Tensor) -> Report:
    """What it calls flops are multiply-accumulates (and operations of norms)."""
    from fvcore.nn import FlopCountAnalysis

    counted = FlopCountAnalysis(model, (ids,))
    counted.unsupported_ops_warnings(False).uncalled_modules_warnings(False)
    by_operator = counted.by_operator()
    products = sum(
        by_operator[name] for name in ("linear", "matmul", "addmm", "bmm", "einsum") if name in by_operator
    )
    unsupported = ", ".join(f"{name.removeprefix('aten::')}" for name in sorted(counted.unsupported_ops()))
    attention = "names scaled_dot_product_attention as unsupported" if "scaled_dot" in unsupported else ""
    return Report(round(MAC * counted.total()), round(MAC * products), attention)


def deepspeed(model: nn.Module, ids: torch.Tensor) -> Report:
    """Its flops and its macs."""
    from deepspeed.profiling.flops_profiler import get_model_profile

    flops, macs, _ = get_model_profile(
        model, kwargs={"input_ids": ids}, print_profile=False, detailed=False, warm_up=0, as_string=False
    )
    return Report(round(flops), round(MAC * macs))


def torchlens(model: nn.Module, ids: torch.Tensor) -> Report:
    """Its forward flops and macs, and the operations that it says it does not know."""
    import torchlens

    trace = torchlens.trace(model, ids)
    unknown = ", ".join(sorted({str(one.func_name) for one in trace.unknown_flop_ops}))
    says = f"says it does not know: {unknown}" if unknown else ""
    return Report(int(trace.total_flops_forward), MAC * int(trace.total_macs_forward), says)


def ptflops_python(model: nn.Module, ids: torch.Tensor) -> Report:
    return _ptflops(model, ids, "pytorch")


def ptflops_aten(model: nn.Module, ids: torch.Tensor) -> Report:
    return _ptflops(model, ids, "aten")


def _ptflops(model: nn.Module, ids: torch.Tensor, backend: str) -> Report:
    """Multiply-accumulates; activations and norms are among them."""
    from ptflops import get_model_complexity_info

    macs, _ = get_model_complexity_info(
        model,
        tuple(ids.shape),
        input_constructor=lambda shape: {"input_ids": ids},
        as_strings=False,
        print_per_layer_stat=False,
        verbose=False,
        backend=backend,
    )
    return Report(round(MAC * macs))


def torchinfo(model: nn.Module, ids: torch.Tensor) -> Report:
    """Its mult-adds."""
    from torchinfo import summary

    return Report(MAC * summary(model, input_data={"input_ids": ids}, verbose=0).total_mult_adds)


def thop(model: nn.Module, ids: torch.Tensor) -> Report:
    """Multiply-accumulates, of ultralytics' continuation."""
    from thop import profile

    macs, _ = profile(model, inputs=(ids,), verbose=False)
    return Report(round(MAC * macs))


TOOLS = (
    Tool("FlopCounterMode, meta with mask", "torch", flop_counter_mode_with_mask, "meta"),
    Tool("FlopCounterMode, meta", "torch", flop_counter_mode, "meta"),
    Tool("FlopCounterMode, CPU", "torch", flop_counter_mode),
    Tool("calflops", "calflops", calflops),
    Tool("fvcore", "fvcore", fvcore),
    Tool("deepspeed profiler", "deepspeed", deepspeed),
    Tool("torchlens", "torchlens", torchlens),
    Tool("ptflops, pytorch", "ptflops", ptflops_python),
    Tool("ptflops, aten", "ptflops", ptflops_aten),
    Tool("torchinfo", "torchinfo", torchinfo),
    Tool("ultralytics-thop", "ultralytics-thop", thop),
)


def quietly(tool: Tool, model: nn.Module, ids: torch.Tensor) -> Report:
    """One count without what the tool prints."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return tool.count(model, ids)
