"""A function definition in, its statements, branches, loops, config reads and the names it refers to out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

import libcst as cst
from libcst.helpers import get_full_name_for_node

from forwardbook.analyzers.reader.facts import Branch, ConfigRead, FunctionFacts, Loop, Span, Statement
from forwardbook.analyzers.reader.resolve import Definition
from forwardbook.analyzers.reader.sources import SourceFile, beneath, descend

_COMPOUND = cst.If | cst.For | cst.While | cst.With | cst.Try | cst.FunctionDef | cst.ClassDef | cst.Match
_FUNCTIONS = 4096  # whose facts are kept: those of one state of a file, as its nodes are


@lru_cache(maxsize=_FUNCTIONS)
def function_facts(definition: Definition) -> FunctionFacts:
    """All facts of one function."""
    source, node = definition.source, definition.node
    if not isinstance(node, cst.FunctionDef):
        raise TypeError(f"{definition.qualname} is no function")
    arguments = parameter_names(node)
    return FunctionFacts(
        qualname=definition.qualname,
        module=source.module,
        file=str(source.path),
        span=source.span(node),
        decorators=tuple(source.code(item.decorator) for item in node.decorators),
        parameters=arguments,
        statements=tuple(statements(source, node.body, 0)),
        branches=tuple(branches(source, node, arguments)),
        loops=tuple(loops(source, node)),
        config_reads=tuple(config_reads(source, node.body)),
        constants=tuple(sorted(constants(source, node))),
    )


def parameter_names(node: cst.FunctionDef) -> tuple[str, ...]:
    """The parameters of a function in order, `*args` and `**kwargs` with their stars."""
    params = node.params
    names = [item.name.value for item in (*params.posonly_params, *params.params)]
    if isinstance(params.star_arg, cst.Param):
        names.append(f"*{params.star_arg.name.value}")
    names += [item.name.value for item in params.kwonly_params]
    if params.star_kwarg is not None:
        names.append(f"**{params.star_kwarg.name.value}")
    return tuple(names)


def statements(source: SourceFile, body: cst.CSTNode, depth: int) -> Iterator[Statement]:
    """The statements of a body with exact spans; of a compound statement its header, then what it holds."""
    for node in body.children:
        if isinstance(node, cst.SimpleStatementLine | cst.SimpleStatementSuite):
            for small in node.body:
                yield Statement(type(small).__name__, source.code(small), source.span(small), depth)
        elif isinstance(node, _COMPOUND):
            span = header_span(source, node)
            yield Statement(type(node).__name__, source.text_of(span), span, depth)
            yield from _held(source, node, depth)
        elif isinstance(node, cst.BaseSmallStatement):
            yield Statement(type(node).__name__, source.code(node), source.span(node), depth)


def _held(source: SourceFile, node: cst.CSTNode, depth: int) -> Iterator[Statement]:
    for child in node.children:
        if isinstance(child, cst.BaseSuite):
            yield from statements(source, child, depth + 1)
        elif isinstance(child, cst.If):
            span = header_span(source, child)
            yield Statement("If", source.text_of(span), span, depth)
            yield from _held(source, child, depth)
        elif isinstance(child, cst.Else | cst.Finally | cst.ExceptHandler | cst.MatchCase):
            yield from _held(source, child, depth)


def header_span(source: SourceFile, node: cst.CSTNode) -> Span:
    """The range of a compound statement up to its colon."""
    whole = source.span(node)
    body = next((child for child in node.children if isinstance(child, cst.BaseSuite)), None)
    if body is None:
        return Span(whole.line, whole.col, whole.line, len(source.lines[whole.line - 1]))
    start = source.span(body)
    ends = [source.span(child) for child in node.children if child is not body and child in source.positions]
    inner = [span for span in ends if (span.line, span.col) < (start.line, start.col)]
    end_line = max((span.end_line for span in inner), default=whole.line)
    end_col = max((span.end_col for span in inner if span.end_line == end_line), default=whole.col)
    row = source.lines[end_line - 1]
    colon = row.find(":", end_col)
    return Span(whole.line, whole.col, end_line, colon + 1 if colon >= 0 else len(row))


def branches(source: SourceFile, node: cst.FunctionDef, arguments: tuple[str, ...]) -> Iterator[Branch]:
    """Every condition of a function and what decides it."""
    plain = {name.lstrip("*") for name in arguments} - {"self", "cls"}
    for item in beneath(node.body):
        if not isinstance(item, cst.If | cst.IfExp | cst.While):
            continue
        fields = tuple(dict.fromkeys(read.field for read in config_reads(source, item.test)))
        names = {part.value for part in descend(item.test) if isinstance(part, cst.Name)}
        used = tuple(sorted(names & plain - {"config"}))
        attributes = tuple(dict.fromkeys(self_attributes(item.test)))
        by = "config" if fields else "argument" if used else "attribute" if attributes else "value"
        has_else = isinstance(item, cst.IfExp) or item.orelse is not None
        yield Branch(source.code(item.test), by, fields, used, attributes, source.span(item.test), has_else)


def loops(source: SourceFile, node: cst.FunctionDef) -> Iterator[Loop]:
    """Every loop and comprehension of a function; `range` arguments as written."""
    for item in beneath(node.body):
        if isinstance(item, cst.For | cst.CompFor):
            argument = ""
            if isinstance(item.iter, cst.Call) and get_full_name_for_node(item.iter.func) == "range":
                argument = ", ".join(source.code(arg.value) for arg in item.iter.args)
            yield Loop(source.code(item.target), source.code(item.iter), argument, source.span(item.iter))
        elif isinstance(item, cst.While):
            yield Loop("", source.code(item.test), "", source.span(item.test))


def config_reads(source: SourceFile, node: cst.CSTNode) -> Iterator[ConfigRead]:
    """Every `config.x`, `self.config.x`, `getattr(config, "x", ...)`; nested fields keep their dots."""
    inner = _inner_attributes(node)
    for item in beneath(node):
        if isinstance(item, cst.Attribute):
            field = _config_field(get_full_name_for_node(item) or "")
            if field and item not in inner:
                yield ConfigRead(field, source.span(item))
        elif (
            isinstance(item, cst.Call)
            and get_full_name_for_node(item.func) == "getattr"
            and len(item.args) > 1
        ):
            owner, name = get_full_name_for_node(item.args[0].value) or "", item.args[1].value
            prefix = _config_field(f"{owner}.x")
            if prefix and isinstance(name, cst.SimpleString):
                yield ConfigRead(prefix[:-1] + str(name.evaluated_value), source.span(item))


def _config_field(dotted: str) -> str:
    """The part after the config object of a dotted name, "" when there is none."""
    parts = dotted.split(".")
    for index, part in enumerate(parts[:-1]):
        if part == "config" or part.endswith("_config"):
            owner = parts[:index]
            if owner in ([], ["self"]):
                prefix = [] if part == "config" else [part]
                return ".".join([*prefix, *parts[index + 1 :]])
    return ""


def _inner_attributes(node: cst.CSTNode) -> frozenset[cst.CSTNode]:
    """What stands before the last dot: `config.text` in `config.text.size`, which is read as one field."""
    attributes = (item for item in beneath(node) if isinstance(item, cst.Attribute))
    return frozenset(item.value for item in attributes if get_full_name_for_node(item))


def self_attributes(node: cst.CSTNode) -> Iterator[str]:
    """The names X of every `self.X`."""
    for item in descend(node):
        if (
            isinstance(item, cst.Attribute)
            and isinstance(item.value, cst.Name)
            and item.value.value == "self"
        ):
            yield item.attr.value


@lru_cache(maxsize=_FUNCTIONS)
def constants(source: SourceFile, node: cst.FunctionDef) -> Mapping[str, str]:
    """The names assigned at the top of the module that a function uses, with their text."""
    used = {item.value for item in descend(node) if isinstance(item, cst.Name)}
    found = {}
    for name in used & source.bindings.keys():
        binding = source.bindings[name][-1]
        if (
            binding.kind == "assign"
            and isinstance(binding.node, cst.Assign | cst.AnnAssign)
            and binding.node.value
        ):
            found[name] = source.code(binding.node.value)
    return found


@lru_cache(maxsize=_FUNCTIONS)
def references(node: cst.CSTNode) -> tuple[str, ...]:
    """The dotted names a body refers to, each once, `super().x` included, nested attributes whole."""
    return tuple(dict.fromkeys(_references(node)))


def _references(node: cst.CSTNode) -> Iterator[str]:
    for item in beneath(node):
        if isinstance(item, cst.Name):
            yield item.value
        elif isinstance(item, cst.Attribute):
            if isinstance(item.value, cst.Call) and get_full_name_for_node(item.value.func) == "super":
                yield f"super.{item.attr.value}"
            else:
                dotted = get_full_name_for_node(item)
                if dotted and isinstance(item.value, cst.Name | cst.Attribute):
                    yield dotted
