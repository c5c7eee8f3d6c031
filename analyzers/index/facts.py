"""The facts about source files: frozen values that say what is defined, imported and called, and where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Language = Literal[
    "python", "c", "cpp", "cuda", "cmake", "yaml", "json", "toml", "markdown", "notebook", "other"
]
Kind = Literal[
    "class",
    "function",
    "method",
    "property",
    "struct",
    "union",
    "enum",
    "typedef",
    "macro",
    "kernel",
    "constant",
    "target",  # of CMake
]
How = Literal["exact", "possible", "registry", "external", "unresolved"]


@dataclass(frozen=True, slots=True)
class Span:
    """Lines `start` to `end` of a file, counted from 1, both included."""

    start: int
    end: int

    def __contains__(self, line: int) -> bool:
        return self.start <= line <= self.end


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter as written; `kind` is `/`, `` (ordinary), `*`, `**` or `keyword`."""

    name: str
    kind: Literal["/", "", "*", "**", "keyword"] = ""
    annotation: str = ""
    default: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """One call site: `target` is the callee as written (`self.graph.add`, `foo`, `super().trace`, `().run`).

    Where what a call gives (or an item) is called, or has a member called, it stands as `()` (`[]`) after its
    own words: `Tracer().trace`, `xs[].run`, `make()` for the outer call of `make()(x)`; any other part
    without a name is a bare `()`. `line` and `column` (from 0, in bytes of UTF-8) are those of the first
    character of the whole call expression, as `ast` has them. Arguments are as written (`x`, `*rest`,
    `key=value`), long ones cut with an ellipsis.
    """

    line: int
    column: int
    target: str
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Raised:
    """One `raise` (or C++ `throw`): the exception and the nearest condition around it, as written.

    The exception is its class where it is built in place (`ValueError`), and empty for a bare `raise`. The
    condition is `x is None`, `not (x is None)` (its `else`), `except KeyError`, `case 1`, `while x`, or
    empty.
    """

    line: int
    exception: str
    condition: str = ""


@dataclass(frozen=True, slots=True)
class Attribute:
    """A name and where it is first bound: an attribute of a class, a module's constant, a function's local.

    `annotation` and `value` are as written (a long value is cut with an ellipsis). The value is `with X` or
    `for X` where such a statement binds the name, `[0] of X` where an unpacking does, and empty where an
    `except` or a starred unpacking does. `also` are the other values that it is bound to further on.
    """

    name: str
    line: int
    annotation: str = ""
    value: str = ""
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Definition:
    """A class, function, method, kernel, ... and what it says about itself.

    `span` runs from `def`/`class` (or the return type in C++) to the last line; `decorated` begins at the
    first decorator or template line. `qualname` is dotted within the file (`Graph.add`, `outer.inner`; C++
    namespaces are dotted too). `signature` is the source from `def` to before the colon, whitespace joined.
    """

    name: str
    qualname: str
    kind: Kind
    span: Span
    decorated: Span
    signature: str = ""
    parameters: tuple[Parameter, ...] = ()
    returns: str = ""
    decorators: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()
    docstring: str = ""
    is_async: bool = False
    is_generator: bool = False
    is_public: bool = True
    is_declaration: bool = False  # a C++ prototype: its body is elsewhere
    parent: str = ""
    calls: tuple[Call, ...] = ()
    raised: tuple[Raised, ...] = ()
    attributes: tuple[Attribute, ...] = ()
    launches: tuple[Launch, ...] = ()
    locals: tuple[Attribute, ...] = ()  # names bound in the body of a function, parameters left out
    returned: tuple[str, ...] = ()  # what follows `return`, as written, long ones cut
    inner: tuple[Attribute, ...] = ()  # names bound in it by comprehensions (`for X`), lambdas and patterns
    reads: tuple[Call, ...] = ()  # attributes read and not called; `x[k] = v` as `x.__setitem__`


@dataclass(frozen=True, slots=True)
class Launch:
    """A CUDA launch `kernel<<<grid, block, shared, stream>>>`; `in_macro` where it stands in a `#define`."""

    line: int
    kernel: str
    grid: str = ""
    block: str = ""
    shared: str = ""
    stream: str = ""
    in_macro: bool = False
    api: str = (
        ""  # the function that launches (`cudaLaunchKernelEx`, `grid` its configuration); empty for `<<<>>>`
    )


@dataclass(frozen=True, slots=True)
class Import:
    """`import module as alias` (`name` empty) or `from module import name as alias`.

    `level` counts the leading dots.
    In C and C++ an `#include`: `module` is the header, `level` 1 for quotes and 0 for angle brackets.
    """

    line: int
    module: str
    name: str = ""
    alias: str = ""
    level: int = 0
    guarded: bool = False  # under any `if` (`TYPE_CHECKING`, ...), in `try`, or inside a function


@dataclass(frozen=True, slots=True)
class Problem:
    """What could not be read of a file, and where (`line` 0: the file as a whole)."""

    line: int
    what: str


@dataclass(frozen=True, slots=True)
class Binding:
    """A native function callable from Python: `m.def("name", &function)`, `m.impl` of `TORCH_LIBRARY`."""

    line: int
    module: str
    name: str
    function: str


@dataclass(frozen=True, slots=True)
class FileFacts:
    """All facts of one file.

    `path` is relative to the repository root, with `/`; `module` is the dotted import name. Of a
    configuration file `constants` holds the dotted keys, their types (`annotation`) and values.
    """

    path: str
    language: Language
    digest: str
    lines: int
    module: str = ""
    encoding: str = "utf-8"
    parser: Literal["ast", "libcst", "tree-sitter", "none"] = "none"
    docstring: str = ""
    definitions: tuple[Definition, ...] = ()
    imports: tuple[Import, ...] = ()
    exports: tuple[str, ...] | None = None  # `__all__` where it is written
    constants: tuple[Attribute, ...] = ()  # names bound at module level
    calls: tuple[Call, ...] = ()  # calls at module level, `if __name__ == "__main__"` included
    bindings: tuple[Binding, ...] = ()
    launches: tuple[Launch, ...] = ()  # launches outside every definition
    inner: tuple[Attribute, ...] = ()  # as in a definition, of the module's own statements
    reads: tuple[Call, ...] = ()  # as in a definition, of the module's own statements
    generated_by: str = ""  # the generator, where the file says that it is generated
    generated_from: str = ""  # the source it was generated from, where the file names it
    experimental: bool = False
    has_main: bool = False  # `if __name__ == "__main__"`
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Repository:
    """The facts of every file under a root, by path; `skipped` names what was not read and why."""

    root: str
    files: Mapping[str, FileFacts] = field(default_factory=dict)
    skipped: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Edge:
    """A call from a definition (or a module, `caller` empty) at a line to a target.

    `callee_path` and `callee` name a definition of the repository, or for `external` the path is empty and
    `callee` is the dotted outside name; for `unresolved` `callee` is the text as written and `reason` says
    why it stops.
    """

    path: str
    caller: str
    line: int
    how: How
    callee_path: str
    callee: str
    reason: str = ""
    constructs: str = ""  # the class that the call makes an instance of: its qualname (dotted if external)
    form: Literal["call", "read", "store", "launch", "binding"] = "call"  # `read`, `store`: of a property
