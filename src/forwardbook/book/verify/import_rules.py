"""Files or folders in; whether one imports the other, and on which lines, out."""

from __future__ import annotations

from forwardbook.book.verify.claims import Verdict, contradicted, supported
from forwardbook.book.verify.context import Context
from forwardbook.book.verify.edges import End, some
from forwardbook.book.verify.inline import Place


def folder_imports(source: str, target: str, context: Context) -> Verdict:
    """Whether a file below one folder imports a file below another one."""

    def is_below(path: str, folder: str) -> bool:
        return folder == "." or path.startswith(f"{folder}/")

    for path in context.sources.files:
        if is_below(path, source):
            for other in context.sources.graph.imports_of(path):
                if is_below(other, target) and not is_below(path, target):
                    return supported(path)
    return contradicted(f"no file of {source} imports one of {target}")


def imports(a: End, b: End, context: Context, where: Place | None) -> Verdict:
    """Whether a file imports the other, at that line."""
    files = dict.fromkeys(target.path for target in a.targets if target.is_file)
    if not files:
        files = dict.fromkeys(target.path for target in a.targets)
    path = next(iter(files))
    lines = [line for one in files for line in import_lines(one, b, context)]
    if not lines:
        names = sorted({one.module for each in files for one in context.sources.files[each].imports})
        return contradicted(f"{path} imports {some(names)}", path)
    if where is not None and lines != [0] and not any(where.start <= line <= where.last for line in lines):
        return contradicted(f"{path} imports it at line {lines[0]}", path)
    return supported(path)


def import_lines(path: str, b: End, context: Context) -> list[int]:
    """The lines where a file imports the other end; `[0]` where only the graph knows that it does."""
    lines = []
    graph, facts = context.sources.graph, context.sources.files[path]
    for one in facts.imports:
        whole = f"{one.module}.{one.name}" if one.name and one.module else one.module or one.name
        outside = not one.level and (b.name in (one.module, whole) or one.module.startswith(b.name + "."))
        header = facts.language in ("c", "cpp", "cuda") and any(
            t.path == one.module or t.path.endswith("/" + one.module) for t in b.targets
        )
        if (
            outside
            or header
            or (one.name and one.name == b.last and _same(path, one.alias or one.name, b, context))
        ):
            lines.append(one.line)
    if not lines and {one.path for one in b.targets if one.is_file} & set(graph.imports_of(path)):
        return [0]
    return lines


def _same(path: str, name: str, b: End, context: Context) -> bool:
    found = context.sources.graph.resolve(path, name)
    return not b.targets or found is None or any(found == (one.path, one.qualname) for one in b.targets)
