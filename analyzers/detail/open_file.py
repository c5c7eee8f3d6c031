"""The value that every reader of one file takes: its text, tree, scopes and the meaning of its names."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property

from forwardbook.analyzers.detail.names import Names, argument, dotted, last, string
from forwardbook.analyzers.detail.scopes import Scope, Scopes, scopes
from forwardbook.analyzers.detail.syntax import Function, Syntax, clipped
from forwardbook.analyzers.index.facts import FileFacts


@dataclass(frozen=True, eq=False)
class OpenFile:
    """One file that is being read."""

    syntax: Syntax
    scopes: Scopes
    names: Names
    facts: FileFacts

    def text(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword | ast.pattern) -> str:
        """The node as written, on one line."""
        return self.syntax.text(node)

    def condition(self, node: ast.AST) -> str:
        """The text of the nearest branch or handler around a node, up to its function; empty outside any."""
        inner = node
        for above in self.scopes.above(node):
            if isinstance(above, ast.If):
                if inner in above.body:
                    return self.text(above.test)
                if inner in above.orelse:
                    return f"not ({self.text(above.test)})"
            elif isinstance(above, ast.While) and inner in above.body:
                return f"while {self.text(above.test)}"
            elif isinstance(above, ast.ExceptHandler) and inner is not above.type:
                return f"except {self.text(above.type)}" if above.type else "except"
            elif isinstance(above, ast.match_case) and inner in above.body:
                return self._case(above)
            elif isinstance(above, ast.For | ast.AsyncFor | ast.While) and inner in above.orelse:
                return clipped(f"{self.syntax.first_line(above)} ended without break")
            elif isinstance(above, ast.Try) and inner in above.orelse:
                return "no exception"
            inner = above
        return ""

    def _case(self, case: ast.match_case) -> str:
        match = self.scopes.parents[case]
        subject = f"{self.text(match.subject)}: " if isinstance(match, ast.Match) else ""
        guard = f" if {self.text(case.guard)}" if case.guard else ""
        return f"match {subject}case {self.text(case.pattern)}{guard}"

    @cached_property
    def functions(self) -> tuple[Scope, ...]:
        """The scopes of functions and methods, in source order."""
        return tuple(each for each in self.scopes.every if isinstance(each.node, Function))

    @cached_property
    def classes(self) -> tuple[Scope, ...]:
        """The scopes of classes, in source order."""
        return tuple(each for each in self.scopes.every if each.is_class)

    @cached_property
    def process_contexts(self) -> dict[str, str]:
        """The names bound to `multiprocessing.get_context(method)`, and the method."""
        found: dict[str, str] = {}
        if not self.names.packages & {"multiprocessing", "torch", "multiprocess"}:
            return found
        for scope in self.scopes.every:
            for node in scope.each(ast.Assign):
                if isinstance(node.value, ast.Call) and last(node.value.func) == "get_context":
                    method = argument(node.value, 0, "method")
                    words = string(method) or (self.text(method) if method is not None else "default")
                    found.update({dotted(target): words for target in node.targets if dotted(target)})
        return found

    @cached_property
    def global_names(self) -> frozenset[str]:
        """The names bound at module level, imports aside."""
        return self.scopes.module.stored


def opened(syntax: Syntax, facts: FileFacts) -> OpenFile:
    """A file whose scopes and names are ready to be asked."""
    return OpenFile(syntax, scopes(syntax.tree), Names(facts), facts)
