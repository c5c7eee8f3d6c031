"""Turns the calls of a native file into its error checks, and its launches with the check after each."""

from __future__ import annotations

import re

from forwardbook.analyzers.index.facts import FileFacts, Launch
from forwardbook.analyzers.native.brackets import arguments, closing
from forwardbook.analyzers.native.calls import shortened
from forwardbook.analyzers.native.detail import ErrorCheck, LaunchDetail
from forwardbook.analyzers.native.masking import Masks
from forwardbook.analyzers.native.owned_calls import function_at, owned_calls

_CHECK = re.compile(
    r"(?:\w*_)?(?:CHECK|ASSERT|ENFORCE|VERIFY|EXPECT|REQUIRE)(?:_\w+)?\Z"
    r"|(?:\w+_)?(?:check|assert|verify|enforce)(?:_\w+|Cuda\w*|Error\w*|Launch\w*)?\Z|check[A-Z]\w*\Z"
    r"|(?:cuda|hip)(?:GetLastError|PeekAtLastError)\Z|gpuErrchk\Z|[A-Z_]*CUDA_CALL\Z|CUDA_TRY\Z|TVM_FFI_ICHECK\w*\Z"
)
_AFTER_LAUNCH = re.compile(
    r"LAUNCH_CHECK|GetLastError|PeekAtLastError|(?:CHECK|check)\w*(?:LAST|Last|KERNEL|Kernel|LAUNCH)"
)
_STATIC_ASSERT = re.compile(rb"\bstatic_assert\s*(?=\()")
_TEXT = re.compile(r'"((?:\\.|[^"\\])*)"?')


def checks_of(facts: FileFacts, masks: Masks) -> tuple[ErrorCheck, ...]:
    """Every check, `static_assert` included."""
    found = []
    for one in owned_calls(facts):
        if _CHECK.match(one.name):
            text = next((each for each in one.call.arguments[1:] if each.startswith('"')), "")
            message = _TEXT.match(text)
            found.append(
                ErrorCheck(
                    one.call.line,
                    one.function,
                    one.call.target,
                    one.argument(0),
                    message[1] if message else text,
                )
            )
    found += _static_asserts(facts, masks)
    return tuple(sorted(found, key=lambda one: one.line))


def _static_asserts(facts: FileFacts, masks: Masks) -> list[ErrorCheck]:
    """The checks at compile time."""
    found = []
    for word in _STATIC_ASSERT.finditer(masks.flat):
        ranges = arguments(masks.flat, word.end(), closing(masks.flat, word.end()))
        given = [masks.text(start, end) for start, end in ranges]
        message = _TEXT.match(given[-1]) if len(given) > 1 else None
        line = masks.line(word.start())
        around = function_at(facts, line)
        condition = ", ".join(given[:-1] if message else given)
        function = around.qualname if around is not None else ""
        found.append(
            ErrorCheck(line, function, "static_assert", shortened(condition), message[1] if message else "")
        )
    return found


def launches_of(facts: FileFacts, masks: Masks) -> tuple[LaunchDetail, ...]:
    """Every launch with its arguments and the first check after it and before the next of its function."""
    found = [_detail("", launch, 0, masks) for launch in facts.launches]
    for one in facts.definitions:
        if not one.launches:
            continue
        checks = sorted(call.line for call in one.calls if _is_launch_check(call.target))
        following = [launch.line for launch in one.launches[1:]] + [one.span.end + 1]
        for launch, end in zip(one.launches, following, strict=True):
            last = max(end, launch.line)
            checked = next((line for line in checks if launch.line <= line <= last), 0)
            found.append(_detail(one.qualname, launch, checked, masks))
    return tuple(sorted(found, key=lambda each: each.launch.line))


def _is_launch_check(target: str) -> bool:
    """Whether a call asks for the error of a launch."""
    return _AFTER_LAUNCH.search(target) is not None


def _detail(function: str, launch: Launch, checked: int, masks: Masks) -> LaunchDetail:
    """One launch with the arguments that stand after `>>>`."""
    start = masks.line_starts[launch.line - 1]
    found = re.compile(rb">>>(?:\s|\\\r?\n)*\(").search(masks.bare, start, start + 4_000)
    if launch.api or found is None:
        return LaunchDetail(function, launch, (), checked)
    opening = found.end() - 1
    close = closing(masks.flat, opening) if not launch.in_macro else closing(masks.bare, opening)
    ranges = arguments(masks.bare, opening, close) if close > opening else []
    return LaunchDetail(function, launch, tuple(shortened(masks.text(*each)) for each in ranges), checked)
