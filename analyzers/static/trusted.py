"""Which installed code may run natively: namespaces by list, everything else refused."""

from __future__ import annotations

import functools
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from forwardbook.analyzers.static.functions import Function

# Module -> the names that may be taken from it; None: all that is public.
MODULES: dict[str, frozenset[str] | None] = {
    "abc": frozenset({"ABC", "ABCMeta", "abstractmethod", "abstractproperty"}),
    "collections": None,
    "collections.abc": None,
    "contextlib": None,
    "contextvars": None,
    "copy": frozenset({"copy", "deepcopy"}),
    "dataclasses": frozenset({"dataclass", "field", "fields", "replace", "asdict", "astuple", "is_dataclass",
                              "MISSING", "KW_ONLY", "InitVar", "Field"}),
    "enum": None,
    "functools": frozenset({"partial", "partialmethod", "wraps", "update_wrapper", "lru_cache", "cache",
    "reduce",
                            "cmp_to_key", "cached_property", "total_ordering"}),
    "inspect": frozenset({"signature", "Parameter", "Signature", "isclass", "isfunction", "ismethod"}),
    "itertools": None,
    "json": frozenset({"dumps", "loads", "JSONDecodeError"}),
    "math": None,
    "numbers": None,
    "string": frozenset({"ascii_letters", "ascii_lowercase", "ascii_uppercase", "digits", "punctuation"}),
    "operator": frozenset({"add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "neg", "eq", "ne",
    "lt", "le",
                           "gt", "ge", "and_", "or_", "not_", "getitem", "itemgetter", "contains", "matmul"}),
    "packaging.version": None,
    "packaging": frozenset({"version"}),
    "re": None,
    "textwrap": None,
    "threading": frozenset({"Lock", "RLock", "local"}),
    "types": frozenset({"SimpleNamespace", "MethodType", "MappingProxyType", "GenericAlias", "NoneType",
                        "FunctionType", "ModuleType", "UnionType", "EllipsisType"}),
    "typing": None,
    "typing_extensions": None,
    "weakref": None,
    "torch": None,
    "torch._C": frozenset({"_get_privateuse1_backend_name", "_infer_size", "_nn", "_VariableFunctions"}),
    "torch._C._nn": None, "torch._C._fft": None, "torch._C._linalg": None, "torch._C._special": None,
    "torch._VF": None, "torch._jit_internal": frozenset({"_overload", "_overload_method", "boolean_dispatch",
                                                         "BroadcastingList1", "BroadcastingList2",
                                                         "BroadcastingList3", "Final", "Future"}),
    "torch._refs": None, "torch._prims_common": None, "torch._lowrank": None,
    "torch._torch_docs": frozenset({"reproducibility_notes", "sparse_support_notes", "tf32_notes"}),
    "torch._utils": frozenset({"_get_device_index", "_get_available_device_type", "_get_all_device_indices"}),
    "torch._ops": None, "torch.ops": None,
    "torch.accelerator": frozenset({"current_accelerator", "is_available"}),
    "torch.amp": None, "torch.amp.autocast_mode": None,
    "torch.autograd": frozenset({"Function", "Variable", "grad", "enable_grad", "no_grad"}),
    "torch.autograd.function": None, "torch.autograd.grad_mode": None, "torch.autograd.variable": None,
    "torch.backends": None, "torch.backends.cuda": None, "torch.backends.cudnn": None,
    "torch.backends.mps": None,
    "torch.backends.mha": None, "torch.backends.mkldnn": None,
    "torch.compiler": frozenset({"is_compiling", "is_dynamo_compiling", "is_exporting", "disable"}),
    "torch.cuda": frozenset({"is_available", "device_count", "current_device", "amp", "is_bf16_supported",
                             "get_device_capability", "FloatTensor", "LongTensor"}),
    "torch.cuda.amp": None, "torch.cuda.amp.autocast_mode": None,
    "torch.distributed": frozenset({"is_available", "is_initialized", "ProcessGroup"}),
    "torch.fft": None, "torch.functional": None,
    "torch.func": None, "torch._functorch.apis": None, "torch._functorch.vmap": None,
    "torch.jit": frozenset({"is_scripting", "is_tracing", "ignore", "unused", "export", "Final",
    "_overload"}),
    "torch.jit._trace": frozenset({"is_tracing"}),
    "torch.linalg": None, "torch.masked": None, "torch.mps": frozenset({"is_available"}),
    "torch.nn": None, "torch.nn.attention": None, "torch.nn.functional": None, "torch.nn.grad": None,
    "torch.nn.init": None, "torch.nn.modules": None, "torch.nn.parameter": None, "torch.nn.utils": None,
    "torch.overrides": frozenset({"handle_torch_function", "has_torch_function", "is_tensor_like",
                                  "has_torch_function_unary", "has_torch_function_variadic"}),
    "torch.random": None, "torch.return_types": None, "torch.signal": None,
    "torch.special": None, "torch.types": None, "torch.version": None, "torch._tensor": None,
    "torch.utils": frozenset({"checkpoint", "_pytree"}),
    "torch.utils._contextlib": None, "torch.utils._device": None,
    "torch.utils._pytree": frozenset({"tree_map", "tree_flatten", "tree_unflatten", "tree_leaves"}),
    "torch.utils.checkpoint": frozenset({"checkpoint"}),
    "torch.xpu": frozenset({"is_available"}),
}  # fmt: skip

