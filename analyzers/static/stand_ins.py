"""Names of installed packages that are not interpreted, each with the value that stands in and the reason."""

from __future__ import annotations

import collections
import importlib.machinery
import os
import sys
import sysconfig
from dataclasses import dataclass
from types import MappingProxyType, MethodType
from typing import Any

from forwardbook.analyzers.static.arrays import NUMPY
from forwardbook.analyzers.static.opaque import NoOp, Plain


@dataclass(frozen=True)
class StandIn:
    """A value in place of source, and why that is sound."""

    value: Any
    reason: str


def identity_decorator(*args: Any, **kwargs: Any) -> Any:
    """`@name` and `@name(...)` both give the decorated object back."""
    if len(args) == 1 and not kwargs and callable(args[0]):
        return args[0]
    return _identity


def _identity(value: Any) -> Any:
    return value


def unbound(function: Any) -> Any:
    """A function itself; of a method, the function that it binds."""
    return function.__func__ if isinstance(function, MethodType) else function


def nothing(*args: Any, **kwargs: Any) -> None:
    """Does nothing."""


def false(*args: Any, **kwargs: Any) -> bool:
    """The answer no."""
    return False


def find_spec(name: str, package: str | None = None) -> object | None:
    """True-like when a package is installed; nothing is imported to find out."""
    path: list[str] | None = None
    spec = None
    for index in range(len(name.split("."))):
        spec = importlib.machinery.PathFinder.find_spec(".".join(name.split(".")[: index + 1]), path)
        if spec is None:
            return None
        path = list(spec.submodule_search_locations or ())
    return Plain(name=name)


def package_version(name: str) -> str:
    """The version in a package's metadata."""
    import importlib.metadata

    return importlib.metadata.version(name)


def getenv(name: str, default: str | None = None) -> str | None:
    """No environment variable is set."""
    return default


def join(*parts: str) -> str:
    """`os.path.join`: text alone."""
    return os.path.join(*parts)


def _importlib() -> Plain:
    import importlib.metadata

    missing = importlib.metadata.PackageNotFoundError
    metadata = Plain(version=package_version, PackageNotFoundError=missing, packages_distributions=dict)
    return Plain(util=Plain(find_spec=find_spec), metadata=metadata)


_IMPORTLIB = _importlib()
PLAIN_MODULES: dict[str, StandIn] = {
    "logging": StandIn(NoOp("logging"), "what is logged costs nothing that is counted"),
    "warnings": StandIn(NoOp("warnings"), "a warning costs nothing that is counted"),
    "os": StandIn(
        Plain(environ=MappingProxyType({}), getenv=getenv, PathLike=os.PathLike, path=Plain(join=join),
        sep="/", name=os.name),
        "the environment is no part of the source; files are out of reach",
    ),
    "os.path": StandIn(Plain(join=join), "files are out of reach"),
    "sys": StandIn(
        Plain(version_info=sys.version_info, version=sys.version, maxsize=sys.maxsize,
              platform=sys.platform, byteorder=sys.byteorder),
        "facts about the running Python, without its objects",
    ),
    "platform": StandIn(Plain(system=lambda: sysconfig.get_platform(),
    python_version=lambda: sys.version.split()[0]),
                        "facts about the machine"),
    "importlib": StandIn(_IMPORTLIB, "asks which packages are installed, imports none"),
    "importlib.util": StandIn(_IMPORTLIB.util, "asks which packages are installed, imports none"),
    "importlib.metadata": StandIn(_IMPORTLIB.metadata, "reads version numbers of packages"),
    "numpy": StandIn(NUMPY, "its functions of plain numbers; arrays are worked on by compiled code"),
    "transformers.utils.logging": StandIn(NoOp("transformers.utils.logging"), "what is logged costs nothing"),
}  # fmt: skip


def _dataclass(cls: Any = None, /, **options: Any) -> Any:
    from forwardbook.analyzers.static.classes import safe_dataclass

    return safe_dataclass(cls, **options)


def _get_annotations(cls: type) -> dict[str, Any]:
    from forwardbook.analyzers.static.classes import get_annotations

    return get_annotations(cls)


def _get_type_hints(cls: type, *args: Any, **kwargs: Any) -> dict[str, Any]:
    from forwardbook.analyzers.static.classes import get_type_hints

    return get_type_hints(cls)


def module_named(name: str, default: object = None) -> Plain:
    """`sys.modules.get`: a name alone, whose text `inspect.getsource` can read."""
    return Plain(__name__=name)


