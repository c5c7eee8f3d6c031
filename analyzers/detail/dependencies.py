"""The imports of a file in, the packages it depends on out: standard library, third party, first party."""

from __future__ import annotations

import sys
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final, Literal

from forwardbook.analyzers.detail.facts import Dependency
from forwardbook.analyzers.index.facts import FileFacts, Import

Origin = Literal["standard library", "third party", "first party"]
# Modules that the standard library once had, so that older files are split rightly too.
_FORMER: Final = frozenset(
    {"distutils", "imp", "asynchat", "asyncore", "smtpd", "cgi", "cgitb", "crypt", "telnetlib", "pipes", "uu"}
)


@dataclass(slots=True)
class _Draft:
    origin: Origin
    lines: list[int] = field(default_factory=list)
    names: dict[str, None] = field(default_factory=dict)
    is_optional: bool = True


def dependencies(facts: FileFacts, first_party: Collection[str] = ()) -> tuple[Dependency, ...]:
    """What a file imports, by package, in the order of first use; first-party modules by their own names."""
    drafts: dict[str, _Draft] = {}
    for each in facts.imports:
        origin = _origin(each, facts, first_party)
        name = _name(each, origin)
        draft = drafts.setdefault(name, _Draft(origin))
        if each.line not in draft.lines:
            draft.lines.append(each.line)
        taken = each.name or ("" if origin == "first party" else each.module.partition(".")[2])
        if taken:
            draft.names[taken] = None
        draft.is_optional = draft.is_optional and each.guarded
    return tuple(
        Dependency(name, draft.origin, tuple(draft.lines), tuple(draft.names), draft.is_optional)
        for name, draft in drafts.items()
    )


def _origin(each: Import, facts: FileFacts, first_party: Collection[str]) -> Origin:
    top = each.module.partition(".")[0]
    own = facts.module.partition(".")[0]
    if each.level or (own and top == own and "." in facts.module) or top in first_party:
        return "first party"
    if top in sys.stdlib_module_names or top in _FORMER or top == "__future__":
        return "standard library"
    return "first party" if own and top == own else "third party"


def _name(each: Import, origin: Origin) -> str:
    if origin == "first party":
        return "." * each.level + each.module or "."
    return each.module.partition(".")[0]
