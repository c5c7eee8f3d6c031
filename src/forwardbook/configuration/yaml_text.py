"""YAML in; plain values out: numbers as JSON writes them, dates as text, a key told twice refused."""

from __future__ import annotations

import re
from typing import Any

import yaml  # type: ignore[import-untyped]

FLOAT = re.compile(
    r"[-+]?(\d[\d_]*\.[\d_]*([eE][-+]?\d+)?|\d[\d_]*[eE][-+]?\d+|\.[\d_]+([eE][-+]?\d+)?|\.(inf|nan))$", re.I
)
DATES = "tag:yaml.org,2002:timestamp"
BOOLEANS = "tag:yaml.org,2002:bool"


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """YAML without the surprises of 1.1: `1e3` is a number, `2026-01-01`, `off` and `no` are texts."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """A mapping; SafeLoader would let the last of two equal keys win."""
        seen: set[object] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, str) and key in seen:
                raise yaml.YAMLError(
                    f"the key {key} stands twice, again in line {key_node.start_mark.line + 1}"
                )
            seen.add(key if isinstance(key, str) else id(key_node))
        found: dict[Any, Any] = super().construct_mapping(node, deep)
        return found


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in (DATES, BOOLEANS)]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(BOOLEANS, re.compile(r"(true|false|True|False|TRUE|FALSE)$"), list("tTfF"))
_Loader.add_implicit_resolver("tag:yaml.org,2002:float", FLOAT, list("-+0123456789."))


def read_yaml(text: str) -> Any:
    """The value of a document; None of an empty one.

    Raises:
        yaml.YAMLError: for what is no YAML.
    """
    return yaml.load(text, Loader=_Loader)
