"""A parameter in; out what its annotation lets it be, and how such a value is written on the command line."""

from __future__ import annotations

import dataclasses
import inspect
import re
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final, Literal

from forwardbook.analyzers.instances.input_values import Items, Plain, Shape, Size, Value

Kind = Literal["tensor", "int", "float", "bool", "str", "list", "tuple", "ints", "dict", "record", "module"]

_NAMED: Final[dict[str, Kind]] = {
    **{"Tensor": "tensor", "LongTensor": "tensor", "FloatTensor": "tensor", "BoolTensor": "tensor"},
    **{"int": "int", "float": "float", "bool": "bool", "str": "str", "Module": "module"},
    **{"list": "list", "List": "list", "Sequence": "list", "Iterable": "list"},
    **{"tuple": "tuple", "Tuple": "tuple", "dict": "dict", "Dict": "dict", "Mapping": "dict"},
}
_IMAGE: Final = re.compile(r"(.*_)?(im|img|image|pixel|pixel_values|picture)s?")
_IDS: Final = re.compile(r"(.*_)?(ids?|tokens?|indices|idx|labels?)")
_MAPS: Final = re.compile(r"(.*_)?(features?|maps?|feats?|feature_maps?|levels)")
CONFIGS: Final = re.compile(r".*config.*|(.*_)?(args|cfg|params|hparams|hyperparameters)")
"""Names of parameters that a config is given for."""


def kinds_of(annotation: object) -> frozenset[Kind]:
    """What values an annotation lets in, None apart; nothing where it does not tell."""
    if annotation in (inspect.Parameter.empty, None, type(None)):
        return frozenset()
    if isinstance(annotation, str):
        return _read(annotation)
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, types.UnionType):
        parts = [part for part in typing.get_args(annotation) if part is not type(None)]
        kinds = [kinds_of(part) for part in parts]
        return frozenset().union(*kinds) if all(kinds) else frozenset()
    if origin is Literal:
        return kinds_of(type(typing.get_args(annotation)[0]))
    if origin is typing.Annotated:
        return kinds_of(typing.get_args(annotation)[0])
    cls = origin or annotation
    if dataclasses.is_dataclass(cls):
        return frozenset({"record"})
    if int in typing.get_args(annotation) and cls is not dict:
        return frozenset({"ints"})
    names = [one.__name__ for one in cls.__mro__] if inspect.isclass(cls) else []
    known = {*names[:1], *(name for name in names if name == "Module")} & _NAMED.keys()
    return frozenset(_NAMED[name] for name in known)


def _read(annotation: str) -> frozenset[Kind]:
    """The same of an annotation that is text."""
    found: set[Kind] = set()
    for part in annotation.replace("Optional[", "").split("|"):
        name = re.split(r"[\[\]]", part.strip().strip("'\""))[0].rpartition(".")[2]
        if name in _NAMED:
            found.add(_NAMED[name])
        elif name != "None":
            return frozenset()
    return frozenset(found)


def annotations_of(function: Callable[..., object]) -> dict[str, object]:
    """The annotations of the parameters of a function, resolved where they can be."""
    try:
        return dict(typing.get_type_hints(function))
    except Exception:  # annotations may name anything
        return dict(getattr(function, "__annotations__", {}))


def needed(function: Callable[..., object]) -> dict[str, frozenset[Kind]]:
    """The kinds of each parameter without a default, `self` apart."""
    annotations = annotations_of(function)
    every = list(inspect.signature(function).parameters.values())[1:]
    fixed = (p for p in every if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD))
    return {p.name: kinds_of(annotations.get(p.name)) for p in fixed if p.default is p.empty}


def misfit(name: str, value: Value, kinds: Collection[Kind]) -> str:
    """Why a value is none that the annotation lets in; empty where it is one, or nothing is known."""
    if not kinds or (isinstance(value, Plain) and value.value is None):
        return ""
    is_a = kind_of(value)
    also: dict[Kind, set[Kind]] = {"int": {"float"}, "tuple": {"list", "ints"}, "list": {"ints"}}
    if ({is_a} | also.get(is_a, set())) & set(kinds):
        return ""
    if is_a == "int" and "bool" in kinds:
        return f"{name} is True or False"
    if "dict" in kinds or "record" in kinds:
        return (
            f"{name} is {' or '.join(sorted(kinds))}, which has no notation: write a module whose forward() "
            "takes the tensors and makes it of them, and analyse that"
        )
    return f"{name} is annotated {' or '.join(sorted(kinds))}, and what is given is {_A[is_a]}"