# Packages whose every submodule is trusted as the package is.
WHOLE = (
    "torch.nn.modules.", "torch.nn.utils.", "torch.masked.", "torch.signal.", "torch.backends.",
    "torch.func.", "torch.nn.attention.", "collections.",
)  # fmt: skip

# Reachable through the namespaces above, and refused: they read or write files, run other programs,
# compile, or change the state of the whole process.
DENIED: dict[str, frozenset[str]] = {
    "torch": frozenset({
        "load", "save", "from_file", "hub", "jit", "compile", "package", "serialization", "distributed",
        "classes",
        "import_ir_module", "import_ir_module_from_buffer", "PyTorchFileReader", "PyTorchFileWriter",
        "parse_ir",
        "parse_schema", "fork", "wait", "get_file_path", "set_default_device", "set_default_dtype",
        "set_printoptions",
        "set_default_tensor_type", "set_num_threads", "set_num_interop_threads",
        "set_float32_matmul_precision",
        "use_deterministic_algorithms", "set_deterministic_debug_mode", "set_warn_always", "export",
        "from_numpy",
        "frombuffer", "FileCheck", "ScriptFunction", "ScriptModule", "CompilationUnit",
        "_import_device_backends",
        "prepare_multiprocessing_environment",
    }),
    "typing": frozenset({"get_type_hints", "ForwardRef"}),
    "typing_extensions": frozenset({"get_type_hints", "ForwardRef", "evaluate_forward_ref",
    "get_annotations"}),
    "torch.ops": frozenset({"load_library", "import_module"}),
    "torch.nn": frozenset({"parallel", "DataParallel"}),
}  # fmt: skip
JIT_ALLOWED = MODULES["torch.jit"] or frozenset()
OPERATOR_NAMESPACES = frozenset({"aten", "prims", "higher_order", "prim"})
DENIED_TENSOR = frozenset({
    "numpy", "storage", "untyped_storage", "_typed_storage", "tofile", "data_ptr", "share_memory_",
    "apply_", "map_",
    "map2_", "__array__", "__reduce_ex__", "__reduce__", "_make_subclass", "from_file",
})  # fmt: skip

_TORCH_C = frozenset({
    "is_grad_enabled", "is_inference_mode_enabled", "is_autocast_enabled", "get_autocast_dtype",
    "get_default_dtype",
    "get_autocast_gpu_dtype", "get_autocast_cpu_dtype", "_set_grad_enabled", "_assert_async",
    "is_autocast_cpu_enabled",
    "set_autocast_enabled", "set_autocast_dtype", "_log_api_usage_once", "_infer_size", "has_torch_function",
    "_has_torch_function", "_has_torch_function_unary", "_has_torch_function_variadic", "initial_seed",
    "is_autocast_cache_enabled", "_get_privateuse1_backend_name", "_is_tracing",
})  # fmt: skip
_TORCH_CLASSES = frozenset({
    "Tensor", "TensorBase", "dtype", "device", "Size", "Generator", "SymInt", "SymFloat", "SymBool",
    "finfo", "iinfo",
    "layout", "memory_format", "no_grad", "enable_grad", "set_grad_enabled", "inference_mode", "autocast",
    "_Ops", "_OpNamespace", "OpOverload", "OpOverloadPacket", "tensortype", "qscheme",
})  # fmt: skip


def module_allowed(name: str) -> bool:
    """True when code of this module may run natively."""
    return name in MODULES or name.startswith(WHOLE)


