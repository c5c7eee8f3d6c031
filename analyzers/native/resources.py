"""Turns the calls and types of a native file into what it acquires, who owns that, where it is given back."""

from __future__ import annotations

import re
from collections.abc import Iterator

from forwardbook.analyzers.index.facts import Attribute, Definition, FileFacts
from forwardbook.analyzers.native.detail import Owner, Ownership, Resource, Special
from forwardbook.analyzers.native.masking import Masks
from forwardbook.analyzers.native.owned_calls import Owned, function_at, owned_calls, variable

_LIBRARIES = r"(?:cublas|cublasLt|cudnn|cusparse|cusolverDn|curand|cufft)"
# What acquires, the kind of what is acquired, what gives it back, and whether the call returns it.
_RULES: tuple[tuple[str, str, str, bool], ...] = (
    (
        r"(?:cuda|hip)Malloc(?:Async|Managed|Pitch|3D|FromPoolAsync)?",
        "device memory",
        r"\w+Free(?:Async)?",
        False,
    ),
    (r"cuMemAlloc\w*", "device memory", r"cuMemFree\w*", False),
    (
        r"(?:cuda|hip)(?:MallocHost|HostAlloc|HostMalloc)",
        "pinned host memory",
        r"\w+(?:FreeHost|HostFree)",
        False,
    ),
    (r"(?:cuda|hip)StreamCreate\w*", "stream", r"\w+StreamDestroy", False),
    (r"(?:cuda|hip)EventCreate\w*", "event", r"\w+EventDestroy", False),
    (r"cudaGraphCreate", "graph", r"cudaGraphDestroy", False),
    (r"cudaGraphInstantiate\w*", "executable graph", r"cudaGraphExecDestroy", False),
    (_LIBRARIES + r"Create\w*", "library handle", _LIBRARIES + r"Destroy\w*", False),
    (r"ncclCommInit\w*", "communicator", r"ncclCommDestroy", False),
    (r"(?:malloc|calloc|realloc|aligned_alloc|posix_memalign|strdup)", "heap memory", r"free", True),
    (r"(?:fopen|fdopen|popen|tmpfile)", "file", r"(?:fclose|pclose)", True),
    (r"dlopen", "shared library", r"dlclose", True),
    (r"mmap", "memory map", r"munmap", True),
    (r"(?:open|socket|shm_open)", "file descriptor", r"close", True),
    (r"pthread_mutex_lock", "lock", r"pthread_mutex_unlock", False),
)
_COMPILED = tuple(
    (re.compile(a + r"\Z"), kind, re.compile(b + r"\Z"), returns) for a, kind, b, returns in _RULES
)
_SMART = re.compile(
    r"\b(?:std::)?(?:unique|shared|weak|scoped|intrusive)_ptr\s*<|\bmake_(?:unique|shared)\s*<"
)
_LOCK = re.compile(r"\b(?:std::)?(?:lock_guard|unique_lock|scoped_lock|shared_lock)\b")
_GUARD = re.compile(r"\b(?:Optional)?(?:CUDA|Device|Stream)(?:Stream|Device)?Guard\b|\bTVMFFIStream\w*\b")
_CONTAINER = re.compile(r"\bstd::(?:vector|string|map|unordered_map|deque|list|array|function|optional)\b")
_STREAM_FILE = re.compile(r"\bstd::(?:i|o)?fstream\b")
_TENSOR = re.compile(
    r"(?:torch|at)::(?:empty|zeros|ones|full|rand|randn|arange|tensor|from_blob)(?:_like|_strided)?\Z"
)
_NEW = re.compile(rb"(?P<name>[A-Za-z_]\w*)\s*(?:=|\()\s*new\b(?!\s*\()\s*(?P<type>[\w:]+)")
_DELETE = re.compile(rb"\bdelete\b\s*(?:\[\s*\])?\s*(?:this->)?(?P<name>[A-Za-z_]\w*)")
_RELEASE = re.compile(
    r"(?:^|_)(?:free|release|destroy|close|unlock|reset|shutdown)|(?:Free|Destroy|Close|Release)(?:Async|Host)?\Z"
)


def resources_of(facts: FileFacts, masks: Masks) -> tuple[Resource, ...]:
    """Everything the file acquires, in the order of its lines."""
    calls = list(owned_calls(facts))
    found = [
        *_by_call(calls, facts, masks),
        *_by_new(facts, masks),
        *_by_type(facts),
        *_tensors(calls, masks),
    ]
    return tuple(sorted(found, key=lambda one: (one.line, one.name)))


def _by_call(calls: list[Owned], facts: FileFacts, masks: Masks) -> Iterator[Resource]:
    """What functions acquire, with the calls that give the same variable back."""
    for one in calls:
        for acquires, kind, releases, returns in _COMPILED:
            if not acquires.match(one.name) or (one.name == "open" and "." in one.call.target):
                continue
            name = _assigned(masks, one) if returns else variable(one.argument(0))
            lines = [
                other
                for other in calls
                if releases.match(other.name) and variable(other.argument(0)).rpartition(".")[2] == name
            ]
            owner = _ownership(lines, facts)
            released = tuple(sorted(other.call.line for other in lines))
            yield Resource(one.call.line, one.function, name, kind, one.call.target, owner, released)
            break


