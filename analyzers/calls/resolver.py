"""Facts of all files in, what a name or an expression stands for somewhere out; asked lazily, remembered."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Mapping
from typing import TypeVar

from forwardbook.analyzers.calls import attributes, classes, declared, expressions, names, results
from forwardbook.analyzers.calls.files import FileNames
from forwardbook.analyzers.calls.modules import Modules
from forwardbook.analyzers.calls.registries import Registries
from forwardbook.analyzers.calls.values import NOTHING, Place, Value, Values, unknown
from forwardbook.analyzers.index.facts import Attribute, Definition, FileFacts

T = TypeVar("T")
DEEP = 60  # a chain of questions longer than this is given up
NESTED = 50  # an expression nested deeper than this is not followed


class Resolver:
    """The one that all rules ask; each answer is computed once."""

    def __init__(self, files: Mapping[str, FileFacts], *, registries: bool = True) -> None:
        self.modules = Modules(files)
        self.hierarchy = classes.Hierarchy(self)
        plain = Resolver(files, registries=False) if registries else self
        self.registries = Registries(plain, empty=not registries)
        self._answers: dict[Hashable, Values] = {}
        self._provisional: dict[Hashable, Values] = {}
        self._heads: dict[Hashable, tuple[Values, frozenset[Hashable]]] = {}
        self._active: dict[Hashable, None] = {}
        self._cut: set[Hashable] = set()
        self._trees: dict[str, ast.expr | None] = {}

    def file(self, path: str) -> FileNames:
        """The names of a file."""
        return self.modules.names(path)

    def definition(self, place: Place) -> Definition | None:
        """The definition at a place."""
        if place.path not in self.modules.files:
            return None
        return self.file(place.path).definition(place.qualname)

    def name(self, scope: Place, name: str) -> Values:
        """What a name stands for in a scope."""
        return self._once(("name", scope, name), lambda: names.name_in(self, scope, name))

    def local(self, scope: Place, name: str) -> Values | None:
        """What a name bound in this very scope stands for, None where it is not bound in it."""
        if not names.binds(self, scope, name):
            return None
        return self._once(("local", scope, name), lambda: names.bound_in(self, scope, name))

    def binding(self, scope: Place, bound: Attribute) -> Values:
        """What an annotated or assigned name stands for."""
        return names.of_binding(self, scope, bound)

    def text(self, scope: Place, text: str) -> Values:
        """What an expression stands for, given as source text."""
        tree = self.tree(text)
        return self.expression(scope, tree) if tree is not None else unknown(f"`{text[:40]}` is not followed")

    def expression(self, scope: Place, node: ast.expr) -> Values:
        """What an expression stands for."""
        return expressions.of(self, scope, node)

    def annotation(self, scope: Place, text: str) -> Values:
        """The values that an annotation allows."""
        return self._once(("annotation", scope, text), lambda: declared.of_text(self, scope, text))

    def annotation_tree(self, scope: Place, node: ast.expr) -> Values:
        """The values that an annotation allows, given as a tree."""
        return declared.of(self, scope, node)

    def member(self, value: Value, name: str) -> Values:
        """What an attribute of a value stands for; of a property, its result."""
        return self._once(("member", value, name), lambda: attributes.member(self, value, name))

    def found_member(self, value: Value, name: str) -> Values:
        """The attribute itself: a property as the function that it is."""
        return self._once(("found", value, name), lambda: attributes.found(self, value, name))

    def attribute_of_class(self, owner: Place, name: str) -> Values:
        """What the methods and the body of a class bind an attribute to."""
        return self._once(("attribute", owner, name), lambda: attributes.bound(self, owner, name))

    def result(self, value: Value) -> Values:
        """What calling a value gives."""
        return self._once(("result", value), lambda: results.of(self, value))

    def tree(self, text: str) -> ast.expr | None:
        """The tree of an expression given as text, None where it is cut or broken."""
        if text not in self._trees:
            try:
                tree = ast.parse(f"({text})".replace("…", "..."), mode="eval").body
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                self._trees[text] = None
            else:
                self._trees[text] = tree if len(text) < 2 * NESTED or _is_shallow(tree) else None
        return self._trees[text]

    def settled(self, answer: Callable[[], T]) -> tuple[T, bool]:
        """What an answer is, and whether it depends on no question that is still open."""
        outer, self._cut = self._cut, set()
        try:
            found = answer()
            return found, not self._cut
        finally:
            self._cut |= outer

    def cut(self, key: Hashable) -> None:
        """Note that an answer was given as nothing because its question is open."""
        self._cut.add(key)

    def close(self, key: Hashable) -> None:
        """Note that a question is answered."""
        self._cut.discard(key)

    def _once(self, key: Hashable, answer: Callable[[], Values]) -> Values:
        """An answer, remembered; a question that depends on itself adds nothing to its own answer.

        What was computed on the way of such a question holds only until that is answered, so that no answer
        depends on what was asked before.
        """
        known = self._answers.get(key) or self._provisional.get(key)
        if known is not None:
            return known
        if key in self._active:
            self._cut.add(key)
            return NOTHING
        head = self._heads.get(key)
        if head is not None and self._active.keys().isdisjoint(head[1]):
            return head[0]
        if len(self._active) > DEEP:
            self._cut.update(self._active)
            return unknown("the chain of names is too long")
        return self._computed(key, answer)

    def _computed(self, key: Hashable, answer: Callable[[], Values]) -> Values:
        outer, self._cut = self._cut, set()
        before = len(self._provisional)
        self._active[key] = None
        try:
            found = answer()
        finally:
            del self._active[key]
            cyclic = key in self._cut
            self._cut.discard(key)
            waiting = bool(self._cut)
            self._cut |= outer
        if waiting:
            self._provisional[key] = found
        elif cyclic:
            members = list(self._provisional)[before:]
            self._heads[key] = (found, frozenset(members))
            for member in members:
                del self._provisional[member]
        else:
            self._answers[key] = found
        return found


def _is_shallow(tree: ast.expr) -> bool:
    """Whether an expression can be followed without nesting too deep."""
    level: list[ast.AST] = [tree]
    for _ in range(NESTED):
        level = [inner for node in level for inner in ast.iter_child_nodes(node)]
        if not level:
            return True
    return False