def name_allowed(module: str, name: str) -> bool:
    """True when this name of a native module may be taken."""
    if name.startswith("__") and name not in ("__version__", "__name__"):
        return False
    if module == "torch" and name == "jit":
        return True  # the namespace, of which only the predicates and markers are allowed
    if module == "torch" and name == "distributed":
        return True  # likewise: only is_available and is_initialized
    if name in DENIED.get(module, ()):
        return False
    names = MODULES.get(module)
    return names is None or name in names or f"{module}.{name}" in MODULES


def callable_allowed(value: Any) -> bool:
    """True for interpreted functions, and native ones whose home is a trusted namespace."""
    if isinstance(value, Function):
        return True
    if isinstance(value, MethodType):
        return callable_allowed(value.__func__)
    if isinstance(value, functools.partial):
        return callable_allowed(value.func)
    if isinstance(value, functools._lru_cache_wrapper):
        return callable_allowed(value.__wrapped__)
    if isinstance(value, type):
        return class_allowed(value)
    if isinstance(value, FunctionType):
        return _function_allowed(value)
    if isinstance(value, BuiltinFunctionType):
        return _builtin_allowed(value)
    kind = type(value).__name__
    if kind in ("method_descriptor", "wrapper_descriptor", "classmethod_descriptor", "getset_descriptor"):
        return class_allowed(value.__objclass__) and value.__name__ not in DENIED_TENSOR
    if kind == "method-wrapper":
        owner = value.__self__
        return callable_allowed(owner) if value.__name__ == "__call__" else class_allowed(type(owner))
    return class_allowed(type(value))


def _function_allowed(value: FunctionType) -> bool:
    home = value.__globals__.get("__name__", "")
    if home.startswith("forwardbook."):
        return True  # our own, which stands in for torch's while a derivation runs
    name = value.__name__
    if home in ("torch._ops", "torch._utils", "torch.random") and name.startswith(("load_", "set_rng")):
        return False
    return module_allowed(home) and name not in DENIED.get(home, ())


def _builtin_allowed(value: BuiltinFunctionType) -> bool:
    owner = value.__self__
    if isinstance(owner, ModuleType):
        home = value.__module__ or ""
        if home == "builtins":
            return value.__name__ in SAFE_BUILTINS
        if home == "_thread":
            return value.__name__ in ("allocate_lock", "RLock")
        if home in ("torch._C", "torch"):
            return value.__name__ in _TORCH_C
        return module_allowed(
            home.removeprefix("_") if home in ("_operator", "_functools", "_collections") else home
        )
    if owner is None:
        torch_function = value.__qualname__.startswith("_VariableFunctionsClass.")
        return value.__name__ in _TORCH_C or (torch_function and value.__name__ not in DENIED["torch"])
    kind = owner if isinstance(owner, type) else type(owner)
    if kind.__module__ == "torch._C" and value.__name__ in _TORCH_C:
        return True
    return class_allowed(kind) and value.__name__ not in DENIED_TENSOR


SAFE_BUILTINS = frozenset({
    "abs", "all", "any", "bin", "callable", "chr", "divmod", "format", "hash", "hex", "id", "isinstance",
    "issubclass",
    "iter", "len", "max", "min", "next", "oct", "ord", "pow", "repr", "round", "sorted", "sum",
})  # fmt: skip
_ARRAYS = "forwardbook.analyzers.static.arrays"
_REFUSED_BUILTIN_TYPES = frozenset({"frame", "code", "traceback", "function", "module"})


def synthesised(kind: type) -> bool:
    """True for a class that interpretation has made; installed classes cannot be given the mark."""
    return "__interpreted__" in kind.__dict__


def class_allowed(kind: type) -> bool:
    """True when instances of a class may be made, called and looked into."""
    if synthesised(kind) or issubclass(kind, BaseException):
        return True
    home = kind.__module__
    if home == "builtins":
        return kind.__name__ not in _REFUSED_BUILTIN_TYPES
    if home in ("torch", "torch._C"):
        named = kind.__name__ in _TORCH_CLASSES or kind.__name__.endswith("Tensor")
        return named or issubclass(kind, BaseException)
    if home.startswith("torch.return_types"):
        return True
    if home.startswith("forwardbook.analyzers.static."):
        return home == _ARRAYS  # its rows of numbers, which may be looked into
    import torch

    if issubclass(kind, torch.Tensor):
        return True
    if home in (
        "_operator",
        "_functools",
        "_collections",
        "_thread",
        "_weakref",
        "re",
        "_sre",
        "_contextvars",
    ):
        return True
    return module_allowed(home) and kind.__name__ not in DENIED.get(home, ())
