"""`forwardbook schema`: the name of a kind of file in, its JSON schema out."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from forwardbook.cli.printing import put


def schema(
    kind: Annotated[
        Literal["database", "architecture", "populated", "costs"],
        typer.Argument(help="The module database, or one of the files of a model."),
    ] = "database",
) -> None:
    """Print the JSON schema of the module database, or of a model's files in `models`."""
    import json

    from forwardbook.workspace.stored_form import json_schema

    if kind == "database":
        content = json_schema()
    else:
        from forwardbook.models.architecture import Architecture
        from forwardbook.models.populated import Populated
        from forwardbook.models.record import ModelCosts
        from forwardbook.schema import Record

        kinds: dict[str, type[Record]] = {
            "architecture": Architecture,
            "populated": Populated,
            "costs": ModelCosts,
        }
        described = kinds[kind].model_json_schema(by_alias=True)
        content = {"$schema": "https://json-schema.org/draft/2020-12/schema", **described}
    put(json.dumps(content, indent=1, sort_keys=True))