_A: Final[dict[Kind, str]] = {
    **{"tensor": "a tensor", "int": "a whole number (a tensor of one dimension is written with a comma: n,)"},
    **{"float": "a number", "bool": "True or False", "str": "a word", "list": "a list", "tuple": "a tuple"},
}


def kind_of(value: Value) -> Kind:
    """The kind of a value that was given."""
    match value:
        case Shape():
            return "tensor"
        case Size():
            return "int"
        case Items(is_tuple=is_tuple):
            return "tuple" if is_tuple else "list"
        case Plain(value=plain):
            name = type(plain).__name__
            return _NAMED.get(name, "tensor")


def input_flag(name: str, kinds: Collection[Kind], width: str = "hidden_size") -> str:
    """How a value for a parameter of forward() is given; `width` is the last dimension of a sequence."""
    shape = f"batch_size,seq_len,{width}"
    if _IMAGE.fullmatch(name.lower()):
        shape = "batch_size,3,height,width"
    elif _IDS.fullmatch(name.lower()):
        shape = "batch_size,seq_len:int64"
    if "tensor" in kinds or not kinds:
        return f"--input {name}={shape}"
    if "ints" in kinds:
        return f"--input '{name}=[4; 4]'"
    if "list" in kinds or "tuple" in kinds:
        if _MAPS.fullmatch(name.lower()):
            shape = "batch_size,{}channels,height,width"
        one, two = shape.format(""), shape.format("more_")
        return f"--input '{name}=[{one}; {two}]'" if "list" in kinds else f"--input '{name}=({one}; {two})'"
    plain: dict[Kind, str] = {"int": "4", "float": "0.5", "bool": "True", "str": "word"}
    for kind, value in plain.items():
        if kind in kinds:
            return f"--input {name}={value}"
    return ""


def init_flag(name: str, kinds: Collection[Kind]) -> str:
    """How a value for a constructor argument is given; empty where there is no notation for it."""
    if "record" in kinds or CONFIGS.fullmatch(name.lower()):
        return "--config file.json"
    values: dict[Kind, str] = {
        **{"int": "64", "float": "0.5", "bool": "True", "str": "word"},
        **{"list": "[64,64]", "ints": "[64,64]", "tuple": "'(64,64)'"},
    }
    if not kinds:
        return f"--init {name}=64"
    return next((f"--init {name}={value}" for kind, value in values.items() if kind in kinds), "")


def advice(
    arguments: Mapping[str, Collection[Kind]], inputs: Mapping[str, Collection[Kind]], width: str = ""
) -> list[str]:
    """How to give every argument and input that is missing, line by line."""
    flags = dict.fromkeys(filter(None, (init_flag(*one) for one in arguments.items())))
    flags |= dict.fromkeys(filter(None, (input_flag(*one, width or "hidden_size") for one in inputs.items())))
    lines = [f"  give them with {' '.join(flags)}"] if flags else []
    for name, kinds in arguments.items():
        if not init_flag(name, kinds):
            lines.append(
                f"  no value of the command line is {_or(kinds)}, as {name} is: write a class that makes it "
                "and calls this one, and analyse that"
            )
    for name, kinds in inputs.items():
        if not input_flag(name, kinds):
            lines.append("  " + misfit(name, Shape(()), kinds))
    if inputs:
        lines += [
            "  of a tensor, words are free sizes, integers constants, a dtype may follow (ids=n,m:int64);",
            "  a size of the constructor is called by its argument's name. Without a comma it is a number:",
            "  start=4 is the number 4, start=start_pos a whole number of that name, start=4, a tensor;",
            "  'maps=[batch_size,16,height,width; batch_size,32,h2,w2]' is a list of two tensors",
        ]
    return lines


def _or(kinds: Iterable[Kind]) -> str:
    return "a " + " or ".join(sorted(kinds))
