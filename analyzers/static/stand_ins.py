"""Names of installed packages that are not interpreted, each with the value that stands in and the reason."""

from __future__ import annotations

import collections
import importlib.machinery
import os
import sys
import sysconfig
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

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
        Plain(environ=MappingProxyType({}), getenv=getenv, PathLike=os.PathLike, path=Plain(join=join), sep="/", name=os.name),
        "the environment is no part of the source; files are out of reach",
    ),
    "os.path": StandIn(Plain(join=join), "files are out of reach"),
    "sys": StandIn(
        Plain(version_info=sys.version_info, version=sys.version, maxsize=sys.maxsize,
              platform=sys.platform, byteorder=sys.byteorder),
        "facts about the running Python, without its objects",
    ),
    "platform": StandIn(Plain(system=lambda: sysconfig.get_platform(), python_version=lambda: sys.version.split()[0]),
                        "facts about the machine"),
    "importlib": StandIn(_IMPORTLIB, "asks which packages are installed, imports none"),
    "importlib.util": StandIn(_IMPORTLIB.util, "asks which packages are installed, imports none"),
    "importlib.metadata": StandIn(_IMPORTLIB.metadata, "reads version numbers of packages"),
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


_LOG = "what is logged costs nothing that is counted"
_DOC = "it writes a docstring and gives the decorated object back"
_KERNEL = "without the kernels package it gives the decorated object back"
STAND_INS: dict[str, StandIn] = {
    "transformers.utils.logging": StandIn(NoOp("transformers.utils.logging"), _LOG),
    "transformers.utils.auto_docstring.auto_docstring": StandIn(identity_decorator, _DOC),
    "transformers.utils.auto_docstring.auto_class_docstring": StandIn(identity_decorator, _DOC),
    "transformers.utils.auto_docstring": StandIn(identity_decorator, _DOC),
    "transformers.utils.doc.add_start_docstrings": StandIn(identity_decorator, _DOC),
    "transformers.utils.doc.add_code_sample_docstrings": StandIn(identity_decorator, _DOC),
    "transformers.utils.doc.copy_func": StandIn(_identity, "the copy differs from the function in its docstring"),
    "transformers.utils.import_utils.requires": StandIn(identity_decorator, "it checks that packages are there"),
    "transformers.utils.import_utils.requires_backends": StandIn(nothing, "it checks that packages are there"),
    "transformers.utils.import_utils.is_tracing": StandIn(false, "eager execution is what is derived"),
    "transformers.utils.import_utils.is_torchdynamo_compiling": StandIn(false, "eager execution is what is derived"),
    "transformers.utils.import_utils.is_torchdynamo_exporting": StandIn(false, "eager execution is what is derived"),
    "transformers.utils.import_utils.is_jit_tracing": StandIn(false, "eager execution is what is derived"),
    "transformers.utils.deprecation.deprecate_kwarg": StandIn(
        lambda *args, **kwargs: _identity, "it renames arguments that callers of today's names do not pass"),
    "transformers.modeling_utils.is_deepspeed_zero3_enabled": StandIn(false, "no such engine runs here"),
    "transformers.integrations.deepspeed.is_deepspeed_zero3_enabled": StandIn(false, "no such engine runs here"),
    "transformers.integrations.fsdp.is_fsdp_managed_module": StandIn(false, "no such engine runs here"),
    "transformers.integrations.fsdp.is_fsdp_enabled": StandIn(false, "no such engine runs here"),
    "huggingface_hub.dataclasses.strict": StandIn(
        identity_decorator, "it checks types of fields and changes none; the values given are taken as valid"),
    "typing_extensions.dataclass_transform": StandIn(lambda **kwargs: _identity, "a note to type checkers"),
    "torch.utils._pytree.register_pytree_node": StandIn(nothing, "it would change a registry of the process"),
    "torch.utils._pytree._register_pytree_node": StandIn(nothing, "it would change a registry of the process"),
    "torch._C._log_api_usage_once": StandIn(nothing, _LOG),
    "dataclasses.dataclass": StandIn(_dataclass, "the same, after a check that field names are identifiers"),
    "torch.compiler.allow_in_graph": StandIn(identity_decorator, "eager execution is what is derived"),
    "typing.get_type_hints": StandIn(_get_type_hints, "annotations are source, evaluated when they are asked for"),
    "inspect.getsource": StandIn(source_text, "the text of a module is what is being read"),
    "transformers.modeling_utils.PreTrainedModel.initialize_weights": StandIn(
        nothing, "the values of weights decide no cost, and it would change torch.nn.Module"),
    "collections.namedtuple": StandIn(named_tuple, "the same, its class marked as made by interpretation"),
    "torch._jit_internal._overload": StandIn(identity_decorator, "it registers signatures for TorchScript"),
    "torch._jit_internal._overload_method": StandIn(identity_decorator, "it registers signatures for TorchScript"),
    "inspect.get_annotations": StandIn(_get_annotations, "annotations are source, evaluated when they are asked for"),
    "torch.jit.script_if_tracing": StandIn(identity_decorator, "eager execution is what is derived"),
    "typing.TYPE_CHECKING": StandIn(False, "as at run time"),
}  # fmt: skip

PLAIN_MODULES["sys"].value.modules = Plain(get=module_named)


def stand_in(full_name: str) -> Any | None:
    """The value that stands in for a name, None when its source is interpreted."""
    found = STAND_INS.get(full_name)
    return None if found is None else found.value


def reasons() -> dict[str, str]:
    """Every name that has a stand-in, and why."""
    return {name: item.reason for name, item in (PLAIN_MODULES | STAND_INS).items()}
