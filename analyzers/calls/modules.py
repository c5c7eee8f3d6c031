"""The files of a repository and an import in, the file that is meant out."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property

from forwardbook.analyzers.calls.files import FileNames
from forwardbook.analyzers.calls.nearness import shared_folders
from forwardbook.analyzers.calls.values import ModuleValue
from forwardbook.analyzers.index.facts import FileFacts, Import


class Modules:
    """The modules of a repository by dotted name; a file's names are listed when it is first asked for."""

    def __init__(self, files: Mapping[str, FileFacts]) -> None:
        self.files = files
        self._names: dict[str, FileNames] = {}
        self.find = cache(self._find)

    @cached_property
    def by_name(self) -> dict[str, list[str]]:
        """The paths of the Python files by the module's dotted name; a stub only where it is alone."""
        found: dict[str, list[str]] = {}
        for path, facts in sorted(self.files.items()):
            if facts.language == "python" and facts.module:
                found.setdefault(facts.module, []).append(path)
        return {
            name: [path for path in paths if not path.endswith(".pyi")] or paths
            for name, paths in found.items()
        }

    @cached_property
    def packages(self) -> frozenset[str]:
        """The dotted names that some module's name begins with."""
        return frozenset(name[:end] for name in self.by_name for end in range(len(name)) if name[end] == ".")

    def names(self, path: str) -> FileNames:
        """What is bound in a file."""
        found = self._names.get(path)
        if found is None:
            found = self._names[path] = FileNames(self.files[path])
        return found

    def _find(self, dotted: str, near: str) -> ModuleValue | None:
        """The module of this name, of several the one nearest to a file; a neighbour where no package is."""
        paths = self.by_name.get(dotted)
        if paths:
            return ModuleValue(
                dotted, max(paths, key=lambda path: (shared_folders(path, near), path == near))
            )
        if dotted in self.packages:
            return ModuleValue(dotted, "")
        folder = near.rpartition("/")[0]
        prefix = f"{folder}/" if folder else ""
        if f"{prefix}__init__.py" in self.files:
            return None
        neighbour = prefix + dotted.replace(".", "/")
        for path in (f"{neighbour}.py", f"{neighbour}/__init__.py"):
            if path in self.files and path != near:
                return ModuleValue(self.files[path].module or dotted, path)
        return None

    def meant(self, path: str, found: Import) -> str | None:
        """The dotted name of the module that an import names, None where it leaves the package."""
        if not found.level:
            return found.module
        parts = self.files[path].module.split(".")
        if path.rpartition("/")[2] not in ("__init__.py", "__init__.pyi"):
            parts = parts[:-1]
        climb = found.level - 1
        if climb > len(parts) or (climb and climb == len(parts)):
            return None
        parts = parts[: len(parts) - climb]
        return ".".join([*parts, found.module] if found.module else parts)

    def imported(self, path: str, found: Import) -> tuple[str, ...]:
        """The files of the repository that one import statement reads, packages on the way left out."""
        dotted = self.meant(path, found)
        if not dotted:
            return ()
        module = self.find(dotted, path)
        if found.name and found.name != "*":
            inner = self.find(f"{dotted}.{found.name}", path) if module is not None else None
            if (
                inner is not None
                and inner.path
                and not (module and module.path and self._binds(module, found))
            ):
                return (inner.path,)
        return (module.path,) if module is not None and module.path and module.path != path else ()

    def _binds(self, module: ModuleValue, found: Import) -> bool:
        names = self.names(module.path)
        if found.name in names.definitions or found.name in names.constants:
            return True
        return any(
            one.name or one.alias for one in names.imports.get("", {}).get(found.name, ())
        ) and module.path not in self._own_submodules(module, found)

    def _own_submodules(self, module: ModuleValue, found: Import) -> tuple[str, ...]:
        """The package itself, where its only binding of the name is its import of its own submodule."""
        bindings = self.names(module.path).imports.get("", {}).get(found.name, ())
        own = all(not one.alias and self.meant(module.path, one) == module.dotted for one in bindings)
        return (module.path,) if own else ()
