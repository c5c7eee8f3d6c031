"""The nouns of a page: what one file's classes, constants, commands and module level are, and where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from forwardbook.analyzers.detail.function_facts import (
    Caught,
    Check,
    Cleanup,
    DecoratorDetail,
    DeviceKind,
    DeviceOperation,
    Effect,
    EffectKind,
    EnvironmentVariable,
    FunctionDetail,
    Line,
    Outcome,
    Parallel,
    ParallelKind,
    ParameterDetail,
    Raise,
    Returned,
    Timed,
)
from forwardbook.analyzers.detail.steps import (
    Arm,
    BranchStep,
    CallStep,
    EndStep,
    LoopStep,
    ParallelStep,
    Step,
    TryStep,
    WithStep,
)
from forwardbook.analyzers.index.facts import Problem, Span

__all__ = [
    "Arm",
    "AttributeDetail",
    "BranchStep",
    "CallStep",
    "Caught",
    "Check",
    "ClassDetail",
    "Cleanup",
    "Command",
    "Constant",
    "DecoratorDetail",
    "Dependency",
    "Detail",
    "DeviceKind",
    "DeviceOperation",
    "Effect",
    "EffectKind",
    "EndStep",
    "EntryPoint",
    "EnvironmentVariable",
    "FunctionDetail",
    "Line",
    "LoopStep",
    "ModuleClass",
    "Option",
    "Outcome",
    "Parallel",
    "ParallelKind",
    "ParallelStep",
    "ParameterDetail",
    "Pattern",
    "Phase",
    "Problem",
    "Raise",
    "Requirement",
    "Returned",
    "Span",
    "Step",
    "Term",
    "Timed",
    "TryStep",
    "WithStep",
]


@dataclass(frozen=True, slots=True)
class AttributeDetail:
    """An attribute of a class: where first bound, annotation, value, and what docstring or comment says."""

    name: str
    line: int
    annotation: str = ""
    value: str = ""
    meaning: str = ""
    bound_in: str = ""  # the method that binds it first; empty: the class body


@dataclass(frozen=True, slots=True)
class Phase:
    """One stage of an object's life and the methods that stand for it, in the order of the stages."""

    name: Literal["create", "set up", "use", "save", "tear down"]
    methods: tuple[str, ...]  # qualified names


@dataclass(frozen=True, slots=True)
class ClassDetail:
    """One class; `signature` is the source text from `class` to before the colon, line breaks kept."""

    qualname: str
    span: Span
    decorated: Span
    signature: str
    bases: tuple[str, ...] = ()
    is_public: bool = True
    summary: str = ""
    docstring: str = ""
    nature: tuple[str, ...] = ()  # "dataclass", "enum", "exception", "abstract", "protocol", "nn.Module", ...
    decorators: tuple[DecoratorDetail, ...] = ()
    attributes: tuple[AttributeDetail, ...] = ()
    methods: tuple[str, ...] = ()  # qualified names, in source order
    magic: tuple[tuple[str, int, str], ...] = ()  # name, line, what calls it
    lifecycle: tuple[Phase, ...] = ()


@dataclass(frozen=True, slots=True)
class Constant:
    """A name in capitals (or annotated `Final`) bound at module or class level.

    `comment` is the trailing comment, else the comment lines right above, without `#`. `uses` are lines.
    """

    name: str
    line: int
    span: Span
    value: str
    annotation: str = ""
    comment: str = ""
    uses: tuple[int, ...] = ()
    owner: str = ""  # the class, where it stands in one


@dataclass(frozen=True, slots=True)
class Option:
    """A command-line option or argument: `flags` as typed (`-n`, `--name`, or an argument's bare name)."""

    flags: tuple[str, ...]
    line: int
    name: str = ""  # the name that the code reads it by
    type: str = ""
    default: str = ""
    help: str = ""
    required: bool = False
    is_flag: bool = False
    is_argument: bool = False
    choices: str = ""


@dataclass(frozen=True, slots=True)
class Command:
    """A command line: its framework, the command's name (empty: the program), its function and options."""

    framework: Literal[
        "argparse", "click", "typer", "fire", "hydra", "absl", "optparse", "transformers", "sys.argv"
    ]
    line: int
    name: str = ""
    function: str = ""
    help: str = ""
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class Dependency:
    """A package imported by the file: the lines, the names taken, and whether the file works without it."""

    name: str  # `os`, `torch`, or for a first-party import the dotted module as written (`.facts`)
    origin: Literal["standard library", "third party", "first party"]
    lines: tuple[int, ...]
    names: tuple[str, ...] = ()
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class Pattern:
    """A design pattern recognised by rule: `subject` plays it, `why` says by which rule, `evidence` where."""

    name: str
    subject: str
    why: str
    evidence: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the domain and the sentence that defines it; `where` is empty for the module."""

    term: str
    meaning: str
    line: int
    where: str = ""


@dataclass(frozen=True, slots=True)
class Requirement:
    """A construct that needs a Python version, and the line that proves it."""

    version: tuple[int, int]
    line: int
    what: str


@dataclass(frozen=True, slots=True)
class ModuleClass:
    """A class that is an `nn.Module` as far as this text tells; `forward` is the span of its forward()."""

    qualname: str
    span: Span
    through: tuple[str, ...]  # the chain of bases up to torch's
    forward: Span | None = None


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """How the file is run: `kind` and the line; `calls` is the call made there as written."""

    kind: Literal["__main__ guard", "__main__ file", "script line", "script body"]
    line: int
    calls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Detail:
    """All page-depth facts of one file; `module` is what its own level does, `parser` which reader could."""

    path: str
    parser: Literal["ast", "libcst", "tree-sitter", "none"]
    module: FunctionDetail
    summary: str = ""
    docstring: str = ""
    functions: tuple[FunctionDetail, ...] = ()
    classes: tuple[ClassDetail, ...] = ()
    constants: tuple[Constant, ...] = ()
    commands: tuple[Command, ...] = ()
    dependencies: tuple[Dependency, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    terms: tuple[Term, ...] = ()
    requirements: tuple[Requirement, ...] = ()  # the highest version first
    modules: tuple[ModuleClass, ...] = ()
    entry: EntryPoint | None = None
    problems: tuple[Problem, ...] = ()

    @property
    def minimum_python(self) -> tuple[int, int]:
        """The lowest Python 3 that the syntax allows."""
        return max((each.version for each in self.requirements), default=(3, 0))

    def everywhere(self) -> Iterator[FunctionDetail]:
        """The module's own level, then every function in source order."""
        yield self.module
        yield from self.functions

    def function(self, qualname: str, line: int = 0) -> FunctionDetail | None:
        """The function of that name (the one that starts at `line`, where several share it)."""
        named = [each for each in self.functions if each.qualname == qualname]
        return next((each for each in named if each.span.start == line), named[0] if named else None)
