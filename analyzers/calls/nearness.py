"""Two paths of a repository in; out how near they are, for of several candidates the nearest is meant."""

from __future__ import annotations


def shared_folders(left: str, right: str) -> int:
    """How many leading folders two paths share."""
    count = 0
    for one, other in zip(left.split("/")[:-1], right.split("/")[:-1], strict=False):
        if one != other:
            break
        count += 1
    return count