def _assigned(masks: Masks, one: Owned) -> str:
    """The variable that the value of a call goes to."""
    start = masks.line_starts[one.call.line - 1]
    before = masks.code[start : start + one.call.column].decode("utf-8", "replace")
    found = re.search(r"([A-Za-z_]\w*)\s*=\s*(?:\([^()]*\)|static_cast<[^>]*>\()?\s*\(?\s*\Z", before)
    return found[1] if found else ""


def _ownership(releases: list[Owned], facts: FileFacts) -> Ownership:
    """Who gives a thing back: a destructor, some other function, nobody in this file."""
    if any(one.around is not None and one.around.name.startswith("~") for one in releases):
        return "destructor"
    return "manual" if releases else "not released here"


def _by_new(facts: FileFacts, masks: Masks) -> Iterator[Resource]:
    """`name = new T` and the `delete name` that gives it back."""
    deleted: dict[bytes, list[int]] = {}
    for found in _DELETE.finditer(masks.flat):
        deleted.setdefault(found["name"], []).append(masks.line(found.start()))
    for found in _NEW.finditer(masks.flat):
        line = masks.line(found.start())
        around = function_at(facts, line)
        lines = deleted.get(found["name"], [])
        holders = [function_at(facts, each) for each in lines]
        ownership: Ownership = "manual" if lines else "not released here"
        if _SMART.search(masks.text(masks.line_starts[line - 1], found.end())):
            ownership = "smart pointer"
        elif any(one is not None and one.name.startswith("~") for one in holders):
            ownership = "destructor"
        name, kind = (found[key].decode("utf-8", "replace") for key in ("name", "type"))
        function = around.qualname if around is not None else ""
        yield Resource(line, function, name, "heap memory", f"new {kind}", ownership, tuple(lines))


def _by_type(facts: FileFacts) -> Iterator[Resource]:
    """Local names and members whose type owns what it holds."""
    for definition in facts.definitions:
        for one in (*definition.locals, *definition.attributes):
            kind = _owning_kind(one)
            if kind:
                ownership: Ownership = "smart pointer" if kind == "smart pointer" else "destructor"
                yield Resource(one.line, definition.qualname, one.name, kind, one.annotation, ownership)


def _owning_kind(one: Attribute) -> str:
    """The kind of thing that a variable owns by its type, or nothing."""
    if _SMART.search(one.annotation) or (one.annotation.startswith("auto") and _SMART.search(one.value)):
        return "smart pointer"
    for pattern, kind in ((_LOCK, "lock"), (_GUARD, "device guard"), (_STREAM_FILE, "file")):
        if pattern.search(one.annotation):
            return kind
    return ""


def _tensors(calls: list[Owned], masks: Masks) -> Iterator[Resource]:
    """Tensors that are made, which count their references."""
    for one in calls:
        if _TENSOR.match(one.call.target):
            name = _assigned(masks, one)
            yield Resource(one.call.line, one.function, name, "tensor", one.call.target, "reference counted")


def owners_of(facts: FileFacts) -> tuple[Owner, ...]:
    """The classes that own: with a destructor that releases, or with members that do."""
    return tuple(
        owner
        for one in facts.definitions
        if one.kind in ("class", "struct") and (owner := _owner(one, facts)) is not None
    )


def _owner(one: Definition, facts: FileFacts) -> Owner | None:
    """What a class owns, or nothing."""
    members = [each for each in facts.definitions if each.parent == one.qualname]
    destructors = [each for each in members if each.name.startswith("~")]
    releases = [call.target for each in destructors for call in each.calls if _RELEASE.search(call.target)]
    released = {variable(text) for each in destructors for call in each.calls for text in call.arguments}
    holds = [each.name for each in one.attributes if _holds(each) or each.name in released]
    smart = any(_owning_kind(each) for each in one.attributes)
    if not releases and not smart:
        return None
    line = next((each.span.start for each in destructors if not each.is_declaration), 0)
    copies, moves = _special(members, one.name, "&"), _special(members, one.name, "&&")
    return Owner(one.qualname, one.span, line, tuple(holds), tuple(releases), copies, moves)


def _holds(one: Attribute) -> bool:
    """Whether a member gives back by itself what it holds."""
    return bool(_owning_kind(one)) or _CONTAINER.search(one.annotation) is not None


def _special(members: list[Definition], name: str, sign: str) -> Special:
    """What a class does with its copy (`&`) or move (`&&`) constructor and assignment."""
    for each in members:
        types = [one.annotation.replace(" ", "") for one in each.parameters]
        wanted = {f"const{name}{sign}", f"{name}const{sign}", f"{name}{sign}"}
        if each.name in (name, "operator=") and len(types) == 1 and types[0] in wanted:
            return "deleted" if "= delete" in each.decorators else "defined"
    return "implicit"
