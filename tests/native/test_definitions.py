"""Definitions against hand counts of stencil.cu and small texts."""

from collections.abc import Callable

import pytest

from forwardbook.analyzers.index.facts import Attribute, Definition, FileFacts, Parameter, Raised

Read = Callable[..., FileFacts]

# Name, kind, first line with decorators, first line, last line: counted by hand.
SPANS = [
    ("BLOCK", "macro", 12, 12, 12),
    ("CUDA_CHECK", "macro", 13, 13, 17),
    ("SMOOTH", "macro", 18, 18, 21),
    ("grid.detail.smooth_kernel", "kernel", 29, 30, 39),
    ("grid.detail.clear", "kernel", 41, 41, 41),
    ("grid.Buffer", "class", 47, 47, 67),
    ("grid.Buffer.Buffer", "method", 49, 49, 55),
    ("grid.Buffer.~Buffer", "method", 56, 56, 56),
    ("grid.Buffer.Buffer", "method", 57, 57, 57),
    ("grid.Buffer.Buffer", "method", 58, 58, 58),
    ("grid.Buffer.size", "method", 59, 59, 59),
    ("grid.Buffer.operator==", "method", 60, 60, 60),
    ("grid.Buffer.operator bool", "method", 61, 61, 61),
    ("grid.blocks_for", "function", 69, 69, 69),
    ("grid.run", "function", 71, 71, 83),
]


def one(facts: FileFacts, name: str) -> Definition:
    """The only definition of a name."""
    (found,) = [each for each in facts.definitions if each.qualname == name]
    return found


def test_spans_are_those_counted_by_hand(stencil: FileFacts) -> None:
    """Every definition stands with its kind, with its exact lines, with and without its template line."""
    assert SPANS == [
        (each.qualname, each.kind, each.decorated.start, each.span.start, each.span.end)
        for each in stencil.definitions
    ]


def test_a_kernel_is_said_as_written(stencil: FileFacts) -> None:
    """Signature, parameters, decorators and comment are the words of the source."""
    kernel = one(stencil, "grid.detail.smooth_kernel")
    assert kernel.signature == (
        "__global__ void __launch_bounds__(BLOCK, 2) __cluster_dims__(2, 1, 1) "
        "smooth_kernel(const T *__restrict__ input, T *output, size_t n)"
    )
    assert kernel.decorators == (
        "template <typename T, int Radius>",
        "__global__",
        "__launch_bounds__(BLOCK, 2)",
        "__cluster_dims__(2, 1, 1)",
    )
    assert kernel.parameters == (
        Parameter("input", "", "const T *__restrict__"),
        Parameter("output", "", "T *"),
        Parameter("n", "", "size_t"),
    )
    assert ("void", "Smooths one row.", "grid.detail") == (kernel.returns, kernel.docstring, kernel.parent)


def test_a_class_has_bases_members_and_a_throw(stencil: FileFacts) -> None:
    """Bases come without their access, members with type and value, a throw with its condition."""
    buffer = one(stencil, "grid.Buffer")
    assert ("Base<float>", "Counted") == buffer.bases
    assert [("data_", "void *", "nullptr"), ("end_", "void *", ""), ("bytes_", "size_t", "")] == [
        (each.name, each.annotation, each.value) for each in buffer.attributes[:3]
    ]
    built = next(each for each in stencil.definitions if each.name == "Buffer" and each.kind == "method")
    assert (Raised(51, "std::invalid_argument", "bytes == 0"),) == built.raised


def test_prototypes_are_marked(stencil: FileFacts) -> None:
    """What has no body here is a declaration; `= delete` and `= 0` are told."""
    declared = [each.signature for each in stencil.definitions if each.is_declaration]
    assert ["Buffer(Buffer &&other) noexcept", "virtual int size() const"] == declared
    assert "= 0" in one(stencil, "grid.Buffer.size").decorators


def test_calls_have_their_place_and_arguments(stencil: FileFacts) -> None:
    """Calls stand in order, uses of macros with types for arguments among them."""
    calls = one(stencil, "grid.run").calls
    assert (77, "SMOOTH", ("float", "blocks_for(n)")) in [
        (one.line, one.target, one.arguments) for one in calls
    ]
    assert sorted((one.line, one.column) for one in calls) == [(one.line, one.column) for one in calls]
    assert 11 == len(calls)


