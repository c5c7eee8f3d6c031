"""A decorator in, what it does to the function or class under it out, by a table of known ones."""

from __future__ import annotations

import ast
import re
from typing import Final

from forwardbook.analyzers.detail.facts import DecoratorDetail
from forwardbook.analyzers.detail.open_file import OpenFile
from forwardbook.analyzers.detail.scopes import Defined

_EFFECTS: Final = {
    "property": "read like an attribute, computed on each access",
    "functools.cached_property": "computed on first access, then kept on the object",
    "staticmethod": "called without an object or class",
    "classmethod": "receives the class in place of an object",
    "abc.abstractmethod": "must be overridden; a class that leaves it cannot be instantiated",
    "abc.abstractproperty": "must be overridden as a property",
    "functools.lru_cache": "results are kept by argument; the arguments must be hashable",
    "functools.cache": "results are kept by argument without limit; the arguments must be hashable",
    "functools.wraps": "takes over the name, docstring and signature of the wrapped function",
    "functools.total_ordering": "the missing comparison methods are filled in",
    "functools.singledispatch": "further versions are chosen by the type of the first argument",
    "functools.singledispatchmethod": "further versions are chosen by the type of the first argument",
    "contextlib.contextmanager": "used in `with`: runs to its `yield`, then on after the block",
    "contextlib.asynccontextmanager": "used in `async with`: runs to its `yield`, then on after the block",
    "dataclasses.dataclass": "`__init__`, `__repr__` and `__eq__` are made from the annotated fields",
    "attr.s": "special methods are made from the declared attributes",
    "attrs.define": "special methods are made from the declared attributes, with slots",
    "attrs.frozen": "special methods are made from the declared attributes; the object is immutable",
    "enum.unique": "two members of one value are refused",
    "typing.overload": "a signature for type checkers only; the implementation follows",
    "typing.final": "type checkers refuse to override or subclass it",
    "typing.override": "type checkers demand that a base defines it",
    "typing.runtime_checkable": "`isinstance` works with the protocol, by method names",
    "typing.no_type_check": "type checkers skip it",
    "typing_extensions.deprecated": "calling it warns that it is deprecated",
    "warnings.deprecated": "calling it warns that it is deprecated",
    "atexit.register": "called when the interpreter ends",
    "torch.no_grad": "runs without recording gradients",
    "torch.enable_grad": "runs with gradients recorded",
    "torch.inference_mode": "runs without gradients or version counters; its results cannot enter autograd",
    "torch.compile": "compiled on first call for the shapes it meets",
    "torch.jit.script": "compiled from its source to TorchScript",
    "torch.jit.ignore": "left as a Python call by TorchScript",
    "torch.jit.unused": "replaced by an exception in TorchScript",
    "torch.jit.export": "compiled by TorchScript though forward() does not call it",
    "torch.fx.wrap": "kept as one call by torch.fx, not traced into",
    "torch.autocast": "runs with operations cast to lower precision",
    "torch.cuda.amp.autocast": "runs with operations cast to lower precision",
    "torch.cuda.amp.custom_fwd": "the forward of a custom autograd function under autocast",
    "torch.cuda.amp.custom_bwd": "the backward of a custom autograd function under autocast",
    "torch.library.custom_op": "registered as an operator of torch",
    "torch.library.register_fake": "gives the shapes of an operator's results without computing them",
    "torch._dynamo.disable": "not compiled by torch.compile",
    "torch.compiler.disable": "not compiled by torch.compile",
    "torch.autograd.function.once_differentiable": "its backward cannot be differentiated again",
    "triton.jit": "compiled to a GPU kernel, launched as `name[grid](...)`",
    "triton.autotune": "times the configurations once per key and keeps the fastest",
    "triton.heuristics": "compile-time arguments are computed from the others",
    "numba.jit": "compiled to machine code on first call",
    "numba.njit": "compiled to machine code on first call, without the interpreter",
    "numba.cuda.jit": "compiled to a GPU kernel",
    "jax.jit": "compiled by XLA on first call for the shapes it meets",
    "pytest.fixture": "its value is given to tests that name it as a parameter",
    "pytest.mark.parametrize": "run once for each set of arguments",
    "pytest.mark.skipif": "skipped by pytest under the condition",
    "pytest.mark.skip": "skipped by pytest",
    "pytest.mark.xfail": "expected to fail",
    "unittest.skip": "skipped",
    "unittest.mock.patch": "a name is replaced while it runs",
    "hydra.main": "called with the composed configuration; the command line overrides its keys",
    "click.command": "becomes a command of the command line",
    "click.group": "becomes a command with subcommands",
    "click.option": "takes the value of a command-line option",
    "click.argument": "takes the value of a command-line argument",
    "click.pass_context": "receives the command's context first",
    "tenacity.retry": "called again when it fails",
    "ray.remote": "runs in another process, called by `.remote()`",
    "asyncio.coroutine": "an old-style coroutine",
    "pydantic.validator": "checks or changes a field when the model is built",
    "pydantic.field_validator": "checks or changes a field when the model is built",
    "pydantic.root_validator": "checks or changes all fields when the model is built",
    "pydantic.model_validator": "checks or changes all fields when the model is built",
    "pydantic.computed_field": "included when the model is written out",
    "mmengine.registry.register_module": "entered into a registry",
}
_BY_LAST: Final = (
    (re.compile(r"^setter$"), "called when the property is assigned"),
    (re.compile(r"^deleter$"), "called when the property is deleted"),
    (re.compile(r"^getter$"), "replaces the property's reading"),
    (re.compile(r"^(command|callback)$"), "becomes a command of the command line"),
    (re.compile(r"^(route|get|post|put|delete|patch|websocket)$"), "answers requests to the path"),
    (re.compile(r"^(register\w*|\w+_register)$"), "entered into the registry"),
    (re.compile(r"^deprecated\w*$"), "calling it warns that it is deprecated"),
    (re.compile(r"^(memoize\w*|cached?)$"), "results are kept by argument"),
)
_ALIASES: Final = {"abstractmethod": "abc.abstractmethod", "abc.abstractclassmethod": "abc.abstractmethod"}
_HOME: Final = re.compile(r"^(?:torch\.amp\.(?:autocast_mode\.)?)(\w+)$")


