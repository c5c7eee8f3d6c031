"""Kernels and launches against hand counts, in macros and in broken code as well."""

from collections.abc import Callable

import pytest

from forwardbook.analyzers.index.facts import FileFacts, Launch

Read = Callable[..., FileFacts]


def launches(facts: FileFacts) -> list[tuple[str, Launch]]:
    """Every launch with the name of what it stands in."""
    return [("", one) for one in facts.launches] + [
        (each.qualname, one) for each in facts.definitions for one in each.launches
    ]


def test_the_launches_of_a_file(stencil: FileFacts) -> None:
    """The one in a macro is marked, the one by the runtime names the kernel behind the variable."""
    assert [
        (
            "SMOOTH",
            Launch(20, "smooth_kernel", "GRID", "BLOCK", "BLOCK * sizeof(T)", "stream", in_macro=True),
        ),
        ("grid.run", Launch(75, "detail::clear", "1", "BLOCK")),
        ("grid.run", Launch(79, "detail::smooth_kernel", "&config", api="cudaLaunchKernelEx")),
    ] == launches(stencil)


@pytest.mark.parametrize(
    ("text", "launch"),
    [
        ("void f() { k<<<1, 2>>>(a); }", Launch(1, "k", "1", "2")),
        ("void f() { ns::k<T, 4><<<dim3(1, 2), b, 0, s>>>(a); }",
         Launch(1, "ns::k", "dim3(1, 2)", "b", "0", "s")),
        ("void f() { D(t, [&] { k<<<g(a, b), 2>>>(); }); }", Launch(1, "k", "g(a, b)", "2")),
        ("void f() {\n  k\n  <<<1,\n 2>>>(a);\n}", Launch(3, "k", "1", "2")),
        ("void f() { cuLaunchKernel(k, 1, 2, 3, 4, 5, 6, 7, s, p, 0); }",
         Launch(1, "k", "(1, 2, 3)", "(4, 5, 6)", "7", "s", api="cuLaunchKernel")),
        ("void f() { cudaLaunchKernel((void*)k<int>, g, b, args, 8, s); }",
         Launch(1, "k", "g", "b", "8", "s", api="cudaLaunchKernel")),
        ("void f() { auto *x = &ns::k<int>; cudaLaunchKernel(x, g, b, args, 8, s); }",
         Launch(1, "ns::k", "g", "b", "8", "s", api="cudaLaunchKernel")),
    ],
)  # fmt: skip
def test_forms_of_a_launch(read: Read, text: str, launch: Launch) -> None:
    """The configuration is told part by part, as written."""
    assert [("f", launch)] == launches(read(text))


def test_a_launch_in_a_macro_belongs_to_it(read: Read) -> None:
    """Continued lines and template arguments that are parameters do not hide it."""
    facts = read("#define RUN(T) \\\n  k<T, 8> \\\n  <<<n, 2>>>(a)\nvoid f() { RUN(int); }\n")
    assert [("RUN", Launch(3, "k", "n", "2", in_macro=True))] == launches(facts)


def test_a_macro_may_be_given_the_arguments(read: Read) -> None:
    """`k<<<...>>>args` is a launch where `args` is a parameter of the macro."""
    facts = read("#define RUN(k, args) k<<<1, 2>>>args\n")
    assert [("RUN", Launch(1, "k", "1", "2", in_macro=True))] == launches(facts)


def test_what_is_no_launch(read: Read) -> None:
    """Shifts, comments, strings and marks of a merge are none."""
    text = 'void f() { a << b >> c; /* k<<<1, 2>>>(a) */ g("k<<<1, 2>>>(a)"); }\n<<<<<<< HEAD\n>>>>>>> x\n'
    assert [] == launches(read(text))


@pytest.mark.parametrize(
    "text",
    [
        "__global__ void k(int a) { b }",
        "@ ( } ) __global__ void __launch_bounds__(128, 1) k(int a, float *b = nullptr) { if (a) { } }",
        "void f( {\n__global__ void k(int a) { }",
        "template <typename T> __global__ typename X<T>::V k(T a) { }",
        "__attribute__((noinline)) __global__ void k() { }",
    ],
)
def test_kernels_are_found_in_broken_code(read: Read, text: str) -> None:
    """What the grammar gives up on is found by its text, once."""
    assert ["k"] == [each.name for each in read(text).definitions if each.kind == "kernel"]


def test_a_kernel_in_broken_code_keeps_its_namespace_and_lines(read: Read) -> None:
    """Its span ends at its own brace."""
    facts = read("namespace a {\nint x = ] ( ;\n__global__ void\nk(int n) {\n  if (n) {\n  }\n}\n}\n")
    (kernel,) = [each for each in facts.definitions if each.kind == "kernel"]
    assert ("a.k", 3, 7) == (kernel.qualname, kernel.span.start, kernel.span.end)


def test_an_explicit_instantiation_is_no_kernel_of_its_own(read: Read) -> None:
    """`template __global__ void k<int>(int);` defines nothing new."""
    facts = read("template <class T> __global__ void k(T a) {}\ntemplate __global__ void k<int>(int);\n")
    assert [1] == [each.span.start for each in facts.definitions if each.kind == "kernel"]
