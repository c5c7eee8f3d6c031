"""Turns the calls and variables of a native file into copies, streams, waits and shared memory."""

from __future__ import annotations

import re

from forwardbook.analyzers.index.facts import Attribute, Definition, FileFacts
from forwardbook.analyzers.native.detail import (
    Copy,
    Direction,
    Origin,
    Scope,
    SharedMemory,
    Stream,
    Synchronisation,
)
from forwardbook.analyzers.native.masking import Masks
from forwardbook.analyzers.native.owned_calls import Owned, function_at, owned_calls, variable

_KINDS: dict[str, Direction] = {
    "HostToDevice": "host to device",
    "DeviceToHost": "device to host",
    "DeviceToDevice": "device to device",
    "HostToHost": "host to host",
}
_DRIVER: dict[str, Direction] = {
    "HtoD": "host to device",
    "DtoH": "device to host",
    "DtoD": "device to device",
    "ToSymbol": "host to device",
    "FromSymbol": "device to host",
    "Peer": "between devices",
}
_COPY = re.compile(r"(?:cuda|hip|cu)Memcpy\w*\Z")
_DEVICE = re.compile(r"\bkCUDA\b|\bDeviceType::CUDA\b|\"cuda")
_HOST = re.compile(r"\bkCPU\b|\bDeviceType::CPU\b|\"cpu\"")
_WAITING: dict[Scope, str] = {
    "device": "cudaDeviceSynchronize cudaThreadSynchronize hipDeviceSynchronize cuCtxSynchronize",
    "stream": "cudaStreamSynchronize hipStreamSynchronize cuStreamSynchronize cudaStreamWaitEvent",
    "event": "cudaEventSynchronize hipEventSynchronize cuEventSynchronize",
    "cluster": "cluster_sync cluster_wait cluster_arrive",
    "block": "__syncthreads __syncthreads_and __syncthreads_or __syncthreads_count named_barrier_sync",
    "warp": "__syncwarp",
    "memory fence": "__threadfence __threadfence_block __threadfence_system",
    "host": "item",
}
_WAITS = {name: scope for scope, names in _WAITING.items() for name in names.split()}
_STREAM_TYPE = re.compile(
    r"\b(?:cuda|hip)(?:Stream|Event)_t\b|\bCU(?:stream|event)\b|\bCUDA(?:Stream|Event)\b"
)
_CURRENT = re.compile(r"\bgetCurrent\w*Stream|\bget_current_stream|\bget_stream\b|EnvGetStream")
_SHARED = re.compile(rb"(?P<extern>\bextern\s+)?(?:\bstatic\s+)?\b__shared__\b(?P<rest>[^;={]{1,400})")
_ALIGNED = re.compile(r"\b(?:__align__|alignas)\s*\([^()]*\)")
_SHARED_NAME = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*(?P<size>(?:\[[^\]]*\]\s*)*)\Z")


def copies_of(facts: FileFacts) -> tuple[Copy, ...]:
    """Every copy between host and device, with its direction where the call says it."""
    found = [copy for one in owned_calls(facts) if (copy := _copy(one)) is not None]
    return tuple(sorted(found, key=lambda one: one.line))


def _copy(one: Owned) -> Copy | None:
    """The copy that a call is: of the runtime, of the driver, or of a tensor to a device."""
    name, call = one.name, one.call
    if _COPY.match(name):
        return _runtime_copy(one)
    text = ", ".join(call.arguments)
    receiver = call.target[: -len(name)].rstrip(".->")
    if name == "to" and receiver and (_DEVICE.search(text) or _HOST.search(text)):
        direction: Direction = "device to host" if _HOST.search(text) else "host to device"
        return Copy(call.line, one.function, call.target, direction, source=receiver)
    if name in ("cuda", "cpu") and receiver and not call.arguments and "::" not in call.target:
        direction = "host to device" if name == "cuda" else "device to host"
        return Copy(call.line, one.function, call.target, direction, source=receiver)
    return None


def _runtime_copy(one: Owned) -> Copy:
    """A copy by the CUDA runtime or driver."""
    name, given = one.name, one.call.arguments
    kind = next((text for text in given if any(key in text for key in _KINDS)), "")
    direction: Direction = "unknown"
    for key, meant in (*_KINDS.items(), *_DRIVER.items()):
        if key in kind or (not kind and key in name):
            direction = meant
            break
    at = 2 if not name.startswith("cudaMemcpy2D") else 4
    is_async = "Async" in name
    return Copy(
        one.call.line,
        one.function,
        one.call.target,
        direction,
        one.argument(0),
        one.argument(2 if "2D" in name else 1),
        one.argument(at),
        given[-1] if is_async and given and given[-1] != kind else "",
        is_async,
    )


