"""What a person says of a class in: how to build and call it, and how to derive its formulas; values out."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

from pydantic import JsonValue

from forwardbook.errors import ForwardbookError
from forwardbook.pipeline.analysis.subject import Subject
from forwardbook.pipeline.child.request import Derive, Request
from forwardbook.schema import Given

SEED: Final = 20240229  # any number: the same class gives the same proof on every machine


@dataclass(frozen=True, slots=True)
class Options:
    """How to build and call the class, and how to derive its formulas."""

    config_file: Path | None = None
    init: dict[str, str] = field(default_factory=dict)
    inputs: dict[str, str] = field(default_factory=dict)
    derive: Derive = "both"
    points: int = 3
    seed: int = SEED
    explore: bool = True

    def given(self) -> Given | None:
        """What is kept of them in the entry, so that it can be proved again."""
        if not (self.config_file or self.init or self.inputs):
            return None
        return Given(config=_config(self.config_file), init=self.init, inputs=self.inputs)


def _config(path: Path | None) -> dict[str, JsonValue] | None:
    if path is None:
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ForwardbookError(
            f"reading --config {path}: {error.strerror or error}; give a JSON file of config fields"
        ) from error
    except ValueError as error:
        raise ForwardbookError(f"reading --config {path}: it is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise ForwardbookError(
            f"reading --config {path}: the whole is a {type(content).__name__}; an object of config fields "
            'was expected, such as {"hidden_size": 64}'
        )
    return cast("dict[str, JsonValue]", content)


def request_for(wanted: Subject, options: Options) -> Request:
    """What a child process must know of a class to analyse it so."""
    return Request(
        target=wanted.full_class_name,
        file=str(wanted.found.file),
        roots=wanted.roots,
        config_file=str(options.config_file.resolve()) if options.config_file else None,
        init=options.init,
        inputs=options.inputs,
        derive=options.derive,
        points=options.points,
        seed=options.seed,
        explore=options.explore,
    )
