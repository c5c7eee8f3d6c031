"""A scope in, its operations on a device out: kernels, transfers, allocations, and what waits."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from forwardbook.analyzers.detail.facts import DeviceKind, DeviceOperation
from forwardbook.analyzers.detail.names import dotted, keyword, last, listed
from forwardbook.analyzers.detail.open_file import OpenFile
from forwardbook.analyzers.detail.scopes import Scope

PACKAGES: Final = frozenset(
    {"torch", "cupy", "triton", "jax", "pycuda", "numba", "tensorrt", "tensorflow", "cuda"}
)
_ALLOCATES: Final = listed(
    """
    empty zeros ones full rand randn randint arange linspace eye tensor empty_like zeros_like ones_like
    full_like rand_like randn_like randint_like empty_strided logspace randperm scalar_tensor as_tensor
    """
)
_NO_KERNELS: Final = listed(
    """
    no_grad enable_grad inference_mode set_grad_enabled is_grad_enabled device dtype Size Generator
    is_tensor is_floating_point is_complex is_storage manual_seed seed initial_seed get_rng_state
    set_rng_state load save compile typename numel set_default_dtype get_default_dtype set_default_device
    set_printoptions finfo iinfo broadcast_shapes result_type can_cast promote_types set_num_threads
    get_num_threads set_default_tensor_type set_float32_matmul_precision use_deterministic_algorithms
    are_deterministic_algorithms_enabled from_numpy is_autocast_enabled get_autocast_gpu_dtype
    get_autocast_dtype is_inference_mode_enabled autocast export from_dlpack get_default_device is_nonzero
    sym_int sym_not sym_max sym_min clear_autocast_cache typing
    """
)
_FAMILIES: Final = (
    "torch.nn.functional.",
    "torch.linalg.",
    "torch.fft.",
    "torch.special.",
    "torch.ops.",
    "cupy.",
)
_WAITS: Final = {
    "item": "copies one value to the host and waits for it",
    "tolist": "copies all values to the host and waits for them",
    "numpy": "shares or copies the values with the host and waits for them",
    "cpu": "copies to the host and waits for it",
    "synchronize": "waits for the device",
    "block_until_ready": "waits for the device",
    "asnumpy": "copies to the host and waits for it",
    "nonzero": "the number of results must reach the host",
}
_NEW: Final = frozenset(
    {"new_empty", "new_zeros", "new_ones", "new_full", "new_tensor", "clone", "pin_memory"}
)
_CASTS: Final = frozenset({"half", "float", "double", "bfloat16"})
_STREAMS: Final = frozenset(
    {"Stream", "current_stream", "default_stream", "stream", "wait_stream", "Event", "record", "wait_event"}
)
_MEMORY: Final = listed(
    """
    empty_cache memory_allocated max_memory_allocated memory_reserved max_memory_reserved mem_get_info
    memory_stats reset_peak_memory_stats memory_summary mem_alloc mem_free set_per_process_memory_fraction
    """
)
_DEVICES: Final = frozenset({"cuda", "npu", "xpu", "to_device", "device_put", "memcpy_htod", "memcpy_dtoh"})
_DTYPES: Final = (
    *("torch.float", "torch.bfloat", "torch.half", "torch.double", "torch.int", "torch.uint"),
    *("torch.long", "torch.bool", "torch.complex", "dtype="),
)
_NAMED: Final[dict[str, tuple[DeviceKind, str]]] = {
    "torch.compile": ("compile", "compiled on first call"),
    "torch.jit.script": ("compile", "compiled to TorchScript"),
    "torch.jit.trace": ("compile", "recorded as TorchScript"),
    "torch.utils.cpp_extension.load": ("compile", "native code is compiled"),
    "torch.utils.cpp_extension.load_inline": ("compile", "native code is compiled"),
    "torch.cuda.CUDAGraph": ("graph", "a recorded sequence of kernels"),
    "torch.cuda.graph": ("graph", "kernels are recorded"),
    "torch.cuda.make_graphed_callables": ("graph", "kernels are recorded"),
    "torch.autocast": ("precision", "operations are cast to lower precision"),
    "torch.cuda.amp.autocast": ("precision", "operations are cast to lower precision"),
    "torch.amp.autocast": ("precision", "operations are cast to lower precision"),
    "torch.from_numpy": ("transfer", "shares the host's array"),
}


def device(file: OpenFile, scope: Scope) -> tuple[DeviceOperation, ...]:
    """The operations on a device, in source order; none in a file that imports no package for devices."""
    if not file.names.packages & PACKAGES:
        return ()
    return tuple(_operations(file, scope))


def _operations(file: OpenFile, scope: Scope) -> Iterator[DeviceOperation]:
    for node in scope.each(ast.Call, ast.BinOp):
        if isinstance(node, ast.Call):
            known = _call(file, node)
            if known is not None:
                yield DeviceOperation(known[0], node.lineno, file.text(node), known[1])
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            yield DeviceOperation("kernel", node.lineno, file.text(node), "matrix product")


def _call(file: OpenFile, node: ast.Call) -> tuple[DeviceKind, str] | None:
    if isinstance(node.func, ast.Subscript) and "triton" in file.names.packages:
        return "kernel", f"launch with the grid {file.text(node.func.slice)}"
    name = file.names.full(node.func)
    if name in _NAMED:
        return _NAMED[name]
    if name.startswith(("torch.", "cupy.", "jax.numpy.")) and file.names.is_imported(node.func):
        return _function(name, node, file)
    return _method(file, node) if isinstance(node.func, ast.Attribute) else None


def _function(name: str, node: ast.Call, file: OpenFile) -> tuple[DeviceKind, str] | None:
    """What a function of torch or its like does."""
    package, _, rest = name.partition(".")
    short = name.rpartition(".")[2]
    if short in _MEMORY:
        return "memory", "asks or changes the allocator"
    if short == "synchronize":
        return "synchronise", _WAITS[short]
    if ".cuda." in name and short in _STREAMS:
        return "stream", "order between kernels"
    if short in _ALLOCATES and rest == short:
        where = keyword(node, "device")
        return "allocate", f"on {file.text(where)}" if where is not None else "on the default device"
    is_function = short[:1].islower() and short not in _NO_KERNELS
    if is_function and (name.startswith(_FAMILIES) or (rest == short and package == "torch")):
        return "kernel", "on the device of its inputs"
    return None


def _method(file: OpenFile, node: ast.Call) -> tuple[DeviceKind, str] | None:
    """What a method does that tensors and modules have, as far as its name and arguments tell."""
    short = last(node.func)
    if short in _WAITS and (not node.args or short in ("synchronize", "asnumpy")):
        owner = dotted(node.func).partition(".")[0]
        if short in ("numpy", "nonzero") and owner in file.names.imported:
            return None
        return "synchronise", _WAITS[short]
    if short == "to" and (node.args or node.keywords):
        return _to(file, node)
    if short in _DEVICES:
        later = keyword(node, "non_blocking")
        return "transfer", "does not wait" if later is not None else "to the device"
    if short in _NEW and not (short == "clone" and node.args):
        return "allocate", "in pinned host memory" if short == "pin_memory" else "on the device of its source"
    if short in _CASTS and not node.args and not node.keywords:
        return "precision", f"cast to {short}"
    if short in ("replay", "capture_begin", "capture_end"):
        return "graph", "a recorded sequence of kernels"
    if short in ("wait_stream", "wait_event", "record_stream"):
        return "stream", "order between streams"
    return None


def _to(file: OpenFile, node: ast.Call) -> tuple[DeviceKind, str]:
    """Whether `.to(...)` moves or only casts."""
    given = [
        *(file.text(each) for each in node.args),
        *(f"{e.arg}={file.text(e.value)}" for e in node.keywords),
    ]
    casts = [words for words in given if words.startswith(_DTYPES) or words.endswith("dtype")]
    if casts and len(casts) == len(given):
        return "precision", f"cast to {casts[0].removeprefix('dtype=')}"
    later = keyword(node, "non_blocking")
    return "transfer", "does not wait" if later is not None and file.text(
        later
    ) == "True" else f"to {given[0]}"
