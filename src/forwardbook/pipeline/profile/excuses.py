"""Links in; those that are on one side alone for a known reason, with that reason, out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from forwardbook.pipeline.profile.compare import matcher
from forwardbook.pipeline.profile.links import Link

ROTARY = "rotary frequencies, which older versions of transformers multiply out"
ALLOWED = "allowed by --allow"


def with_excuses(
    links: Sequence[Link], sizes: Mapping[str, int], allowed: Sequence[str] = ()
) -> tuple[Link, ...]:
    """The links, with an excuse where one is known; nothing else may stand on one side alone.

    `allowed` names modules of the formulas (`lm_head`, `layers.*.mlp`) and operators of the trace.
    """
    last = _last_position(links, sizes.get("seq_len", 1))
    return tuple(
        replace(link, excuse=last.get(n) or _excuse(link, sizes, allowed)) for n, link in enumerate(links)
    )


def _excuse(link: Link, sizes: Mapping[str, int], allowed: Sequence[str]) -> str:
    if link.verdict == "not run" and all(_allows(allowed, name) for e in link.expected for name in e.names):
        return ALLOWED
    if link.verdict != "not in the formulas":
        return ""
    if all(group.operator in allowed for group in link.found):
        return ALLOWED
    length = sizes.get("seq_len")
    outer = (g.matrices is not None and g.matrices[2:] == (1, length) for g in link.found)
    once = link.calls <= link.repeats * len(link.found)
    return ROTARY if length is not None and once and all(outer) else ""


def _allows(allowed: Sequence[str], name: str) -> bool:
    return any(name == one or matcher(one)(name) for one in allowed)


def _last_position(links: Sequence[Link], length: int) -> dict[int, str]:
    """Both sides of a head that met the last position alone: calls as often, of a `length`th of the flops."""
    found: dict[int, str] = {}
    for n, link in enumerate(links):
        if link.verdict != "not run" or link.attends or length == 1:
            continue
        for m, other in enumerate(links):
            fits = other.verdict == "not in the formulas" and other.flops * length == link.flops
            if fits and other.calls == link.predicted and m not in found:
                names = ", ".join(name or "the model" for one in link.expected for name in one.names)
                found[n] = found[m] = f"{names} for the last position alone"
                break
    return found