def waits_of(facts: FileFacts) -> tuple[Synchronisation, ...]:
    """Every place where a thread, a stream or the host waits."""
    found = []
    for one in owned_calls(facts):
        scope = _WAITS.get(one.name) or _group_wait(one)
        if scope == "host" and (one.call.arguments or "." not in one.call.target):
            continue
        if scope is not None:
            found.append(Synchronisation(one.call.line, one.function, one.call.target, scope))
        elif _COPY.match(one.name) and "Async" not in one.name:
            found.append(Synchronisation(one.call.line, one.function, one.call.target, "host"))
    return tuple(sorted(found, key=lambda each: each.line))


def _group_wait(one: Owned) -> Scope | None:
    """What waits in `.sync()` of a cooperative group, of a stream, of an event."""
    receiver = one.call.target.lower()
    if one.name == "synchronize":
        return "event" if "event" in receiver else "stream" if "stream" in receiver else "device"
    if one.name != "sync":
        return None
    for word, scope in _GROUPS:
        if word in receiver:
            return scope
    return "group"


_GROUPS: tuple[tuple[str, Scope], ...] = (
    ("grid", "grid"),
    ("cluster", "cluster"),
    ("block", "block"),
    ("warp", "warp"),
    ("tile", "warp"),
)


def shared_memory_of(facts: FileFacts, masks: Masks) -> tuple[SharedMemory, ...]:
    """Every `__shared__` variable."""
    found = []
    for declared in _SHARED.finditer(masks.flat):
        text = masks.text(*declared.span("rest"))
        named = _SHARED_NAME.search(text)
        if named is None:
            continue
        size = named["size"].replace(" ", "")
        kind = " ".join(_ALIGNED.sub("", text[: named.start()]).split())
        around = function_at(facts, masks.line(declared.start()))
        found.append(
            SharedMemory(
                masks.line(declared.start("rest") + 1),
                around.qualname if around is not None else "",
                named["name"],
                kind,
                size[1:-1].replace("][", " x "),
                declared["extern"] is not None,
            )
        )
    return tuple(found)


def streams_of(facts: FileFacts) -> tuple[Stream, ...]:
    """Every stream and event that the file names, and where it comes from."""
    calls = list(owned_calls(facts))
    created = {variable(one.argument(0)) for one in calls if re.search(r"(?:Stream|Event)Create", one.name)}
    destroyed: dict[str, list[int]] = {}
    for one in calls:
        if re.search(r"(?:Stream|Event)Destroy", one.name):
            destroyed.setdefault(variable(one.argument(0)), []).append(one.call.line)
    found: list[Stream] = []
    for definition in facts.definitions:
        found += _streams_in(definition, created, destroyed)
    found += [
        _stream(one, "", created, destroyed) for one in facts.constants if _STREAM_TYPE.search(one.annotation)
    ]
    return tuple(sorted(found, key=lambda one: one.line))


def _streams_in(definition: Definition, created: set[str], destroyed: dict[str, list[int]]) -> list[Stream]:
    """The streams among the parameters, members and local names of a definition."""
    owner = definition.qualname
    found = [
        Stream(definition.span.start, owner, one.name, one.annotation, "parameter")
        for one in definition.parameters
        if one.name and _STREAM_TYPE.search(one.annotation) and not definition.is_declaration
    ]
    for one in definition.attributes:
        if _STREAM_TYPE.search(one.annotation):
            stream = _stream(one, owner, created, destroyed)
            found.append(stream)
    found += [
        _stream(one, owner, created, destroyed)
        for one in definition.locals
        if _STREAM_TYPE.search(one.annotation) or _CURRENT.search(one.value)
    ]
    return found


def _stream(one: Attribute, owner: str, created: set[str], destroyed: dict[str, list[int]]) -> Stream:
    """A stream by the variable that holds it."""
    origin: Origin = "declared"
    if one.name in created:
        origin = "created"
    elif _CURRENT.search(one.value):
        origin = "current"
    elif one.value in ("0", "nullptr", "NULL", "cudaStreamDefault", "cudaStreamLegacy"):
        origin = "default"
    lines = tuple(destroyed.get(one.name, ()))
    return Stream(one.line, owner, one.name, one.annotation, origin, lines)