def named_tuple(*args: Any, **kwargs: Any) -> type:
    """`collections.namedtuple`, its class marked as made by interpretation."""
    made = collections.namedtuple(*args, **kwargs)  # type: ignore[misc]  # noqa: PYI024
    made.__interpreted__ = None  # type: ignore[attr-defined]
    return made


def source_text(value: Any) -> str:
    """`inspect.getsource` of a module: the text that is being read anyway."""
    from forwardbook.analyzers.reader.sources import Sources

    found = Sources().load(value.__dict__["__name__"]) if isinstance(value, Plain) else None
    if found is None:
        raise OSError("could not get source code")
    return found.text


# Value, reason, and the names it stands for.
_TABLE: tuple[tuple[Any, str, tuple[str, ...]], ...] = (
    (
        NoOp("logging"),
        "what is logged costs nothing that is counted",
        ("transformers.utils.logging",),
    ),
    (
        identity_decorator,
        "it writes a docstring and gives the decorated object back",
        (
            "transformers.utils.auto_docstring",
            "transformers.utils.auto_docstring.auto_docstring",
            "transformers.utils.auto_docstring.auto_class_docstring",
            "transformers.utils.doc.add_start_docstrings",
            "transformers.utils.doc.add_code_sample_docstrings",
        ),
    ),
    (unbound, "the copy differs from the function in its docstring", ("transformers.utils.doc.copy_func",)),
    (identity_decorator, "it checks that packages are there", ("transformers.utils.import_utils.requires",)),
    (nothing, "it checks that packages are there", ("transformers.utils.import_utils.requires_backends",)),
    (
        false,
        "eager execution is what is derived",
        (
            "transformers.utils.import_utils.is_tracing",
            "transformers.utils.import_utils.is_torchdynamo_compiling",
            "transformers.utils.import_utils.is_torchdynamo_exporting",
            "transformers.utils.import_utils.is_jit_tracing",
        ),
    ),
    (
        identity_decorator,
        "eager execution is what is derived",
        ("torch.compiler.allow_in_graph", "torch.jit.script_if_tracing"),
    ),
    (
        lambda *args, **kwargs: _identity,
        "it renames arguments that callers of today's names do not pass",
        ("transformers.utils.deprecation.deprecate_kwarg",),
    ),
    (
        false,
        "no distributed engine runs here",
        (
            "transformers.modeling_utils.is_deepspeed_zero3_enabled",
            "transformers.integrations.deepspeed.is_deepspeed_zero3_enabled",
            "transformers.integrations.fsdp.is_fsdp_managed_module",
            "transformers.integrations.fsdp.is_fsdp_enabled",
        ),
    ),
    (
        identity_decorator,
        "it checks types of fields and changes none; the values given are taken as valid",
        ("huggingface_hub.dataclasses.strict",),
    ),
    (lambda **kwargs: _identity, "a note to type checkers", ("typing_extensions.dataclass_transform",)),
    (
        nothing,
        "it would change a registry of the process",
        ("torch.utils._pytree.register_pytree_node", "torch.utils._pytree._register_pytree_node"),
    ),
    (nothing, "what is logged costs nothing that is counted", ("torch._C._log_api_usage_once",)),
    (_dataclass, "the same, after a check that field names are identifiers", ("dataclasses.dataclass",)),
    (_get_type_hints, "annotations are source, evaluated when asked for", ("typing.get_type_hints",)),
    (_get_annotations, "annotations are source, evaluated when asked for", ("inspect.get_annotations",)),
    (source_text, "the text of a module is what is being read", ("inspect.getsource",)),
    (
        nothing,
        "the values of weights decide no cost, and it would change torch.nn.Module",
        ("transformers.modeling_utils.PreTrainedModel.initialize_weights",),
    ),
    (named_tuple, "the same, its class marked as made by interpretation", ("collections.namedtuple",)),
    (
        identity_decorator,
        "it registers signatures for TorchScript",
        ("torch._jit_internal._overload", "torch._jit_internal._overload_method"),
    ),
    (False, "as at run time", ("typing.TYPE_CHECKING",)),
    (NoOp("record_function"), "a label for profilers", ("torch.autograd.profiler.record_function",)),
)
STAND_INS = {name: StandIn(value, reason) for value, reason, names in _TABLE for name in names}

PLAIN_MODULES["sys"].value.modules = Plain(get=module_named)


def stand_in(full_name: str) -> Any | None:
    """The value that stands in for a name, None when its source is interpreted."""
    found = STAND_INS.get(full_name)
    return None if found is None else found.value


def reasons() -> dict[str, str]:
    """Every name that has a stand-in, and why."""
    return {name: item.reason for name, item in (PLAIN_MODULES | STAND_INS).items()}
