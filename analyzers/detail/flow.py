"""The statements of a function in, the tree of its calls, loops and branches out, in running order."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Final, Literal

from forwardbook.analyzers.detail.names import dotted
from forwardbook.analyzers.detail.open_file import OpenFile
from forwardbook.analyzers.detail.parallel import starts
from forwardbook.analyzers.detail.scopes import Defined
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
from forwardbook.analyzers.index.callee import argument_words, callee

_GATHERS: Final = frozenset({"asyncio.gather", "asyncio.wait", "asyncio.as_completed"})
_SPAWNS: Final = frozenset({"create_task", "ensure_future", "start_soon"})
_COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_TRIES: Final = (ast.Try, getattr(ast, "TryStar", ast.Try))


def flow(file: OpenFile, body: Sequence[ast.stmt]) -> tuple[Step, ...]:
    """The steps of a body; a branch or loop in which nothing is called or left is left out."""
    return tuple(_Flow(file).block(body))


class _Flow:
    def __init__(self, file: OpenFile) -> None:
        self.file = file

    def block(self, body: Sequence[ast.stmt]) -> list[Step]:
        found: list[Step] = []
        for statement in body:
            found += self.statement(statement)
        return found

    def statement(self, node: ast.stmt) -> list[Step]:
        if isinstance(node, Defined):
            return self.expressions(node.decorator_list)
        if isinstance(node, ast.If):
            return self.branch(node)
        if isinstance(node, ast.For | ast.AsyncFor | ast.While):
            return self.loop(node)
        if isinstance(node, _TRIES):
            return self.tries(node)
        if isinstance(node, ast.With | ast.AsyncWith):
            items = tuple(self.file.text(item.context_expr) for item in node.items)
            setup = self.expressions([item.context_expr for item in node.items])
            body = self.block(node.body)
            is_async = isinstance(node, ast.AsyncWith)
            return [WithStep(node.lineno, items, tuple(setup), tuple(body), is_async)]
        if isinstance(node, ast.Match):
            return self.match(node)
        return self.simple(node)

    def simple(self, node: ast.stmt) -> list[Step]:
        """The calls of a statement without a body, and how it leaves."""
        if isinstance(node, ast.Return):
            end = EndStep(node.lineno, "return", self.file.text(node.value) if node.value else "")
            return [*self.expressions([node.value]), end]
        if isinstance(node, ast.Raise):
            words = self.file.text(node.exc) if node.exc else ""
            return [*self.expressions([node.exc, node.cause]), EndStep(node.lineno, "raise", words)]
        if isinstance(node, ast.Break | ast.Continue):
            kind: Literal["break", "continue"] = "break" if isinstance(node, ast.Break) else "continue"
            return [EndStep(node.lineno, kind)]
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            return [*self.expression(node.value, self._name(target)), *self.expression(target)]
        if isinstance(node, ast.AnnAssign):
            return self.expression(node.value, self._name(node.target))
        return self.expressions([each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr)])

    def _name(self, target: ast.expr) -> str:
        if isinstance(target, ast.Tuple):
            return ", ".join(dotted(each) or "…" for each in target.elts)
        return dotted(target)

    def branch(self, node: ast.If) -> list[Step]:
        before = self.expression(node.test)
        arms = []
        line = node.lineno
        while True:
            arms.append(Arm(node.body[0].lineno, self.file.text(node.test), tuple(self.block(node.body))))
            rest = node.orelse
            if len(rest) == 1 and isinstance(rest[0], ast.If) and self._is_elif(node, rest[0]):
                node = rest[0]
                before += self.expression(node.test)
                continue
            break
        if rest:
            arms.append(Arm(rest[0].lineno, "else", tuple(self.block(rest))))
        return [*before, BranchStep(line, tuple(arms))] if any(arm.body for arm in arms) else before

    def _is_elif(self, outer: ast.If, inner: ast.If) -> bool:
        return inner.col_offset == outer.col_offset

    def loop(self, node: ast.For | ast.AsyncFor | ast.While) -> list[Step]:
        header = self.file.syntax.first_line(node)
        body = self.block(node.body)
        after = self.block(node.orelse)
        if isinstance(node, ast.While):
            repeated = [*self.expression(node.test), *body]
            return [*_loop(node.lineno, header, repeated), *after]
        is_async = isinstance(node, ast.AsyncFor)
        return [*self.expression(node.iter), *_loop(node.lineno, header, body, is_async=is_async), *after]

    def tries(self, node: ast.Try) -> list[Step]:
        handlers = []
        for each in node.handlers:
            words = self.file.text(each.type) if each.type else ""
            handlers.append(Arm(each.lineno, words, tuple(self.block(each.body))))
        body, otherwise = self.block(node.body), self.block(node.orelse)
        last = self.block(node.finalbody)
        if not (body or otherwise or last or any(arm.body for arm in handlers)):
            return []
        return [TryStep(node.lineno, tuple(body), tuple(handlers), tuple(otherwise), tuple(last))]

    def match(self, node: ast.Match) -> list[Step]:
        before = self.expression(node.subject)
        arms = []
        for case in node.cases:
            words = f"case {self.file.text(case.pattern)}"
            guard = self.expressions([case.guard])
            if case.guard:
                words += f" if {self.file.text(case.guard)}"
            arms.append(Arm(case.pattern.lineno, words, (*guard, *self.block(case.body))))
        return (
            [*before, BranchStep(node.lineno, tuple(arms), "match")] if any(a.body for a in arms) else before
        )

    def expressions(self, nodes: Sequence[ast.expr | None]) -> list[Step]:
        found: list[Step] = []
        for node in nodes:
            found += self.expression(node)
        return found

    def expression(self, node: ast.expr | None, result: str = "", awaited: bool = False) -> list[Step]:
        """The calls of an expression in the order they run: arguments before the call that takes them."""
        if node is None or isinstance(node, ast.Constant | ast.Name | ast.Lambda):
            return []
        if isinstance(node, ast.Call):
            return self.call(node, result, awaited)
        if isinstance(node, ast.Await):
            return self.expression(node.value, result, True)
        if isinstance(node, ast.Yield | ast.YieldFrom):
            words = ("from " if isinstance(node, ast.YieldFrom) else "") + (
                self.file.text(node.value) if node.value else ""
            )
            return [*self.expression(node.value), EndStep(node.lineno, "yield", words)]
        if isinstance(node, _COMPREHENSIONS):
            return self.comprehension(node)
        if isinstance(node, ast.IfExp):
            arms = (
                Arm(node.body.lineno, self.file.text(node.test), tuple(self.expression(node.body, result))),
                Arm(node.orelse.lineno, "else", tuple(self.expression(node.orelse, result))),
            )
            before = self.expression(node.test)
            return (
                [*before, BranchStep(node.lineno, arms, "expression")]
                if any(a.body for a in arms)
                else before
            )
        if isinstance(node, ast.BoolOp):
            return self.short_circuit(node)
        if isinstance(node, ast.NamedExpr):
            return self.expression(node.value, node.target.id)
        found: list[Step] = []
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                found += self.expression(child)
            elif isinstance(child, ast.keyword):
                found += self.expression(child.value)
        return found

    def call(self, node: ast.Call, result: str, awaited: bool) -> list[Step]:
        if self.file.names.full(node.func) in _GATHERS and any(isinstance(a, ast.Call) for a in node.args):
            return self.gathered(node, result, awaited)
        found = self.expression(node.func.value) if isinstance(node.func, ast.Attribute) else []
        if not isinstance(node.func, ast.Attribute):
            found = self.expression(node.func)
        found += self.expressions([*node.args, *(each.value for each in node.keywords)])
        started = starts(self.file, node)
        if not started and callee(node.func).rpartition(".")[2] in _SPAWNS and node.args:
            first = node.args[0]
            started = callee(first.func) if isinstance(first, ast.Call) else dotted(first)
        words = argument_words(self.file.syntax.source, node)
        found.append(
            CallStep(node.lineno, node.col_offset, callee(node.func), words, result, awaited, started)
        )
        return found

    def gathered(self, node: ast.Call, result: str, awaited: bool) -> list[Step]:
        arms = tuple(
            Arm(each.lineno, self.file.text(each), tuple(self.expression(each))) for each in node.args
        )
        words = argument_words(self.file.syntax.source, node)
        own = CallStep(node.lineno, node.col_offset, callee(node.func), words, result, awaited)
        return [ParallelStep(node.lineno, callee(node.func), arms), own]

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> list[Step]:
        inner: list[Step] = []
        values = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        body = self.expressions(values)
        for each in reversed(node.generators):
            header = f"for {self.file.text(each.target)} in {self.file.text(each.iter)}"
            repeated = [*self.expressions(each.ifs), *body]
            is_async = bool(each.is_async)
            inner = _loop(node.lineno, header, repeated, is_comprehension=True, is_async=is_async)
            body = [*self.expression(each.iter), *inner]
        return body

    def short_circuit(self, node: ast.BoolOp) -> list[Step]:
        found = self.expression(node.values[0])
        rest = self.expressions(node.values[1:])
        if rest:
            first = self.file.text(node.values[0])
            condition = first if isinstance(node.op, ast.And) else f"not ({first})"
            found.append(BranchStep(node.lineno, (Arm(node.lineno, condition, tuple(rest)),), "expression"))
        return found


def _loop(
    line: int, header: str, body: list[Step], *, is_comprehension: bool = False, is_async: bool = False
) -> list[Step]:
    return [LoopStep(line, header, tuple(body), is_comprehension, is_async)] if body else []
