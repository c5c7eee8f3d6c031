"""A back-quoted text in; whether the file, name or member that it says exists out."""

from __future__ import annotations

import difflib
import re
from typing import Final

from forwardbook.book.verify.claims import Kind, Verdict, contradicted, supported, unverified
from forwardbook.book.verify.context import Context
from forwardbook.book.verify.names import Names, Target, clean, constants_of
from forwardbook.book.verify.words import EVERYWHERE

SOURCE_SUFFIXES: Final = frozenset({"py", "pyi", "cu", "cuh", "cpp", "cc", "cxx", "c", "h", "hpp", "hh"})
_FILE_SUFFIXES: Final = SOURCE_SUFFIXES | frozenset(
    {"md", "toml", "yaml", "yml", "json", "cfg", "ini", "txt", "sh", "rst"}
)
_CALL = re.compile(r"^[\w.:~]+\(.*\)$", re.DOTALL)
_DOTTED = re.compile(r"^@?~?[A-Za-z_]\w*(?:(?:\.|::)~?[A-Za-z_]\w*)*(?:\(\))?$")
_PATH = re.compile(r"^[\w@+-][\w@+. -]*(?:/[\w@+. -]+)*/?$")
_CAMEL = re.compile(r"[a-z0-9][A-Z]|^[A-Z][a-z0-9]+[A-Z]")
_SPECIAL = re.compile(r"__\w+__$")  # members that classes of other libraries have without naming them here
_CLOSE = 0.8


def check_symbol(text: str, context: Context, near: tuple[str, ...]) -> tuple[Kind, Verdict] | None:
    """The kind of claim that a code span is, and its verdict; None where it claims nothing."""
    if _looks_like_path(text) and not _is_of_class(text, context, near):
        verdict = check_path(text, context)
        return None if verdict is None else ("path", verdict)
    if _CALL.match(text) and not _DOTTED.match(text):
        text = text[: text.index("(")] + "()"
    if not _DOTTED.match(text):
        return None
    name = clean(text)
    if "." in name:
        return _check_dotted(name, context, near, "::" in text)
    verdict = _check_word(name, text, context, near)
    return None if verdict is None else ("symbol", verdict)


def _is_of_class(text: str, context: Context, near: tuple[str, ...]) -> bool:
    """Whether `Params.h` is the member of a class rather than a file."""
    head = text.rpartition(".")[0]
    return _DOTTED.match(text) is not None and any(
        one.is_class for one in context.names.targets(head, near)
    )


def looks_like_code(text: str) -> bool:
    """Whether a name can hardly be a word of prose: it has `_`, `.`, inner capitals, or is called."""
    return "_" in text or "." in text or text.endswith("()") or _CAMEL.search(text) is not None


def _looks_like_path(text: str) -> bool:
    suffix = text.rpartition(".")[2]
    return ("/" in text or suffix in _FILE_SUFFIXES) and text != "." and _PATH.match(text) is not None


def check_path(text: str, context: Context) -> Verdict | None:
    """Whether a file or folder exists; None where the text may be something else."""
    sources, path = context.sources, text.removeprefix("./")
    folder = path.rstrip("/")
    if context.names.files_named(path):
        return supported(path)
    if folder in sources.folders or any(one.endswith("/" + folder) for one in sources.folders):
        return supported()
    if path in sources.pages or any(one.endswith("/" + path) for one in sources.pages):
        return supported()
    if sources.read(path) is not None or (sources.exists is not None and sources.exists(folder)):
        return supported(path)
    if "." in path and context.names.targets(path):  # a dotted name whose last part reads like a suffix
        return supported()
    above, _, last = folder.rpartition("/")
    is_source = last.rpartition(".")[2] in SOURCE_SUFFIXES and last.count(".") > 0
    if above in sources.folders and is_source:
        near = [one for one in sources.files if one.startswith(above + "/")]
        return contradicted(f"there is no {path}" + _suggest(path, near))
    if is_source and context.strict:
        return contradicted(f"there is no {path}" + _suggest(path, list(sources.files)))
    return unverified(f"there is no {path} under the root") if is_source or "/" in text else None


def _check_word(name: str, text: str, context: Context, near: tuple[str, ...]) -> Verdict | None:
    names = context.names
    if name in EVERYWHERE or name in names.known:
        return supported()
    if not looks_like_code(text) and not context.strict:
        return None
    if names.is_word(name, near):
        return supported()
    return _nowhere(name, context)


def _nowhere(name: str, context: Context) -> Verdict:
    close = _suggest(name, context.names.known)
    if context.strict or (close and len(name) > 5 and not name.isupper()):
        return contradicted(f"{name} is nowhere in the sources{close}")
    return unverified(f"{name} is nowhere in the sources{close}")


def _suggest(name: str, among: object) -> str:
    first = name[:1].lower()
    names = (
        [one for one in among if one[:1].lower() == first] if isinstance(among, (frozenset, list)) else []
    )
    found = difflib.get_close_matches(name, names, 1, _CLOSE)
    return f"; did it mean {found[0]}?" if found else ""


