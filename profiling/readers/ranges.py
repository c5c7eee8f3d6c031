"""The cell in which Nsight Compute lists the ranges around a launch in; names, outermost first, out."""

from __future__ import annotations

import re

# name, kind and value of the payload, kind and value of the colour, kind and text of the message
_FIELDS = re.compile(r"(?P<name>.+?):\w+:[^:]*:(?:none|A?RGB):(?:none|0x[0-9a-fA-F]+):\w+:.*")
_QUOTED = re.compile(r'"([^"]*)"')


def range_stack(cell: str) -> tuple[str, ...]:
    """The names in `129325  "<default domain>:run_test:none:none:RGB:0xff00ff00:ASCII:run_test"`.

    A domain that is not the default comes before the name: `forwardbook@decode`.
    """
    found: list[str] = []
    for text in _QUOTED.findall(cell.replace('""', '"')):
        domain, _, rest = text.partition(":")
        name = _name(rest)
        if name:
            found.append(name if domain in ("", "<default domain>") else f"{domain}@{name}")
    return tuple(found)


def _name(rest: str) -> str:
    """What precedes payload, colour and message; a name may hold colons itself."""
    found = _FIELDS.fullmatch(rest)
    return found["name"] if found else rest.partition(":")[0]