def decorators(file: OpenFile, node: Defined) -> tuple[DecoratorDetail, ...]:
    """The decorators of a definition in their order."""
    return tuple(DecoratorDetail(m.lineno, file.text(m), effect(file, m)) for m in node.decorator_list)


def effect(file: OpenFile, mark: ast.expr) -> str:
    """What a decorator does; empty where it is not known."""
    called = mark.func if isinstance(mark, ast.Call) else mark
    name = file.names.full(called)
    name = _HOME.sub(r"torch.cuda.amp.\1", _ALIASES.get(name, name))
    known = _EFFECTS.get(name, "")
    if not known:
        short = name.rpartition(".")[2]
        if "." in name and not name.startswith(("click.", "torch.", "functools.")):
            known = next((what for pattern, what in _BY_LAST if pattern.match(short)), "")
        return known
    return known + (_arguments(name, mark) if isinstance(mark, ast.Call) else "")


def _arguments(name: str, mark: ast.Call) -> str:
    """What the arguments of a decorator change."""
    given = {each.arg: each.value for each in mark.keywords}
    on = {key for key, value in given.items() if isinstance(value, ast.Constant) and value.value is True}
    if name == "dataclasses.dataclass":
        parts = {
            "frozen": "the object is immutable",
            "slots": "with `__slots__`",
            "kw_only": "all fields by keyword",
            "order": "with comparison methods",
        }
        said = [words for key, words in parts.items() if key in on]
        return "".join(f"; {each}" for each in said)
    if name == "functools.lru_cache":
        size = given.get("maxsize", mark.args[0] if mark.args else None)
        if isinstance(size, ast.Constant):
            return "; without limit" if size.value is None else f"; at most {size.value!r}"
    return ""