def _check_dotted(
    name: str, context: Context, near: tuple[str, ...], scoped: bool
) -> tuple[Kind, Verdict]:
    names = context.names
    head, _, last = name.rpartition(".")
    targets = names.targets(name, near)
    owners = names.targets(head, near)
    classes = [one for one in owners if one.is_class]
    if targets:
        return ("member" if classes else "symbol"), supported(targets[0].path)
    if classes:
        return "member", check_member(classes, last, context, scoped)
    if _is_local(name.partition(".")[0], context, near):
        return "symbol", _check_outside(name, context, near)
    files = tuple(one.path for one in owners if one.is_file)
    if files:
        return "symbol", _check_global(files, name, last, context)
    if head in names.packages:
        if name in names.packages:
            return "symbol", supported()
        return "symbol", contradicted(f"the package {head} has no {last}" + _suggest(name, names.packages))
    return "symbol", _check_outside(name, context, near)


def _is_local(head: str, context: Context, near: tuple[str, ...]) -> bool:
    """Whether the nearest file binds a name itself, to no module of the repository: then it is that value."""
    names = context.names
    for path in near:
        if head in names.bound_in(path):
            return names.sources.graph.resolve(path, head) is None
    return False


def check_member(classes: list[Target], last: str, context: Context, scoped: bool = False) -> Verdict:
    """Whether one of the classes has a member; `scoped` where it is written as in C++ or Rust, `A::b`."""
    names = context.names
    found = [names.members(one) for one in classes]
    owner = classes[0]
    if any(last in members.names for members in found):
        return supported(owner.path)
    if scoped and context.sources.files[owner.path].language == "python":
        return unverified(f"{owner.qualname} in {owner.path} has no {last}", owner.path)
    if all(members.complete for members in found):
        close = _suggest(last, frozenset().union(*(members.names for members in found)))
        return contradicted(f"{owner.qualname} in {owner.path} has no {last}{close}", owner.path)
    if context.strict and not names.is_word(last, (owner.path,)):
        return contradicted(f"{last} is nowhere in the sources", owner.path)
    return unverified(f"{owner.qualname} has bases outside of the sources", owner.path)


def _check_global(files: tuple[str, ...], name: str, last: str, context: Context) -> Verdict:
    names, path = context.names, files[0]
    for one in files:
        if has_global(names, one, last) or name in names.packages or name in names.imported:
            return supported(one)
    facts = [context.sources.files[one] for one in files]
    open_ended = any(one.name == "*" for fact in facts for one in fact.imports)
    if open_ended or any(d.name == "__getattr__" for fact in facts for d in fact.definitions):
        if context.strict and not names.is_word(last, files):
            return contradicted(f"{last} is nowhere in the sources" + _suggest(last, names.known), path)
        return unverified(f"{path} takes names from elsewhere", path)
    inside = frozenset({d.name for fact in facts for d in fact.definitions})
    return contradicted(f"{path} has no {last}" + _suggest(last, inside), path)


def has_global(names: Names, path: str, name: str) -> bool:
    """Whether a file binds a name at its top level, by definition, assignment or import."""
    facts = names.sources.files[path]
    if names.defined_exactly(path, name) or constants_of(facts, name):
        return True
    if any(name in (one.alias or one.name or one.module.partition(".")[0],) for one in facts.imports):
        return True
    return names.sources.graph.resolve(path, name) is not None


def _check_outside(name: str, context: Context, near: tuple[str, ...]) -> Verdict:
    names = context.names
    parts = name.split(".")
    missing = [part for part in parts if not _SPECIAL.match(part) and not names.is_word(part, near)]
    root = parts[0] in names.outside or parts[0] in EVERYWHERE
    if not missing:
        if root or any(parts[0] in _aliases(names, path) for path in near):
            return supported()
        written = next((path for path in near if _is_written(name, path, context)), "")
        if written:
            return supported(written)
        elsewhere = next((path for path in near if _is_written(parts[0] + ".", path, context)), "")
        if context.strict and elsewhere:  # it does say what `parts[0]` is, and never that it has this
            return contradicted(f"{elsewhere} has no {name}", elsewhere)
        return unverified(f"nothing says what {parts[0]} is")
    if context.strict:
        return contradicted(f"{missing[0]} is nowhere in the sources" + _suggest(missing[0], names.known))
    return unverified(f"{missing[0]} is nowhere in the sources")


def _is_written(name: str, path: str, context: Context) -> bool:
    """Whether a dotted name stands in a file as it is written, with a dot, an arrow or as a scope."""
    data = context.sources.read(path) or b""
    forms = (re.escape(name).replace(r"\.", dot) for dot in (r"\.", "->", "::"))
    return any(re.search(rf"\b{form}".encode(), data) for form in forms)


def _aliases(names: Names, path: str) -> frozenset[str]:
    facts = names.sources.files.get(path)
    return frozenset(one.alias or one.name for one in facts.imports) if facts else frozenset()
