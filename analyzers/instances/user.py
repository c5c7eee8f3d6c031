"""A class nobody knows, and what its user gave for it, in; its recipe out."""

from __future__ import annotations

import ast
import copy
import dataclasses
import inspect
import json
from collections.abc import Callable, Collection, Mapping
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from pydantic import JsonValue

from forwardbook.analyzers.instances.adapters.shapes_tried import WIDTHS
from forwardbook.analyzers.instances.choices import GIVEN, settled
from forwardbook.analyzers.instances.input_values import Plain, Size, Value, fixed_by
from forwardbook.analyzers.instances.parameter_kinds import (
    CONFIGS,
    Kind,
    advice,
    annotations_of,
    input_flag,
    kinds_of,
    misfit,
    needed,
)
from forwardbook.analyzers.instances.pretrained.library import (
    INSTALLED,
    Library,
    is_config,
    is_config_class,
)
from forwardbook.analyzers.instances.recipe import (
    InputMaker,
    Inputs,
    InstanceOptions,
    NoRecipe,
    Recipe,
    Sizes,
    full_name,
)
from forwardbook.analyzers.instances.shapes import hints_for, make_values, values_of

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedConfig


def user_recipes(
    full_class_name: str, options: InstanceOptions, library: Library = INSTALLED
) -> list[Recipe]:
    """The recipe of a class from its constructor's signature, defaults and the given options.

    Raises:
        NoRecipe: names every argument and input that is missing or does not fit, and how to give it.
    """
    cls = library.target(full_class_name, options.root)
    needs = _Needs(full_class_name, _initialiser(cls), cls.forward, options)
    given = {name: _literal(text) for name, text in options.init.items()}
    plan = _constructor(cls, given, options, needs, library)
    kinds = {name: kinds_of(said) for name, said in annotations_of(cls.forward).items()}
    words = frozenset(name for name, kind in kinds.items() if kind == {"str"})
    values = values_of(full_class_name, options.inputs, words)
    _check_inputs(cls, values, kinds, needs)
    known = _hints(plan)
    hints = hints_for(values, known)
    return [
        Recipe(
            target=full_name(cls),
            library=cls.__module__.split(".")[0],
            build=partial(_build, cls, plan),
            inputs=partial(_inputs, values, hints),
            choices=_choices(cls, plan, values),
            fixed=fixed_by(values, options.inputs, known),
            hints=hints,
        )
    ]


@dataclasses.dataclass(frozen=True)
class _Needs:
    """What a class asks for, to be named in errors."""

    target: str
    initialiser: Callable[..., object]
    forward: Callable[..., object]
    options: InstanceOptions

    def error(self, found: str, made: Collection[str] = ()) -> NoRecipe:
        """`made` are constructor arguments that have a value beside those given."""
        known = {*self.options.init, *made}
        arguments = {name: kinds for name, kinds in needed(self.initialiser).items() if name not in known}
        inputs = {n: kinds for n, kinds in needed(self.forward).items() if n not in self.options.inputs}
        lists = {name for name, text in self.options.init.items() if text.lstrip()[:1] in ("[", "(")}
        names = [p.name for p in _parameters(self.initialiser) if p.name not in lists]
        numbers = (n for n, kinds in needed(self.initialiser).items() if kinds <= {"int"} and n in names)
        whole = (name for name in numbers if not CONFIGS.fullmatch(name))
        width = next((name for name in names if WIDTHS.fullmatch(name)), next(whole, ""))
        described = (_described(self.initialiser), _described(self.forward))
        return NoRecipe(self.target, found, *described, advice(arguments, inputs, width))


