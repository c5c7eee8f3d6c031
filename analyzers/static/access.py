"""An object and an attribute name in, the value out where looking is allowed."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from types import GeneratorType, MethodType, ModuleType
from typing import Any, cast

from forwardbook.analyzers.static.functions import Function
from forwardbook.analyzers.static.modules import SourceModule
from forwardbook.analyzers.static.opaque import NoOp, Opaque, Plain, is_a
from forwardbook.analyzers.static.stand_ins import stand_in
from forwardbook.analyzers.static.trusted import (
    DENIED_TENSOR,
    OPERATOR_NAMESPACES,
    class_allowed,
    module_allowed,
    name_allowed,
    synthesised,
)
from forwardbook.analyzers.static.unresolved import Unresolved

_DUNDERS = frozenset({
    "__name__", "__qualname__", "__doc__", "__module__", "__init__", "__new__", "__call__", "__len__",
    "__getitem__",
    "__setitem__", "__delitem__", "__contains__", "__iter__", "__next__", "__enter__", "__exit__", "__eq__",
    "__ne__",
    "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__repr__", "__str__", "__add__", "__radd__",
    "__sub__",
    "__mul__", "__rmul__", "__truediv__", "__floordiv__", "__mod__", "__pow__", "__neg__", "__and__",
    "__or__",
    "__xor__", "__bool__", "__int__", "__float__", "__index__", "__post_init__", "__init_subclass__",
    "__wrapped__",
    "__version__", "__signature__", "__annotations__", "__dataclass_fields__", "__dataclass_params__",
    "__members__", "__missing__", "__constants__", "__func__", "__set_name__", "__get__", "__dir__",
    "__origin__", "__args__", "__metadata__", "__jit_unused_properties__", "__abstractmethods__", "__all__",
    "__iadd__", "__defaults__", "__mro__", "__bases__", "__del__", "__copy__", "__deepcopy__", "__self__",
    "__class_getitem__", "__torch_function__", "__torch_dispatch__", "__spec__",
    "__setstate__", "__getstate__",
})  # fmt: skip
_GUARDED = frozenset({"__getattribute__", "__getattr__", "__setattr__", "__delattr__"})
_OWN_ONLY = frozenset({"__class__", "__dict__", "__mro__", "__bases__", "__setstate__", "__getstate__"})
_FUNCTION_ONLY = frozenset({"__func__", "__self__", "__defaults__"})


def check_name(owner: object, name: str) -> None:
    """Refuse the attribute names through which Python objects lead out of the language."""
    if not (name.startswith("__") and name.endswith("__")) or name in _DUNDERS - _OWN_ONLY - _FUNCTION_ONLY:
        return
    if name in _OWN_ONLY and (own(owner) or (name == "__dict__" and is_a(owner, Plain))):
        return
    interpreted = is_a(owner, Function) or (is_a(owner, MethodType) and is_a(owner.__func__, Function))  # type: ignore[attr-defined]
    if name in _FUNCTION_ONLY and interpreted:
        return
    private = name[2:-2].isidentifier() and own(owner) and name not in _REFUSED
    if not private:
        raise Unresolved(f"the attribute {name} of {type(owner).__name__} is not followed", operation=name)


_REFUSED = frozenset({
    "__globals__", "__builtins__", "__subclasses__", "__code__", "__closure__", "__import__", "__loader__",
    "__reduce__", "__reduce_ex__", "__base__", "__subclasshook__", "__traceback__", "__context__",
    "__cause__",
    "__class__", "__dict__", "__mro__", "__bases__", "__self__", "__func__", "__weakref__",
})  # fmt: skip

# What `copy` asks an instance for; only its own state is within reach through them.
_COPYING = frozenset({"__reduce_ex__", "__reduce__", "__class__", "__deepcopy__", "__copy__"})


def own(owner: object) -> bool:
    """True for classes made by interpretation, their instances, and `super()` of these."""
    kind = cast(type, owner) if is_a(owner, type) else type(owner)
    if kind is super:
        return True
    return synthesised(kind)


def get_attribute(owner: Any, name: str) -> Any:
    """`owner.name`."""
    if is_a(owner, SourceModule):
        return owner.attribute(name)
    if is_a(owner, NoOp):
        return owner
    if is_a(owner, Opaque):
        substitute = stand_in(f"{owner._name}.{name}")
        return owner.child(name) if substitute is None else substitute
    if is_a(owner, Plain):
        if name in owner.__dict__ and not name.startswith("__"):
            return owner.__dict__[name]
        return Opaque(name, "the module it belongs to is not trusted, and its stand-in lacks it")
    if is_a(owner, ModuleType):
        return _of_module(owner, name)
    if name in _GUARDED:
        return _guarded(owner, name)
    if is_a(owner, Function) and name == "__code__":
        names = owner.variable_names()
        return Plain(co_varnames=names, co_argcount=len(owner.parameters.positional), co_name=owner.__name__)
    check_name(owner, name)
    if is_a(owner, Function):
        if name in owner.__dict__ or name in ("__signature__", "__call__", "__get__", "__doc__"):
            return getattr(owner, name)
        raise AttributeError(f"function has no attribute {name!r}")
    if name == "__annotations__":
        return dict(getattr(owner, name, {}))
    _check_kind(owner, name)
    return getattr(owner, name)


def _check_kind(owner: Any, name: str) -> None:
    if is_a(owner, type):
        if not class_allowed(owner):
            raise Unresolved(
                f"{owner.__module__}.{owner.__qualname__} is not a trusted class", operation=name
            )
    elif is_a(owner, GeneratorType):
        if name not in ("send", "close", "throw", "__next__", "__iter__"):
            raise Unresolved(f"the attribute {name} of a generator is not followed", operation=name)
    elif type(owner).__name__ in ("function", "builtin_function_or_method", "method_descriptor"):
        if not name.startswith("__") and name not in getattr(owner, "__dict__", {}):
            raise AttributeError(name)
    elif not class_allowed(type(owner)):
        kind = type(owner)
        raise Unresolved(
            f"{name} of a {kind.__module__}.{kind.__qualname__}, which is not trusted", operation=name
        )
    import torch

    if name in DENIED_TENSOR and (
        is_a(owner, torch.Tensor) or (is_a(owner, type) and issubclass(owner, torch.Tensor))
    ):
        raise Unresolved(f"Tensor.{name} leaves the tensors", operation=name)
    if name == "compile" and is_a(owner, torch.nn.Module):
        raise Unresolved("Module.compile would compile", operation=name)
    if type(owner).__name__ == "_Ops" and name not in OPERATOR_NAMESPACES:
        raise Unresolved(f"torch.ops.{name} is not trusted", operation=name)


def _of_module(owner: ModuleType, name: str) -> Any:
    home = owner.__name__
    substitute = stand_in(f"{home}.{name}")
    if substitute is not None:
        return substitute
    if not module_allowed(home) or not name_allowed(home, name):
        if not hasattr(owner, name):
            raise AttributeError(f"module {home!r} has no attribute {name!r}")
        return Opaque(f"{home}.{name}", "it is not on the list of trusted names")
    value = getattr(owner, name)
    if is_a(value, ModuleType) and not module_allowed(value.__name__):
        return Opaque(value.__name__, "it is not on the list of trusted modules")
    return value


def _guarded(owner: Any, name: str) -> Callable[..., Any]:
    """`super().__setattr__` and its like, which take a name as argument: that name is checked too."""
    import torch

    kind = owner if is_a(owner, type) else type(owner)
    if not own(owner) and not issubclass(kind, torch.nn.Module):
        raise Unresolved(f"{name} of {kind.__qualname__} is not followed", operation=name)
    method = getattr(owner, name)

    def guarded(*args: Any) -> Any:
        bound: Any = owner
        instance = args[0] if is_a(owner, type) else bound.__self__ if type(owner) is super else owner
        attribute = next((item for item in args if is_a(item, str)), "")
        if not (name == "__getattribute__" and attribute in _COPYING and own(instance)):
            check_name(instance, attribute)
        if name in ("__setattr__", "__delattr__"):
            check_settable(instance, attribute)
        return method(*args)

    return guarded


def check_settable(owner: Any, name: str) -> None:
    """Refuse changes to anything that outlives the interpretation: installed modules, classes, functions."""
    import torch

    if is_a(owner, Function, NoOp) or own(owner):
        return
    if is_a(owner, torch.nn.Module, torch.Tensor) and not is_a(owner, type):
        return
    if type(owner).__module__ in (
        "types",
        "torch.autograd.function",
        "torch.nn.utils.parametrize",
    ) or isinstance(owner, BaseException):
        return
    if callable(owner) and getattr(owner, "__wrapped__", None) is not None:
        return
    if type(owner).__name__.endswith("Backward") or type(owner) is OrderedDict:
        return
    raise Unresolved(
        f"setting {name} of {type(owner).__qualname__} would change installed code", operation=name
    )


def set_attribute(owner: Any, name: str, value: object) -> None:
    """`owner.name = value`."""
    if is_a(owner, SourceModule):
        owner.names[name] = value
        return
    if is_a(owner, NoOp):
        return
    if name not in ("__init__", "__setattr__", "__getattribute__", "__getattr__", "__delattr__") or not own(
        owner
    ):
        check_name(owner, name)
    check_settable(owner, name)
    setattr(owner, name, value)


def delete_attribute(owner: Any, name: str) -> None:
    """`del owner.name`."""
    check_name(owner, name)
    check_settable(owner, name)
    delattr(owner, name)


_MISSING = object()


def builtin_getattr(owner: Any, name: str, default: object = _MISSING) -> Any:
    """`getattr`, under the same guard as a dot."""
    try:
        return get_attribute(owner, name)
    except AttributeError:
        if default is _MISSING:
            raise
        return default


def builtin_hasattr(owner: Any, name: str) -> bool:
    """`hasattr`, under the same guard as a dot; what is not trusted counts as there."""
    try:
        get_attribute(owner, name)
    except AttributeError:
        return False
    return True
