"""Includes, macros and bindings."""

from collections.abc import Callable

import pytest

from forwardbook.analyzers.index.facts import Binding, FileFacts, Import

Read = Callable[..., FileFacts]


def test_includes_are_marked_where_guarded(stencil: FileFacts) -> None:
    """Quotes count as one level, a condition guards."""
    assert (
        Import(4, "cuda_runtime.h"),
        Import(5, "memory"),
        Import(6, "stencil.h", level=1),
        Import(9, "cstdio", guarded=True),
    ) == stencil.imports


def test_the_guard_of_a_file_guards_nothing(read: Read) -> None:
    """The `#ifndef` around a header and its macro are not counted."""
    facts = read('#ifndef A_H\n#define A_H\n#include "b.h"\n#define N 3\n#endif\n', "a.h")
    assert (Import(3, "b.h", level=1),) == facts.imports
    assert ["N"] == [each.name for each in facts.definitions]


def test_a_macro_has_parameters_and_calls(read: Read) -> None:
    """What a macro calls is told, words of the language are not."""
    (macro,) = read("#define RUN(a, ...) \\\n  if (a) { ns::go(a, __VA_ARGS__); }\n").definitions
    assert ("#define RUN(a, ...)", 1, 2) == (macro.signature, macro.span.start, macro.span.end)
    assert ["a", "..."] == [each.name for each in macro.parameters]
    assert ["ns::go"] == [each.target for each in macro.calls]


@pytest.mark.parametrize(
    ("text", "binding"),
    [
        ('PYBIND11_MODULE(m, x) { x.def("a", &f, "doc"); }', Binding(1, "m", "a", "f")),
        ('PYBIND11_MODULE(m, x) { x.def("a", &ns::f<float, 2>); }', Binding(1, "m", "a", "ns::f")),
        ('PYBIND11_MODULE(m, x) { x.def("a", [](int b) { return f(b); }); }',
         Binding(1, "m", "a", "<lambda>")),
        ('PYBIND11_MODULE(m, x) { x.def("a", py::overload_cast<int>(&f)); }', Binding(1, "m", "a", "f")),
        ('NB_MODULE(m, x) { nb::class_<A>(x, "A").def("b", &A::b); }', Binding(1, "m", "b", "A::b")),
        ('TORCH_LIBRARY(ns, m) { m.def("f(Tensor a) -> Tensor"); }', Binding(1, "ns", "f", "")),
        ('TORCH_LIBRARY_IMPL(ns, CUDA, m) { m.impl("f", TORCH_FN(g)); }', Binding(1, "ns", "f", "g")),
        ('TORCH_LIBRARY_IMPL(ns, CUDA, m) { m.impl("ns::f", &g); }', Binding(1, "ns", "f", "g")),
        ('TORCH_LIBRARY(ns, m) { m.impl("f", torch::dispatch(c10::kCUDA, TORCH_FN(g))); }',
         Binding(1, "ns", "f", "g")),
        ("TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, ns::Run);", Binding(1, "", "run", "ns::Run")),
        ('static PyMethodDef table[] = {{"a", (PyCFunction)f, METH_VARARGS, "doc"}, {NULL, NULL, 0, NULL}};',
         Binding(1, "", "a", "f")),
    ],
)  # fmt: skip
def test_forms_of_a_binding(read: Read, text: str, binding: Binding) -> None:
    """The name in Python and the function behind it are told, wrappers and casts taken off."""
    assert (binding,) == read(text, "a.cpp").bindings


@pytest.mark.parametrize("text", ['object.def("a");', '// m.def("a", &f);', 'x = "m.def(1, 2)";'])
def test_what_is_no_binding(read: Read, text: str) -> None:
    """A method of that name elsewhere, comments and strings bind nothing."""
    assert () == read(f"void f() {{ {text}\n }}", "a.cpp").bindings
