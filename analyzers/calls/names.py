"""A scope and a name in, what the name stands for out, by Python's own rules of scope."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Final

from forwardbook.analyzers.calls.containers import entered, item, subscript
from forwardbook.analyzers.calls.values import (
    NOTHING,
    ClassValue,
    ContainerValue,
    FunctionValue,
    InstanceValue,
    ModuleValue,
    OutsideValue,
    Place,
    Values,
    one,
    union,
    unknown,
)
from forwardbook.analyzers.index.facts import Attribute, Definition, Import, Parameter

if TYPE_CHECKING:
    from forwardbook.analyzers.calls.resolver import Resolver

_BUILTINS: Final = frozenset(dir(builtins))
_ON_THE_CLASS: Final = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})


def name_in(resolver: Resolver, scope: Place, name: str) -> Values:
    """What a name stands for in a scope: its own binding, or that of the scopes around, or a builtin."""
    file = resolver.file(scope.path)
    start = scope.qualname
    for qualname in file.around(start):
        if qualname != start and qualname and file.is_class(qualname):
            continue
        found = resolver.local(Place(scope.path, qualname), name)
        if found is not None:
            return found
    starred = _from_wildcards(resolver, scope.path, name)
    if starred is not None:
        return starred
    if name in _BUILTINS:
        return one(OutsideValue(f"builtins.{name}"))
    if name in ("__class__",) and start:
        return unknown("`__class__` is not followed")
    return unknown(f"`{name}` is bound nowhere in the file")


def binds(resolver: Resolver, scope: Place, name: str) -> bool:
    """Whether a scope itself binds a name."""
    file = resolver.file(scope.path)
    prefix = f"{scope.qualname}." if scope.qualname else ""
    if prefix + name in file.definitions or name in file.imports.get(scope.qualname, ()):
        return True
    if not scope.qualname:
        return name in file.constants or any(one.name == name for one in file.facts.inner)
    return any(
        any(found.name == name for found in group)
        for definition in file.definitions.get(scope.qualname, ())
        for group in (definition.parameters, definition.locals, definition.inner)
    ) or (file.is_class(scope.qualname) and name in _class_level(resolver, scope))


def _class_level(resolver: Resolver, scope: Place) -> dict[str, Attribute]:
    definition = resolver.definition(scope)
    return resolver.file(scope.path).class_level(definition) if definition else {}


def bound_in(resolver: Resolver, scope: Place, name: str) -> Values:
    """What a name that a scope itself binds stands for: all its bindings there together."""
    file = resolver.file(scope.path)
    prefix = f"{scope.qualname}." if scope.qualname else ""
    parts: list[Values] = []
    imports = file.imports.get(scope.qualname, {}).get(name, [])
    defined = file.definitions.get(prefix + name, [])
    if imports and defined and not any(found.guarded for found in imports) and not scope.qualname:
        if imports[-1].line > defined[-1].span.end:
            defined = []
        else:
            imports = []
    parts += [of_import(resolver, scope.path, found) for found in imports]
    if defined:
        parts.append(of_definition(Place(scope.path, prefix + name), defined))
    if not scope.qualname:
        if name in file.constants:
            parts.append(of_binding(resolver, scope, file.constants[name]))
        parts += [of_binding(resolver, scope, found) for found in file.facts.inner if found.name == name]
        return _registered(resolver, scope, name, union(parts))
    for definition in file.definitions[scope.qualname]:
        if definition.kind == "class":
            found = file.class_level(definition).get(name)
            parts += [of_binding(resolver, scope, found)] if found else []
        parts += _of_parameters(resolver, scope, definition, name)
        for group in (definition.locals, definition.inner):
            parts += [of_binding(resolver, scope, found) for found in group if found.name == name]
    return union(parts)


def _registered(resolver: Resolver, scope: Place, name: str, found: Values) -> Values:
    more = resolver.registries.items(Place(scope.path, name), "")
    return _with_items(found, more) if more.alternatives else found


def _with_items(found: Values, more: Values) -> Values:
    """A container of which registrations are the items."""
    kinds = [value for value in found.alternatives if isinstance(value, ContainerValue)]
    kind = kinds[0].kind if kinds else "mapping"
    dotted = kinds[0].dotted if kinds else "builtins.dict"
    items = (unknown("a key of a registry"), more) if kind == "mapping" else (more,)
    return one(ContainerValue(kind if kind == "mapping" else "sequence", dotted, items))


def of_definition(place: Place, defined: list[Definition]) -> Values:
    """The class or function that a definition makes."""
    return one(ClassValue(place) if defined[-1].kind == "class" else FunctionValue(place))


def of_import(resolver: Resolver, path: str, found: Import) -> Values:
    """What an import binds its name to."""
    modules = resolver.modules
    dotted = modules.meant(path, found)
    if dotted is None:
        return unknown(f"the import at line {found.line} leads out of its package")
    if not found.name:
        name = dotted if found.alias else dotted.partition(".")[0]
        module = modules.find(name, path)
        return one(module or OutsideValue(name))
    module = modules.find(dotted, path)
    if module is None:
        if found.level and not modules.files[path].module:
            return unknown(f"the package of `{found.name}` is not known")
        return one(OutsideValue(f"{dotted}.{found.name}"))
    return module_member(resolver, module, found.name, path)


def module_member(resolver: Resolver, module: ModuleValue, name: str, importer: str = "") -> Values:
    """What a name of a module stands for: what the module binds, or a module inside it.

    `importer` is the file of an import statement: a package that imports out of itself means
    what is inside it.
    """
    submodule = resolver.modules.find(f"{module.dotted}.{name}", module.path or importer)
    inner = one(submodule) if submodule is not None else None
    if module.path and module.path != importer:
        found = resolver.local(Place(module.path, ""), name)
        if found is None:
            found = _from_wildcards(resolver, module.path, name)
            if inner is not None and (found is None or not found.alternatives):
                found = inner
        if found is not None and (found.alternatives or found.reason or inner is None):
            return found
    elif module.path and inner is None:
        return resolver.local(Place(module.path, ""), name) or _missing(module, name)
    if inner is not None:
        return inner
    if module.path and resolver.local(Place(module.path, ""), "__getattr__") is not None:
        return unknown(f"`{module.dotted}` makes its names when asked")
    return _missing(module, name)


def _missing(module: ModuleValue, name: str) -> Values:
    return unknown(f"`{module.dotted}` has no `{name}`")


def _from_wildcards(resolver: Resolver, path: str, name: str) -> Values | None:
    """What a wildcard import of a file gives for a name, None where none does."""
    outside = ""
    for found in reversed(resolver.file(path).wildcards.get("", [])):
        dotted = resolver.modules.meant(path, found)
        module = resolver.modules.find(dotted, path) if dotted else None
        if module is None:
            outside = outside or dotted or found.module
        elif module.path and module.path != path and _exports(resolver, module.path, name):
            values = resolver.name(Place(module.path, ""), name)
            if values.alternatives and not _is_builtin(values, name):
                return values
    if outside and name not in _BUILTINS:
        return unknown(f"`{name}` may come from `{outside}` by a wildcard import")
    return None


def _is_builtin(values: Values, name: str) -> bool:
    return values.alternatives == (OutsideValue(f"builtins.{name}"),)


def _exports(resolver: Resolver, path: str, name: str) -> bool:
    exports = resolver.file(path).facts.exports
    return name in exports if exports else not name.startswith("_")


def of_binding(resolver: Resolver, scope: Place, bound: Attribute) -> Values:
    """What an annotated or assigned name stands for: its annotation, or all that it is assigned."""
    if bound.annotation and bound.annotation not in ("type", "TypeAlias"):
        declared = resolver.annotation(scope, bound.annotation)
        if declared.alternatives:
            return declared
    return union(of_value(resolver, scope, text, bound.name) for text in (bound.value, *bound.also))


def of_value(resolver: Resolver, scope: Place, text: str, name: str) -> Values:
    """What a value as the facts write it stands for: an expression, `for X` or `with X`."""
    if not text:
        return unknown(f"how `{name}` is bound is not followed")
    if text.startswith("["):
        number, found, rest = text[1:].partition("] of ")
        if found and number.isdigit():
            return subscript(resolver, of_value(resolver, scope, rest, name), int(number))
    if text.startswith("for "):
        return item(resolver, resolver.text(scope, text[4:]))
    if text.startswith("with "):
        return entered(resolver, resolver.text(scope, text[5:]))
    return resolver.text(scope, text)


def _of_parameters(resolver: Resolver, scope: Place, definition: Definition, name: str) -> list[Values]:
    for number, parameter in enumerate(definition.parameters):
        if parameter.name == name:
            if not number:
                receiver = first_parameter(resolver, scope, definition)
                if receiver is not None:
                    return [receiver]
            return [_of_parameter(resolver, scope, parameter)]
    return []


def first_parameter(resolver: Resolver, scope: Place, definition: Definition) -> Values | None:
    """The instance or class that the first parameter of a method is, None for any other function."""
    file = resolver.file(scope.path)
    if not definition.parent or not file.is_class(definition.parent):
        return None
    owner = Place(scope.path, definition.parent)
    if "staticmethod" in definition.decorators:
        return None
    if "classmethod" in definition.decorators or definition.name in _ON_THE_CLASS:
        return one(ClassValue(owner, exact=False))
    if definition.parameters and definition.parameters[0].kind in ("", "/"):
        return one(InstanceValue(owner, exact=False))
    return None


def _of_parameter(resolver: Resolver, scope: Place, parameter: Parameter) -> Values:
    if not parameter.annotation:
        return unknown(f"parameter `{parameter.name}` has no annotation")
    outer = Place(scope.path, scope.qualname.rpartition(".")[0])
    found = resolver.annotation(outer, parameter.annotation)
    if parameter.kind == "*":
        return one(ContainerValue("sequence", "builtins.tuple", (found,)))
    if parameter.kind == "**":
        return one(ContainerValue("mapping", "builtins.dict", (NOTHING, found)))
    return found
