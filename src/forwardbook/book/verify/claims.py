"""The values of the verifier: what a page claims, where, in which state, and what is true instead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["supported", "contradicted", "stale", "unverified"]
Kind = Literal[
    "span",  # `Symbol` (`path:10-42`)
    "line",  # `path:17`
    "symbol",  # a back-quoted name
    "member",  # `Class.member`
    "path",  # a back-quoted file or folder
    "signature",
    "quotation",
    "count",
    "relation",
    "parameter",
    "constant",
    "environment",
    "raises",
    "launch",
    "link",
    "code",  # a fence of Python parses
    "import",  # an import in a fence of Python
    "grammar",  # a diagram parses with Mermaid's own grammar
    "lint",  # what parses and is still wrong
    "participant",
    "message",
    "inheritance",
    "edge",  # an arrow of a flowchart or class diagram
]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A state and, where it is not `supported`, what is true instead or why it cannot be told."""

    state: State
    truth: str = ""
    file: str = ""  # the source file it was held against


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim of a page: `line` counts from 1 in the page, `text` is the claim as written."""

    page: str
    line: int
    kind: Kind
    text: str
    state: State
    truth: str = ""
    file: str = ""

    def message(self) -> str:
        """`page:line: contradicted span: text: what is true`."""
        tail = f": {self.truth}" if self.truth else ""
        return f"{self.page}:{self.line}: {self.state} {self.kind}: {self.text}{tail}"


SUPPORTED = Verdict("supported")


def supported(file: str = "") -> Verdict:
    """The claim holds."""
    return Verdict("supported", "", file) if file else SUPPORTED


def contradicted(truth: str, file: str = "") -> Verdict:
    """The claim does not hold; `truth` says what the source says."""
    return Verdict("contradicted", truth, file)


def unverified(why: str, file: str = "") -> Verdict:
    """Nothing here can decide the claim."""
    return Verdict("unverified", why, file)
