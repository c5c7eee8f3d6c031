"""A live class, or its name, in; its entry out: the analysis as a Python program asks for it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from forwardbook.errors import ForwardbookError
from forwardbook.pipeline.analysis.one import Options
from forwardbook.pipeline.analysis.one import analyze as analyze_name
from forwardbook.pipeline.child.job import Limits
from forwardbook.pipeline.child.request import Derive
from forwardbook.schema import Entry
from forwardbook.workspace import Workspace

if TYPE_CHECKING:
    from torch import nn


def analyze(
    cls: type[nn.Module] | str,
    *,
    derive: Derive = "both",
    force: bool = False,
    config: Path | str | None = None,
    init: Mapping[str, object] | None = None,
    inputs: Mapping[str, str] | None = None,
    workspace: Path | str | None = None,
    timeout: float | None = None,
    memory: float | None = None,
) -> Entry:
    """The entry of a class: from the database, else derived and proved in a process of its own, and stored.

    `init` gives constructor arguments, `inputs` what `--input` takes: shapes, as in
    `{"x": "batch_size,seq_len,hidden_size"}`, numbers (`{"start": "4"}`) and lists.
    """
    options = Options(
        config_file=Path(config) if config is not None else None,
        init={name: value if isinstance(value, str) else repr(value) for name, value in (init or {}).items()},
        inputs=dict(inputs or {}),
        derive=derive,
    )
    return analyze_name(
        cls if isinstance(cls, str) else _typed(cls),
        options,
        workspace=Workspace(Path(workspace)) if workspace is not None else None,
        limits=Limits.given(memory, timeout),
        force=force,
    ).entry


def _typed(cls: type) -> str:
    """`file.py:Class`, for a live class; one that was typed at a prompt has no file to read."""
    if not isinstance(cls, type):
        raise ForwardbookError(
            f"analysing a {type(cls).__name__}: a class or its name was expected, found an instance; "
            "for what one call of a live module costs: forwardbook.cost(module, *inputs)"
        )
    try:
        file = inspect.getfile(cls)
    except (TypeError, OSError):
        file = ""
    if not file.endswith(".py") or "<locals>" in cls.__qualname__:
        raise ForwardbookError(
            f"analysing {cls.__module__}.{cls.__qualname__}: it is not written at the top level of a file; "
            "put it into one"
        )
    return f"{file}:{cls.__qualname__}"
