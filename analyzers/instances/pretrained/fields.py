"""What fields of a config are: sizes, lists of sizes, or neither."""

from __future__ import annotations

import re

# Integers that are no sizes: ids of tokens and of labels, indices, seeds, versions, settings of generation.
SKIPPED = re.compile(
    r"(_ids?$|_index$|_idx$|token_id|_token$|seed|version|chunk_size_feed|problem|num_beams"
    r"|max_length|min_length|top_k$|no_repeat|return_|^dtype)"
)
# Lists of integers that are sizes, one per stage or dimension.
LISTED = re.compile(
    r"(hidden|dim|embed|channel|depth|size|width|kernel|heads|stride|ratio|num\w*_(layers|blocks)$)"
)
LONGEST = 8
"""Entries of a list of sizes: longer ones list layers or something else that is no dimension."""


def is_size(value: object) -> bool:
    """An integer from 2 on: 0 and 1 switch something off or broadcast, which is a regime and no size."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 2


def is_size_list(name: str, value: object) -> bool:
    """A short list of integers under a name of sizes."""
    return (
        isinstance(value, list | tuple)
        and 0 < len(value) <= LONGEST
        and LISTED.search(name) is not None
        and all(isinstance(x, int) and not isinstance(x, bool) for x in value)
    )


def hint_of(size: int) -> int:
    """The number behind a size that may be symbolic."""
    node = getattr(size, "node", None)
    return int(node.hint) if node is not None else size
