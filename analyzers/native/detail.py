"""The nouns of a native page: frozen values that say what it launches, copies, waits for, owns, checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from forwardbook.analyzers.index.facts import Launch, Parameter, Span
from forwardbook.analyzers.native.cmake import Target

Direction = Literal[
    "host to device", "device to host", "device to device", "host to host", "between devices", "unknown"
]
Scope = Literal[
    "device", "stream", "event", "grid", "cluster", "block", "warp", "group", "memory fence", "host"
]
Special = Literal["deleted", "defined", "implicit"]
Origin = Literal["created", "current", "parameter", "default", "declared"]
Ownership = Literal["smart pointer", "destructor", "reference counted", "manual", "not released here"]


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of memory: `call` is the function, `kind` the argument the direction was read from."""

    line: int
    function: str  # qualified name of the definition around it, empty at the level of the file
    call: str
    direction: Direction
    destination: str = ""
    source: str = ""
    size: str = ""
    stream: str = ""
    is_async: bool = False


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream or event: how the file comes by it, and the lines where it is destroyed."""

    line: int
    function: str
    name: str
    type: str
    origin: Origin
    destroyed: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Synchronisation:
    """A place where something waits, and what waits there."""

    line: int
    function: str
    call: str
    scope: Scope


@dataclass(frozen=True, slots=True)
class SharedMemory:
    """A `__shared__` variable; `is_dynamic` where its size is given by the launch."""

    line: int
    function: str
    name: str
    type: str
    size: str = ""
    is_dynamic: bool = False


@dataclass(frozen=True, slots=True)
class LaunchDetail:
    """A launch, the definition around it, its arguments, the line that checks it for errors (0: none)."""

    function: str
    launch: Launch
    arguments: tuple[str, ...] = ()
    checked_at: int = 0


@dataclass(frozen=True, slots=True)
class Resource:
    """Something that is acquired and has to be given back; `released` are the lines where it is."""

    line: int
    function: str
    name: str
    kind: str  # "device memory", "stream", "file", "smart pointer", "lock", "device guard", ...
    acquired_by: str
    ownership: Ownership
    released: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Owner:
    """A class that gives back in its destructor what it holds, and what it says of copies and moves."""

    name: str
    span: Span
    destructor: int  # its line, 0 where members do the work
    holds: tuple[str, ...] = ()  # members that own something
    releases: tuple[str, ...] = ()  # calls of the destructor that release
    copies: Special = "implicit"
    moves: Special = "implicit"


@dataclass(frozen=True, slots=True)
class ErrorCheck:
    """A check: the macro or function, what it checks and the message it gives."""

    line: int
    function: str
    call: str
    condition: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class MacroDetail:
    """A macro, what it stands for, and the lines of the file that use it."""

    name: str
    span: Span
    parameters: tuple[Parameter, ...] = ()
    value: str = ""
    comment: str = ""
    uses: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Template:
    """A template: its parameters as written."""

    name: str
    line: int
    parameters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KernelDetail:
    """A kernel: its launch bounds as written, and which indices of the grid it reads."""

    name: str
    span: Span
    bounds: tuple[str, ...] = ()
    indices: tuple[str, ...] = ()  # `blockIdx.x`, `threadIdx.y`, ...
    launched_at: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class NativeDetail:
    """All page-depth facts of one native file, each in the order of its lines."""

    path: str
    kernels: tuple[KernelDetail, ...] = ()
    launches: tuple[LaunchDetail, ...] = ()
    copies: tuple[Copy, ...] = ()
    streams: tuple[Stream, ...] = ()
    synchronisations: tuple[Synchronisation, ...] = ()
    shared_memory: tuple[SharedMemory, ...] = ()
    resources: tuple[Resource, ...] = ()
    owners: tuple[Owner, ...] = ()
    checks: tuple[ErrorCheck, ...] = ()
    macros: tuple[MacroDetail, ...] = ()
    templates: tuple[Template, ...] = ()
    namespaces: tuple[str, ...] = ()
    targets: tuple[Target, ...] = ()
