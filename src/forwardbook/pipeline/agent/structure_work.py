"""What a child process does with a proposed structure: class and configuration in, the built tree out."""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING, cast

from pydantic import JsonValue

from forwardbook.pipeline.child.request import Request, Response
from forwardbook.profiling.raised import raised

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel


def fields(request: Request) -> Response:
    """The fields of the class's configuration and their defaults."""
    made = _kind(request.target).config_class()  # type: ignore[misc]
    values = json.loads(made.to_json_string(use_diff=False))
    return Response(diagnostics={"fields": values})


def build(request: Request) -> Response:
    """The architecture of the class with the values of `claim`, built on meta, or why it cannot be."""
    from forwardbook.pipeline.model.architecture import architecture_of

    values = dict(request.claim or {})
    kind = _kind(request.target)
    config_class = cast("type[PreTrainedConfig]", kind.config_class)
    try:
        known = config_class()
        if unknown := sorted(name for name in values if not hasattr(known, name)):
            return _refused(f"the configuration of {request.target} has no field {', '.join(unknown)}")
        config = config_class.from_dict(values)
        made = architecture_of("proposed", kind, config)
        count = _count(kind, config)
    except Exception as error:  # noqa: BLE001 - whatever a constructor says of values that do not fit
        return _refused(f"building {request.target}: {raised(error, [_file(kind)])}")
    architecture: JsonValue = made.model_dump(mode="json", by_alias=True)
    return Response(diagnostics={"architecture": architecture, "counts": [*count]})


def _count(kind: type[PreTrainedModel], config: PreTrainedConfig) -> list[int]:
    """Elements of the parameters, and of parameters and kept buffers."""
    import torch

    from forwardbook.analyzers.instances.pretrained.models import instantiate

    with torch.device("meta"):
        model = instantiate(kind, config)
    parameters = sum(one.numel() for one in model.parameters())
    held = {id(one) for one in model.parameters()}
    buffers = sum(one.numel() for one in model.state_dict(keep_vars=True).values() if id(one) not in held)
    return [parameters, parameters + buffers]


def _kind(name: str) -> type[PreTrainedModel]:
    import transformers

    from forwardbook.analyzers.instances.pretrained.strict import accept_symbolic_sizes

    accept_symbolic_sizes()
    return cast("type[PreTrainedModel]", getattr(transformers, name))


def _refused(problem: str) -> Response:
    return Response(problem=problem, told=problem, problem_kind="constructor")


def _file(kind: type) -> str:
    return inspect.getsourcefile(kind) or ""
