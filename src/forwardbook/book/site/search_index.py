"""The index that MkDocs made of the pages it built in, the index of the whole site out.

Pages of modules and models are found by their titles alone: with every formula in it the index of a large
catalogue would be megabytes that each reader has to load. A build that made only what changed indexes only
that; the other pages then stay as they were in the index before.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from typing import TypedDict, cast


class Document(TypedDict):
    """A section of a page in the index."""

    location: str
    title: str
    text: str


class Index(TypedDict):
    """The file of the index."""

    config: dict[str, object]
    docs: list[Document]


def whole_index(made: str, before: str, titles: Iterable[Document], pages: Collection[str]) -> str:
    """The text of the index; `pages` are all pages of the site by their address, others are dropped."""
    index = cast(Index, json.loads(made))
    found = {each["location"]: each for each in index["docs"]}
    built = {location.partition("#")[0] for location in found}
    for each in _documents(before):
        page = each["location"].partition("#")[0]
        if page in pages and page not in built:
            found.setdefault(each["location"], each)
    listed = list(titles)
    short = {each["location"] for each in listed}
    kept = [each for location, each in found.items() if location.partition("#")[0] not in short]
    docs = sorted((*kept, *listed), key=lambda each: each["location"])
    return json.dumps({**index, "docs": docs}, separators=(",", ":"))


def _documents(text: str) -> list[Document]:
    try:
        return cast(Index, json.loads(text))["docs"] if text else []
    except (ValueError, KeyError, TypeError):
        return []
