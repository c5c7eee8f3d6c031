"""Turns the calls that make native functions known to Python (pybind11, torch, TVM, ...) into bindings."""

from __future__ import annotations

import re

from forwardbook.analyzers.index.facts import Binding
from forwardbook.analyzers.native.brackets import arguments, closing
from forwardbook.analyzers.native.declarators import without_templates
from forwardbook.analyzers.native.masking import Masks

_BLOCK = re.compile(
    rb"\b(?P<word>PYBIND11_(?:EMBEDDED_)?MODULE|NB_MODULE|TORCH_LIBRARY(?:_IMPL|_FRAGMENT|_EXPAND)?"
    rb"|TORCH_PYBIND\w*|STABLE_TORCH_LIBRARY(?:_IMPL|_FRAGMENT)?|BOOST_PYTHON_MODULE)\s*\("
)
_METHOD = re.compile(
    rb"(?P<sign>\.|->|\bpy::|\bnb::)\s*(?P<word>def_static|def_readonly|def_readwrite|def_property"
    rb"|def_property_readonly|def_prop_ro|def_rw|def_ro|def|impl)\s*\("
)
_SIGNS = (b".def", b">def", b":def", b".impl", b">impl", b":impl")
_TVM = re.compile(
    rb"\b(?:TVM_FFI_DLL_EXPORT(?:_TYPED_FUNC)?|TVM_REGISTER_GLOBAL|TVM_FFI_REGISTER_GLOBAL)\s*\("
)
_TABLE = re.compile(rb"\bPyMethodDef\b[^={;]*=\s*\{")
_WRAPPER = re.compile(r"(?:\w+::)*(?:TORCH_FN|TORCH_BOX|dispatch|overload_cast|CppFunction|make_boxed\w*)\b")
_TEXT = re.compile(r'"((?:\\.|[^"\\])*)"')


def bindings_of(masks: Masks) -> tuple[Binding, ...]:
    """Every binding of a file, in the order of its lines."""
    found = [*_in_blocks(masks), *_by_tvm(masks), *_in_tables(masks)]
    return tuple(sorted(set(found), key=lambda one: (one.line, one.name)))


def _in_blocks(masks: Masks) -> list[Binding]:
    """`m.def("name", &function)`, `m.impl(...)`, `.def("name", &C::method)`, in the module the block has."""
    blocks = [(found.start(), _block_name(masks, found.end() - 1)) for found in _BLOCK.finditer(masks.flat)]
    bindings: list[Binding] = []
    if not any(word in masks.flat for word in _SIGNS):
        return bindings
    for found in _METHOD.finditer(masks.flat):
        at, opening = found.start("word"), found.end() - 1
        inside = [name for start, name in blocks if start < at]
        ranges = arguments(masks.flat, opening, closing(masks.flat, opening))
        given = [masks.text(start, end) for start, end in ranges]
        named = _TEXT.match(given[0]) if given else None
        if named is not None and (inside or len(given) > 1):
            name = named[1].partition("(")[0].rpartition("::")[2].strip()
            function = _function(given[1:], masks) if len(given) > 1 else ""
            bindings.append(Binding(masks.line(at), inside[-1] if inside else "", name, function))
    return bindings


def _block_name(masks: Masks, opening: int) -> str:
    """The first argument of the macro that opens the block."""
    ranges = arguments(masks.flat, opening, closing(masks.flat, opening))
    return masks.text(*ranges[0]) if ranges else ""


def _function(given: list[str], masks: Masks) -> str:
    """The function that is bound, as written without `&` and template arguments; a lambda has none."""
    text = given[0]
    for _ in range(4):
        text = text.strip().lstrip("&*").strip()
        if text.startswith("[") or not text:
            return "<lambda>" if text else ""
        if text.startswith("(") and ")" in text:  # a cast
            text = text[text.index(")") + 1 :]
        elif "(" in text:
            text = _unwrapped(text)
    text = re.sub(r"\A(?:static_cast|reinterpret_cast)\s*<.*>\s*", "", text)
    name = without_templates(text)
    return name if re.fullmatch(r"[\w:~]+", name) else ""


def _unwrapped(text: str) -> str:
    """What a wrapper such as `TORCH_FN(f)` or `torch::dispatch(key, f)` stands around: its last argument."""
    inner = text[text.index("(") + 1 :].rstrip()
    inner = inner[:-1] if inner.endswith(")") else inner
    if _WRAPPER.match(text) and "," in inner and not inner.endswith(")"):
        return inner.rpartition(",")[2]
    return inner.partition(",")[2] or inner if "dispatch" in text.partition("(")[0] else inner


def _by_tvm(masks: Masks) -> list[Binding]:
    """`TVM_FFI_DLL_EXPORT_TYPED_FUNC(name, function)`."""
    bindings: list[Binding] = []
    if b"TVM_" not in masks.flat:
        return bindings
    for found in _TVM.finditer(masks.flat):
        opening = found.end() - 1
        ranges = arguments(masks.flat, opening, closing(masks.flat, opening))
        given = [masks.text(start, end) for start, end in ranges]
        if given:
            function = _function(given[1:], masks) if len(given) > 1 else ""
            bindings.append(Binding(masks.line(found.start()), "", given[0].strip('"'), function))
    return bindings


def _in_tables(masks: Masks) -> list[Binding]:
    """The rows of a `PyMethodDef` table."""
    bindings: list[Binding] = []
    if b"PyMethodDef" not in masks.flat:
        return bindings
    for found in _TABLE.finditer(masks.flat):
        opening = found.end() - 1
        for start, end in arguments(masks.flat, opening, closing(masks.flat, opening)):
            row = masks.flat.find(b"{", start, end)
            if row < 0:
                continue
            given = [masks.text(*one) for one in arguments(masks.flat, row, closing(masks.flat, row))]
            named = _TEXT.match(given[0]) if given else None
            if named is not None and len(given) > 1:
                bindings.append(Binding(masks.line(row), "", named[1], _function(given[1:], masks)))
    return bindings
