"""Turns what is gathered while a file is read, scope by scope, into frozen definitions."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Literal

from forwardbook.analyzers.index.facts import (
    Attribute,
    Call,
    Definition,
    Kind,
    Launch,
    Parameter,
    Raised,
    Span,
)

_NAME = re.compile(r"\A[&(]*\s*(?P<name>(?:[A-Za-z_]\w*\s*(?:<.*?>)?::)*[A-Za-z_]\w*)\s*(?:<.*)?\)?\Z")
_INTERNAL = {"detail", "details", "internal", "impl", "_internal", "__detail"}


@dataclass(slots=True)
class Draft:
    """A definition still being read; `start`, `end` are its bytes, `body` the one after its header."""

    name: str
    names: tuple[str, ...]
    kind: Kind
    span: Span
    decorated: Span
    start: int
    end: int
    body: int
    signature: str = ""
    parameters: tuple[Parameter, ...] = ()
    returns: str = ""
    decorators: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()
    docstring: str = ""
    is_public: bool = True
    is_declaration: bool = False
    calls: list[Call] = field(default_factory=list)
    raised: list[Raised] = field(default_factory=list)
    attributes: list[Attribute] = field(default_factory=list)
    launches: list[Launch] = field(default_factory=list)
    variables: list[Attribute] = field(default_factory=list)
    returned: list[str] = field(default_factory=list)

    def frozen(self) -> Definition:
        """The definition as a value."""
        return Definition(
            name=self.name,
            qualname=".".join(self.names),
            kind=self.kind,
            span=self.span,
            decorated=self.decorated,
            signature=self.signature,
            parameters=self.parameters,
            returns=self.returns,
            decorators=self.decorators,
            bases=self.bases,
            docstring=self.docstring,
            is_public=self.is_public and not _INTERNAL.intersection(self.names[:-1]),
            is_declaration=self.is_declaration,
            parent=".".join(self.names[:-1]),
            calls=tuple(sorted(self.calls, key=lambda call: (call.line, call.column))),
            raised=tuple(self.raised),
            attributes=tuple(self.attributes),
            launches=tuple(sorted(self.launches, key=lambda launch: launch.line)),
            locals=tuple(self.variables),
            returned=tuple(self.returned),
        )


@dataclass(slots=True)
class Scope:
    """A region of the text while it is read: what its names begin with and what is being defined in it."""

    kind: Literal["file", "namespace", "class", "function", "block", "wrapper", "branch"]
    start: int
    end: int
    names: tuple[str, ...] = ()
    draft: Draft | None = None
    access: str = "public"
    header: str = ""  # of a wrapper the template line, of a branch the condition
    otherwise: int = 0  # of a branch the byte of its `else`
    hidden: bool = False  # an unnamed namespace


def name_launched(draft: Draft) -> None:
    """Puts the kernel in place of a local variable (`auto kernel = f<T>;`) that a launch names."""
    values = {one.name: one.value for one in draft.variables if one.value}
    for at, launch in enumerate(draft.launches):
        found = _NAME.match(values.get(launch.kernel, ""))
        if found is not None:
            draft.launches[at] = replace(launch, kernel=re.sub(r"<.*?>|\s", "", found["name"]))