def test_constants_and_file_are_described(stencil: FileFacts) -> None:
    """Macros with a value and variables of namespaces are constants; the first comment describes the file."""
    assert [("BLOCK", "256"), ("HALO", "2"), ("weights", "{1, 4, 6, 4, 1}")] == [
        (each.name, each.value) for each in stencil.constants
    ]
    assert stencil.docstring.startswith("Smooths a grid on the device.")
    assert (85, "cuda", "tree-sitter") == (stencil.lines, stencil.language, stencil.parser)


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("namespace a::b { void f() {} }", "a.b.f", "function"),
        ("namespace { void f() {} }", "f", "function"),
        ("struct A { struct B { void f() {} }; };", "A.B.f", "method"),
        ("template <class T> void A<T>::f() {}", "A.f", "method"),
        ("A::~A() {}", "A.~A", "method"),
        ("A::A(int a) : b(a) {}", "A.A", "method"),
        ("A::operator int() { return 1; }", "A.operator int", "method"),
        ("T &operator<<(T &a, int b) { return a; }", "operator<<", "function"),
        ("int (*f(int a))(float) { return 0; }", "f", "function"),
        ("auto f(int a) -> std::vector<int> { return {}; }", "f", "function"),
        ("template <> void f<int>(int a) {}", "f", "function"),
        ("enum class E : int { A, B = 2 };", "E", "enum"),
        ("union U { int a; float b; };", "U", "union"),
        ("typedef struct { int a; } S;", "S", "struct"),
        ("using X = std::vector<int>;", "X", "typedef"),
        ("typedef int (*F)(float);", "F", "typedef"),
        ('extern "C" {\n__global__ void k(int a) {}\n}', "k", "kernel"),
        ("static __global__ void k();", "k", "kernel"),
        ("API_EXPORT\nint f(int a);", "f", "function"),
    ],
)
def test_names_and_kinds(read: Read, text: str, name: str, kind: str) -> None:
    """Qualified names are dotted, template arguments left out, whatever the form of the definition."""
    assert (name, kind) in [(each.qualname, each.kind) for each in read(text).definitions]


@pytest.mark.parametrize(
    "text",
    ["void (*call)(int);", "DECLARE_THING(a, b);", "int a = 1;", "TEST(Suite, Case) { f(); }", "struct A;"],
)
def test_what_defines_nothing(read: Read, text: str) -> None:
    """A variable, a use of a macro and a forward declaration are no functions or classes."""
    assert () == read(text).definitions


def test_return_types_are_as_written(read: Read) -> None:
    """Storage and execution space are no part of the type; a trailing type wins."""
    facts = read(
        "static __device__ inline const T *f();\nauto g() -> int *;\nA::operator bool() { return 1; }"
    )
    assert ["const T *", "int *", "bool"] == [each.returns for each in facts.definitions]


def test_parameters_of_every_form(read: Read) -> None:
    """Names are taken out of the type, defaults apart, packs and ellipses marked."""
    text = 'template <class... A> void f(int a[4], void (*b)(int), A &&...c, '
    text += 'const char *d = "x,y", int = 3, ...);'
    assert (
        Parameter("a", "", "int[4]"),
        Parameter("b", "", "void (*)(int)"),
        Parameter("c", "*", "A &&..."),
        Parameter("d", "", "const char *", '"x,y"'),
        Parameter("", "", "int", "3"),
        Parameter("...", "*"),
    ) == read(text).definitions[0].parameters


def test_access_decides_what_is_public(read: Read) -> None:
    """Private members, statics of a file and what lies in unnamed or detail namespaces are not public."""
    facts = read(
        "class A { void a(); public: void b(); };\nstruct B { void c(); private: void d(); };\n"
        "static void e() {}\nnamespace { void f() {} }\nnamespace detail { void g() {} }\nvoid h() {}"
    )
    public = {each.name for each in facts.definitions if each.is_public}
    assert {"A", "b", "B", "c", "h"} == public


def test_values_of_an_enum_are_its_attributes(read: Read) -> None:
    """Each value with its line and what it is set to."""
    assert (Attribute("A", 1), Attribute("B", 2, "", "1 << 3")) == read(
        "enum E { A,\nB = 1 << 3 };"
    ).definitions[0].attributes


def test_broken_branches_do_not_shift_spans(read: Read) -> None:
    """A function whose head stands twice under `#if` ends at its brace; the next one is separate."""
    facts = read("#if A\nvoid f(int a) {\n#else\nvoid f(long a) {\n#endif\n  g();\n}\nvoid h() {\n}\n")
    assert [("f", 2, 7), ("h", 8, 9)] == [
        (each.name, each.span.start, each.span.end) for each in facts.definitions
    ]


@pytest.mark.parametrize(
    ("path", "text", "language"),
    [
        ("a.h", "int f(void);", "c"),
        ("a.h", "namespace a {}", "cpp"),
        ("a.h", "__device__ int f();", "cuda"),
        ("a.hpp", "__global__ void f();", "cuda"),
        ("a.cpp", "int a;", "cpp"),
        ("a.c", "int a;", "c"),
        ("a.cuh", "", "cuda"),
        ("x/CMakeLists.txt", "", "cmake"),
        ("x/y.cmake", "", "cmake"),
    ],
)
def test_the_language_is_what_the_text_uses(read: Read, path: str, text: str, language: str) -> None:
    """A suffix that leaves it open is decided by the text."""
    assert language == read(text, path).language
