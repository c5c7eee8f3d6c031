"""The text of a YAML file in, its dotted keys with types, values and lines out; no tag is constructed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import yaml  # type: ignore[import-untyped]

from forwardbook.analyzers.index.config import Keys, Unreadable
from forwardbook.analyzers.index.facts import Attribute

_KINDS: Final = {"str": "string", "int": "integer", "float": "float", "bool": "boolean", "null": "null"}
_DEEPEST: Final = 1_000
"""Levels that are followed: the parser takes time with the square of them, half a minute for 100,000."""
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def yaml_keys(text: str) -> Iterator[Attribute]:
    """The keys of a YAML file, in its order; up to the first error where it has one."""
    keys = Keys()
    try:
        _read(text, keys)
    except yaml.YAMLError as error:
        yield from keys.found
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or str(error)
        raise Unreadable(mark.line + 1 if mark else 0, f"no valid YAML: {what}") from None
    except Unreadable:
        yield from keys.found
        raise
    yield from keys.found


def _read(text: str, keys: Keys) -> None:
    """Follow the events of the parser, which (unlike its trees) need no recursion."""
    resolver = yaml.resolver.Resolver()
    turns: list[str] = []  # what each open mapping (`key`, `value`) or list (`item`) has next
    skipped = 0  # depth within a key that is itself a mapping or a list
    for event in yaml.parse(text, Loader=_LOADER):
        line = event.start_mark.line + 1
        turn = turns[-1] if turns else ""
        if isinstance(event, yaml.CollectionStartEvent):
            if len(turns) + skipped >= _DEEPEST:
                raise Unreadable(line, f"lists and mappings are nested more than {_DEEPEST:,} levels deep")
            if skipped or turn == "key":
                skipped += 1
                continue
            _go_on(turns)
            mapping = isinstance(event, yaml.MappingStartEvent)
            keys.opened("mapping" if mapping else "list")
            turns.append("key" if mapping else "item")
        elif isinstance(event, yaml.CollectionEndEvent):
            if not skipped:
                turns.pop()
                keys.closed()
            elif (skipped := skipped - 1) == 0:
                keys.key("?", line)
                turns[-1] = "value"
        elif isinstance(event, yaml.NodeEvent) and not skipped:
            if turn == "key":
                keys.key(getattr(event, "value", f"*{event.anchor}"), line)
                turns[-1] = "value"
            else:
                _go_on(turns)
                keys.scalar(*_scalar(event, resolver))


def _go_on(turns: list[str]) -> None:
    """After a mapping's value comes a key."""
    if turns and turns[-1] == "value":
        turns[-1] = "key"


def _scalar(event: yaml.Event, resolver: yaml.resolver.Resolver) -> tuple[str, str]:
    if isinstance(event, yaml.AliasEvent):
        return "alias", f"*{event.anchor}"
    if event.tag:
        return str(event.tag).rpartition(":")[2], event.value
    tag = resolver.resolve(yaml.ScalarNode, event.value, event.implicit).rpartition(":")[2]
    kind = _KINDS.get(tag, tag)
    return kind, f'"{event.value}"' if kind == "string" else event.value
