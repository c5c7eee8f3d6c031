"""What changed in the rules from version to version: an entry that uses nothing of it says what it said.

The version of the rules is a hash of their files: every edit makes it another. Whoever edits a rule adds the
version of before, and to each version that is listed the operations whose cost is another now. This file is
not part of the version.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

CHANGED: Final[Mapping[str, frozenset[str]]] = {
    # results of these lie in memory otherwise, or are fewer; of complex numbers no entry has a product
    "025851ec5b983408": frozenset(
        {
            "aten._embedding_bag",
            "aten.col2im",
            "aten.im2col",
            "aten.native_batch_norm",
            "forwardbook.recurrent",
        }
    ),
    "39173a9fa2d13e45": frozenset(),
    "6cb8bdc0556f6aca": frozenset(),
}
"""For each earlier version the operations, as `aten.mm`, that cost another amount since then."""


def are_current(version: str, now: str, operations: Collection[str] | None) -> bool:
    """Whether rules of a version give these operations the cost that they have now.

    Without operations nothing is known of them: then no operation may have changed. Of a version that is not
    listed nothing is known either.
    """
    if version == now:
        return True
    changed = CHANGED.get(version)
    if changed is None:
        return False
    return not changed if operations is None else changed.isdisjoint(operations)
