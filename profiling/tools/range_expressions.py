"""Expressions that choose NVTX ranges, and the ranges of a run, in; whether a tool would match any, out.

Both tools exit with 0 and write nothing when an expression matches nothing, so this is decided before. The
rules are those that nsys 2022.4 and 2023.4 and ncu 2024.1 were seen to follow.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from forwardbook.errors import ForwardbookError


class MatchesNothing(ForwardbookError):
    """An expression that no range of the run fits."""


@dataclass(frozen=True)
class Range:
    """A push/pop range; the default domain has no name."""

    name: str
    domain: str = ""


Stack = Sequence[Range]
"""Ranges open at one moment, the outermost first."""


def nsys_matches(expression: str, one: Range) -> bool:
    """Whether nsys begins to capture at this range: `name` is the default domain's, `name@*` any domain's."""
    name, at, domain = expression.partition("@")
    return name == one.name and (domain == "*" or (domain == one.domain if at else not one.domain))


def ncu_matches(expression: str, stack: Stack) -> bool:
    """Whether ncu profiles a kernel launched within these ranges.

    `R/` is anywhere on the stack, `[R` at its bottom, `R]` on top, `A/B` directly within, `A/*/B` anywhere
    within. A name without any of these signs means start/end ranges, of which there are none here. Names are
    literal; after `regex:` they are searched for, anchored only by their own `^` and `$`.
    """
    pattern = expression.removeprefix("regex:")
    regex = pattern != expression
    domain, at, rest = _domain(pattern)
    if not any(sign in rest for sign in "/[]"):
        return False
    stack = [one for one in stack if one.domain == (domain if at else "")]
    bottom, top = rest.startswith("["), rest.endswith("]")
    parts = [part for part in rest.strip("[]").split("/") if part]
    if bottom and top and len(parts) == 1:
        return len(stack) == 1 and _is(parts[0], stack[0], regex)
    starts = range(1) if bottom else range(len(stack))
    return any(_from(parts, stack, start, top, regex) for start in starts)


def _domain(pattern: str) -> tuple[str, str, str]:
    domain, at, rest = pattern.partition("@")
    return (domain, at, rest) if at else ("", "", pattern)


def _from(parts: Sequence[str], stack: Stack, place: int, top: bool, regex: bool) -> bool:
    """Whether the parts fit the stack from this place on; `*` stands for any number of ranges."""
    if not parts:
        return not top or place == len(stack)
    if parts[0] == "*" and not regex:
        return any(_from(parts[1:], stack, later, top, regex) for later in range(place, len(stack) + 1))
    if place >= len(stack) or not _is(parts[0], stack[place], regex):
        return False
    return _from(parts[1:], stack, place + 1, top, regex)


def _is(part: str, one: Range, regex: bool) -> bool:
    return re.search(part, one.name) is not None if regex else part == one.name


def refuse_nothing(tool: str, expression: str, stacks: Sequence[Stack]) -> None:
    """Does nothing where the expression fits some moment of the run.

    Raises:
        MatchesNothing: otherwise; the message says what would fit.
    """
    if tool == "nsys":
        found = any(nsys_matches(expression, stack[-1]) for stack in stacks if stack)
    else:
        found = any(ncu_matches(expression, stack) for stack in stacks)
    if found:
        return
    names = sorted({written(tool, stack[-1]) for stack in stacks if stack})
    raise MatchesNothing(
        f"choosing ranges for {tool}: {expression!r} fits no range of this run, and {tool} would exit with 0 "
        f"and write no report\n  these would fit: {', '.join(names[:12])}"
    )


def written(tool: str, one: Range) -> str:
    """The expression that fits this range alone."""
    if tool == "nsys":
        return f"{one.name}@{one.domain}" if one.domain else one.name
    return f"{one.domain}@{one.name}/" if one.domain else f"{one.name}/"