def _constructor(
    cls: type[nn.Module],
    given: Mapping[str, object],
    options: InstanceOptions,
    needs: _Needs,
    library: Library,
) -> dict[str, object]:
    """A value for every constructor argument that gets one; integers become sizes when it is built."""
    parameters = [
        p for p in _parameters(_initialiser(cls)) if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    names = {p.name for p in parameters}
    open_ended = any(p.kind is p.VAR_KEYWORD for p in _parameters(_initialiser(cls)))
    if unknown := [name for name in given if name not in names and not open_ended]:
        raise needs.error(f"its constructor has no argument {', '.join(unknown)}")
    annotations = annotations_of(_initialiser(cls))
    plan: dict[str, object] = dict(given)
    for parameter in parameters:
        if parameter.name in plan:
            continue
        if config := _config(cls, parameter, annotations.get(parameter.name), options, library):
            plan[parameter.name] = config
        elif _is_size(parameter.default):
            plan[parameter.name] = parameter.default
    missing = [p.name for p in parameters if p.default is p.empty and p.name not in plan]
    if missing:
        raise needs.error(f"no value for {', '.join(missing)}", plan)
    return plan


def _config(
    cls: type[nn.Module],
    parameter: inspect.Parameter,
    annotation: object,
    options: InstanceOptions,
    library: Library,
) -> object:
    """A config object for a constructor that takes one: from its annotation's class and the user's file."""
    record = inspect.isclass(annotation) and dataclasses.is_dataclass(annotation)
    if not (record or CONFIGS.fullmatch(parameter.name.lower())):
        return None
    if cls.__module__.startswith("transformers.models.") and annotation is None:
        from forwardbook.analyzers.instances.pretrained.models import holders_of

        annotation = next((holder.config_class for holder in holders_of(cls, library)), None)
    if inspect.isclass(annotation) and is_config_class(annotation):
        from forwardbook.analyzers.instances.pretrained.configs import make_config

        return make_config(cast("type[PreTrainedConfig]", annotation), dataclasses.replace(options, init={}))
    if parameter.default is not parameter.empty or not options.config_file:
        return None
    from forwardbook.analyzers.instances.pretrained.configs import read_config

    values = read_config(options.config_file)
    if inspect.isclass(annotation) and annotation is not dict:
        return annotation(**values)
    return values if annotation is dict else SimpleNamespace(**values)


def _choices(
    cls: type[nn.Module], plan: Mapping[str, object], values: Mapping[str, Value]
) -> dict[str, JsonValue]:
    """The arguments that are no sizes, with their values; a tensor where there is a default is given."""
    sized = [name for name, value in plan.items() if _hints({name: value})]
    given = {n: value.value if isinstance(value, Plain) else GIVEN for n, value in values.items()}
    others = [*needed(cls.forward), *(n for n, value in values.items() if isinstance(value, Size))]
    return {**settled(cls, "forward", given, others), **settled(cls, "__init__", plan, sized)}


def _build(cls: type[nn.Module], plan: Mapping[str, object], sizes: Sizes) -> nn.Module:
    return cls(**{name: _with_sizes(name, value, sizes, cls.__name__) for name, value in plan.items()}).eval()


def _with_sizes(name: str, value: object, sizes: Sizes, owner: str) -> object:
    """The value with its integers asked for as sizes: `heads`, `kernel_size_0`, a config's fields."""
    if _is_size(value):
        return sizes(name, cast(int, value), "", f"{owner}.__init__")
    if isinstance(value, tuple | list) and all(_is_size(x) for x in value):
        return type(value)(sizes(f"{name}_{i}", x, "", f"{owner}.__init__") for i, x in enumerate(value))
    if is_config(value):
        from forwardbook.analyzers.instances.pretrained.configs import ask_sizes, copied

        config = copied(cast("PreTrainedConfig", value))
        ask_sizes(config, sizes)
        return config
    if isinstance(value, dict):
        return {key: _with_sizes(key, item, sizes, name) for key, item in value.items()}
    if isinstance(value, SimpleNamespace) or (
        dataclasses.is_dataclass(value) and not isinstance(value, type)
    ):
        fields = {key: _with_sizes(key, item, sizes, name) for key, item in vars(value).items()}
        fresh = copy.copy(value)
        fresh.__dict__.update(fields)
        return fresh
    return value


def _hints(plan: Mapping[str, object]) -> dict[str, int]:
    """The hint of every size that building asks for."""
    hints: dict[str, int] = {}

    def note(name: str, hint: int, meaning: str = "", source: str = "") -> int:
        hints.setdefault(name, hint)
        return hint

    for name, value in plan.items():
        _with_sizes(name, value, note, "")
    return hints


def _inputs(
    values: Mapping[str, Value], hints: Mapping[str, int], sizes: Sizes, module: nn.Module, maker: InputMaker
) -> Inputs:
    return (), make_values(values, hints, sizes, maker)


def _check_inputs(
    cls: type[nn.Module],
    values: Mapping[str, Value],
    kinds: Mapping[str, Collection[Kind]],
    needs: _Needs,
) -> None:
    parameters = _parameters(cls.forward)
    named = {p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
    made = needed(needs.initialiser)
    if unknown := [name for name in values if name not in named] if len(named) == len(parameters) else []:
        raise needs.error(f"its forward() has no input {', '.join(unknown)}", made)
    fixed = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if missing := [p.name for p in fixed if p.default is p.empty and p.name not in values]:
        raise needs.error(f"no value for the input {', '.join(missing)} of forward()", made)
    for name, value in values.items():
        if problem := misfit(name, value, kinds.get(name, ())):
            flag = input_flag(name, kinds.get(name, ()))
            said = f"--input {name}={needs.options.inputs[name]}: {problem}"
            raise NoRecipe(
                needs.target, said, (), _described(cls.forward), [f"  give it as {flag}"] if flag else []
            )


def _parameters(function: Callable[..., object]) -> list[inspect.Parameter]:
    return list(inspect.signature(function).parameters.values())[1:]  # without self


def _initialiser(cls: type) -> Callable[..., object]:
    return cast("Callable[..., object]", cls.__dict__.get("__init__") or cls.__init__)  # type: ignore[misc]


def _described(function: Callable[..., object]) -> list[str]:
    """The arguments without default as `name: type`, as a person would write them."""
    return [
        str(p)
        for p in _parameters(function)
        if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]


def _is_size(value: object) -> bool:
    """An integer from 2 on: 0 and 1 switch something off or broadcast, which is a regime and no size."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 2


def _literal(text: str) -> object:
    """A Python literal, JSON, or the text itself."""
    for read in (ast.literal_eval, json.loads):
        try:
            return read(text)
        except (ValueError, SyntaxError):
            continue
    return text
