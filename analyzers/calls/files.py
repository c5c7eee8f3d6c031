"""The facts of one file in, its names by scope out: definitions, imports and module-level names."""

from __future__ import annotations

from collections.abc import Iterator

from forwardbook.analyzers.index.facts import Attribute, Definition, FileFacts, Import


class FileNames:
    """What is bound where in one file."""

    def __init__(self, facts: FileFacts) -> None:
        self.facts = facts
        self.definitions: dict[str, list[Definition]] = {}
        for definition in facts.definitions:
            self.definitions.setdefault(definition.qualname, []).append(definition)
        self.constants = {constant.name: constant for constant in facts.constants}
        self.imports: dict[str, dict[str, list[Import]]] = {}
        self.wildcards: dict[str, list[Import]] = {}
        for found in facts.imports:
            scope = self.scope_at(found.line) if found.guarded else ""
            if found.name == "*":
                self.wildcards.setdefault(scope, []).append(found)
            else:
                name = bound_name(found)
                self.imports.setdefault(scope, {}).setdefault(name, []).append(found)

    def scope_at(self, line: int) -> str:
        """The qualname of the innermost definition whose body holds a line, empty for the module."""
        best = ""
        width = 1 << 60
        for definition in self.facts.definitions:
            size = definition.span.end - definition.span.start
            if line in definition.span and size <= width:
                best, width = definition.qualname, size
        return best

    def definition(self, qualname: str) -> Definition | None:
        """The definition of a name: of several the one that runs (no overload, no setter)."""
        found = self.definitions.get(qualname)
        if not found:
            return None
        if len(found) == 1:
            return found[0]
        real = [one for one in found if not any(map(_is_secondary, one.decorators))]
        if not real:
            return found[-1]
        return real[-1] if real[-1].kind != "property" else real[0]

    def is_class(self, qualname: str) -> bool:
        """Whether a name is a class here."""
        found = self.definitions.get(qualname)
        return found is not None and found[-1].kind in ("class", "struct", "union", "enum")

    def around(self, qualname: str) -> Iterator[str]:
        """A scope and the ones around it, innermost first, the module (empty) last."""
        while qualname:
            yield qualname
            found = self.definitions.get(qualname)
            qualname = found[0].parent if found else qualname.rpartition(".")[0]
        yield ""

    def class_level(self, owner: Definition) -> dict[str, Attribute]:
        """The attributes of a class that its own body binds, not its methods."""
        inner = [one.decorated for one in self.facts.definitions if one.parent == owner.qualname]
        return {
            found.name: found
            for found in owner.attributes
            if found.line in owner.span and not any(found.line in span for span in inner)
        }


def bound_name(found: Import) -> str:
    """The name that an import binds."""
    if found.alias:
        return found.alias
    return found.name or found.module.partition(".")[0]


def _is_secondary(decorator: str) -> bool:
    name = decorator.partition("(")[0].rpartition(".")[2]
    return name in ("setter", "deleter", "overload")
