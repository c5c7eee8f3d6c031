"""CMake files against a hand count."""

from forwardbook.analyzers.index.facts import Import, Span
from forwardbook.analyzers.native import index_native, native_detail
from forwardbook.analyzers.native.cmake import Target, commands_of


def test_targets_with_what_is_added_to_them(cmake_bytes: bytes) -> None:
    """A library and a Python module, the commented one not."""
    facts = index_native("CMakeLists.txt", cmake_bytes)
    assert (
        Target(
            "stencil",
            "shared library",
            Span(14, 14),
            ("${SOURCES}",),
            ("CUDA::cudart", "m"),
            definitions=("WITH_LOG=1",),
        ),
        Target("_stencil", "Python module", Span(19, 19), ("bindings.cpp",)),
    ) == native_detail(facts, cmake_bytes).targets


def test_definitions_and_settings(cmake_bytes: bytes) -> None:
    """Functions and targets have their lines, options and variables their values, packages are imported."""
    facts = index_native("CMakeLists.txt", cmake_bytes)
    assert [("warn", "function", 10, 12), ("stencil", "target", 14, 14), ("_stencil", "target", 19, 19)] == [
        (each.name, each.kind, each.span.start, each.span.end) for each in facts.definitions
    ]
    assert (Import(7, "CUDAToolkit"), Import(8, "third_party", level=1)) == facts.imports
    assert ("SOURCES", "stencil.cu bindings file.cpp") in [
        (each.name, each.value) for each in facts.constants
    ]


def test_an_open_bracket_is_a_problem() -> None:
    """A command that does not end is named with its line."""
    commands, problems = commands_of("a(b)\nc(d (e)\n")
    assert ["a"] == [each.name for each in commands]
    assert [2] == [each.line for each in problems]


def test_quotes_brackets_and_escapes() -> None:
    """Arguments come without their quotes; brackets within are kept."""
    ((command,), _) = commands_of('set(A "b \\" c" [==[d ) e]==] (f g))')
    assert ("A", 'b \\" c', "d ) e", "(", "f", "g", ")") == command.arguments
