"""A class's scope in, what it is and holds out: nature, attributes, special methods, order of life."""

from __future__ import annotations

import ast
import re
from typing import Final

from forwardbook.analyzers.detail.constants import comment
from forwardbook.analyzers.detail.decorators import decorators
from forwardbook.analyzers.detail.docstrings import Said, understood
from forwardbook.analyzers.detail.facts import AttributeDetail, ClassDetail, Phase, Span
from forwardbook.analyzers.detail.magic import called_by
from forwardbook.analyzers.detail.open_file import OpenFile
from forwardbook.analyzers.detail.scopes import Scope
from forwardbook.analyzers.detail.signatures import signature
from forwardbook.analyzers.detail.syntax import Function
from forwardbook.analyzers.index.facts import Definition
from forwardbook.analyzers.index.header import decorated_span, docstring

_BASES: Final = {
    "abc.ABC": "abstract",
    "typing.Protocol": "protocol",
    "typing.NamedTuple": "named tuple",
    "typing.TypedDict": "typed dict",
    "typing.Generic": "generic",
    "pydantic.BaseModel": "pydantic model",
    "enum.Enum": "enum",
    "enum.IntEnum": "enum",
    "enum.StrEnum": "enum",
    "enum.Flag": "enum",
    "enum.IntFlag": "enum",
    "torch.nn.Module": "nn.Module",
    "torch.autograd.Function": "autograd function",
    "torch.utils.data.Dataset": "dataset",
    "torch.utils.data.IterableDataset": "dataset",
    "torch.optim.Optimizer": "optimizer",
    "threading.Thread": "thread",
    "multiprocessing.Process": "process",
    "unittest.TestCase": "test case",
    "type": "metaclass",
}
_EXCEPTION: Final = re.compile(r"(Error|Exception|Warning|KeyboardInterrupt|SystemExit)$")
_PHASES: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("create", re.compile(r"^(__new__|__init__|__post_init__|from_\w+|create|build)$")),
    (
        "set up",
        re.compile(
            r"^_?(setup|set_up|setUp|initialize|init|prepare|open|start|connect|load|configure|__enter__|__aenter__|register|before_\w+)(_\w+)?$"
        ),
    ),  # fmt: skip
    (
        "use",
        re.compile(
            r"^_?(__call__|forward|run|main|step|process|execute|predict|generate|train|evaluate|compute|fit|handle|__iter__|__next__)(_\w+)?$"
        ),
    ),  # fmt: skip
    ("save", re.compile(r"^_?(save|dump|export|write|flush|checkpoint|commit|state_dict|to_\w+)(_\w+)?$")),
    (
        "tear down",
        re.compile(
            r"^_?(close|stop|shutdown|teardown|tearDown|cleanup|finalize|destroy|release|disconnect|reset|__exit__|__aexit__|__del__|after_\w+)(_\w+)?$"
        ),
    ),  # fmt: skip
)


def class_detail(file: OpenFile, scope: Scope, known: Definition | None) -> ClassDetail:
    """All that one class is and holds."""
    node = scope.node
    assert isinstance(node, ast.ClassDef)
    text = docstring(node.body)
    said = understood(text)
    methods = [each for each in node.body if isinstance(each, Function)]
    decorated = decorated_span(file.syntax.source, node)
    magic = {each.name: (each.name, each.lineno, called_by(each.name)) for each in methods}
    return ClassDetail(
        scope.qualname,
        Span(node.lineno, decorated.end),
        decorated,
        signature(file, node),
        bases=tuple(file.text(each) for each in node.bases),
        is_public=known.is_public if known is not None else not node.name.startswith("_"),
        summary=said.summary,
        docstring=text,
        nature=nature(file, node),
        decorators=decorators(file, node),
        attributes=_attributes(file, scope, {**said.parameters, **said.attributes}),
        methods=tuple(dict.fromkeys(f"{scope.qualname}.{each.name}" for each in methods)),
        magic=tuple(each for each in magic.values() if each[2]),
        lifecycle=_lifecycle(scope.qualname, methods),
    )


def nature(file: OpenFile, node: ast.ClassDef) -> tuple[str, ...]:
    """What kinds of class it is, by its decorators, its bases' names and its abstract methods."""
    found: dict[str, None] = {}
    for mark in node.decorator_list:
        name = file.names.full(mark.func if isinstance(mark, ast.Call) else mark)
        if name in (
            "dataclasses.dataclass",
            "attr.s",
            "attrs.define",
            "attrs.frozen",
            "pydantic.dataclasses.dataclass",
        ):
            found["dataclass"] = None
    for base in node.bases:
        name = file.names.full(base.value if isinstance(base, ast.Subscript) else base)
        if name in _BASES:
            found[_BASES[name]] = None
        elif _EXCEPTION.search(name):
            found["exception"] = None
        elif name.endswith(("nn.Module", ".Module")):
            found["nn.Module"] = None
    for each in node.keywords:
        if each.arg == "metaclass":
            is_abstract = file.names.full(each.value) == "abc.ABCMeta"
            found["abstract" if is_abstract else f"metaclass {file.text(each.value)}"] = None
    if any(isinstance(each, Function) and is_abstract_method(file, each) for each in node.body):
        found["abstract"] = None
    if node.name.endswith("Mixin"):
        found["mixin"] = None
    return tuple(found)


def is_abstract_method(file: OpenFile, node: Function) -> bool:
    """Whether a method is marked as one that subclasses must define."""
    marks = (file.names.full(each) for each in node.decorator_list)
    return any(name.rpartition(".")[2] in ("abstractmethod", "abstractproperty") for name in marks)


def _attributes(file: OpenFile, scope: Scope, said: dict[str, Said]) -> tuple[AttributeDetail, ...]:
    """The attributes bound in the class body, then those that methods bind on their object first."""
    found: dict[str, AttributeDetail] = {}
    node = scope.node
    assert isinstance(node, ast.ClassDef)
    for statement in node.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            _bind(file, statement, "", "", found, said)
    for inner in file.scopes.every:
        if inner.around is scope and inner.function is not None and inner.this:
            for each in inner.each(ast.Assign, ast.AnnAssign):
                if isinstance(each, ast.Assign | ast.AnnAssign):
                    _bind(file, each, inner.this, inner.qualname, found, said)
    return tuple(found.values())


def _bind(
    file: OpenFile,
    node: ast.Assign | ast.AnnAssign,
    this: str,
    method: str,
    found: dict[str, AttributeDetail],
    said: dict[str, Said],
) -> None:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    annotation = file.text(node.annotation) if isinstance(node, ast.AnnAssign) else ""
    value = file.text(node.value) if node.value is not None else ""
    for target in targets:
        parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
        for part in parts:
            name = _name(part, this)
            if name and name not in found:
                about = said.get(name, Said())
                words = about.meaning or comment(file, node)
                given = value if len(parts) == 1 else ""
                found[name] = AttributeDetail(
                    name, part.lineno, annotation or about.type, given, words, method
                )


def _name(target: ast.expr, this: str) -> str:
    if not this:
        return target.id if isinstance(target, ast.Name) else ""
    if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == this:
        return target.attr
    return ""


def _lifecycle(qualname: str, methods: list[Function]) -> tuple[Phase, ...]:
    """The stages of an object's life that its methods' names tell of; empty where only creation is known."""
    found = []
    for name, pattern in _PHASES:
        names = dict.fromkeys(f"{qualname}.{each.name}" for each in methods if pattern.match(each.name))
        if names:
            found.append(Phase(name, tuple(names)))  # type: ignore[arg-type]
    return tuple(found) if len(found) > 1 else ()
