"""`forwardbook schema`: nothing in, the JSON schema of module_db.json out."""

from __future__ import annotations


def schema() -> None:
    """Print the JSON schema of module_db.json."""
    import json

    from forwardbook.schema import json_schema

    print(json.dumps(json_schema(), indent=1, sort_keys=True))
