"""Native calls, launches and the way from Python through a binding to a kernel, on facts made by hand."""

from __future__ import annotations

import pytest

from forwardbook.analyzers.calls import Graph, trace
from forwardbook.analyzers.index.facts import (
    Binding,
    Call,
    Definition,
    FileFacts,
    Import,
    Kind,
    Launch,
    Repository,
    Span,
)
from forwardbook.analyzers.index.python import index_python


def function(
    qualname: str,
    start: int,
    end: int,
    *calls: tuple[int, str],
    kind: Kind = "function",
    declared: bool = False,
    launches: tuple[Launch, ...] = (),
) -> Definition:
    """A native definition."""
    name = qualname.rpartition(".")[2]
    found = tuple(Call(line, 0, target) for line, target in calls)
    return Definition(
        name,
        qualname,
        kind,
        Span(start, end),
        Span(start, end),
        calls=found,
        is_declaration=declared,
        launches=launches,
    )


HEADER = FileFacts("src/k.h", "cpp", "", 3, definitions=(function("scale_cuda", 2, 2, declared=True),))
BINDING = FileFacts(
    "src/bind.cpp",
    "cpp",
    "",
    20,
    imports=(Import(1, "k.h", level=1),),
    definitions=(
        function("scale", 3, 6, (4, "TORCH_CHECK"), (5, "scale_cuda"), (5, "x.contiguous")),
        function("detail.twice", 8, 9),
        function("outer", 10, 12, (11, "detail::twice<float>")),
    ),
    bindings=(
        Binding(15, "TORCH_EXTENSION_NAME", "scale", "scale"),
        Binding(16, "_C", "twice", "&detail::twice<int>"),
    ),
)
KERNELS = FileFacts(
    "src/k.cu",
    "cuda",
    "",
    30,
    imports=(Import(1, "k.h", level=1),),
    definitions=(
        function("scale_kernel", 5, 9, (6, "int"), kind="kernel"),
        function("scale_cuda", 11, 20, launches=(Launch(14, "scale_kernel<float>", "grid", "block"),)),
    ),
)
LOADER = """\
from torch.utils.cpp_extension import load

def extension():
    extension.made = load(name="ext", sources=["src/bind.cpp", "src/k.cu"])
    return extension.made

def scale(x):
    ext = extension()
    return ext.scale(x)

def direct():
    from pkg import _C
    return _C.twice()

def unrelated(other):
    return other.outer()
"""


@pytest.fixture
def made() -> Graph:
    """A package with Python, C++ and CUDA."""
    python = index_python("ops.py", LOADER.encode(), "ops")
    files = {facts.path: facts for facts in (HEADER, BINDING, KERNELS, python)}
    return Graph(Repository("/nowhere", files))


def test_from_python_to_the_kernel(made):
    """The chain is call, binding, linked declaration, launch; every line and form is right."""
    found = [
        (node.edge.line, node.path, node.qualname, node.edge.form)
        for _, node in trace(made, "ops.py", "scale").walk()
        if node.edge and node.path.startswith("src")
    ]
    assert [
        (9, "src/bind.cpp", "scale", "binding"),
        (5, "src/k.cu", "scale_cuda", "call"),
        (14, "src/k.cu", "scale_kernel", "launch"),
    ] == found
    (bound,) = [edge for edge in made.edges_from("ops.py", "scale") if edge.form == "binding"]
    assert ("registry", "bound as `scale` at src/bind.cpp:15") == (bound.how, bound.reason)


def test_a_named_module_binds_by_its_name(made):
    """A call through the module that the binding names is known; one of an unbound name is left alone."""
    (bound,) = [edge for edge in made.edges_from("ops.py", "direct") if edge.form == "binding"]
    assert ("registry", "detail.twice") == (bound.how, bound.callee)
    assert ["unresolved"] == [edge.how for edge in made.edges_from("ops.py", "unrelated")]


def test_names_of_namespaces_macros_and_members(made):
    """Template arguments are passed over, unknown names are external, members of unknown types unresolved."""
    assert [("exact", "detail.twice")] == [
        (edge.how, edge.callee) for edge in made.edges_from("src/bind.cpp", "outer")
    ]
    assert [("external", "TORCH_CHECK"), ("exact", "scale_cuda"), ("unresolved", "x.contiguous")] == [
        (edge.how, edge.callee) for edge in made.edges_from("src/bind.cpp", "scale")
    ]
    assert ("src/k.h",) == made.imports_of("src/bind.cpp")
    assert ("src/bind.cpp", "src/k.cu") == made.imported_by("src/k.h")
    assert [("src/k.cu", "scale_cuda")] == [
        (edge.path, edge.caller) for edge in made.edges_to("src/k.cu", "scale_kernel")
    ]


def test_two_files_that_define_a_name_are_both_possible():
    """Of several definitions of a declared function the nearest counts; in one folder both are possible."""
    caller = FileFacts(
        "src/a.cpp",
        "cpp",
        "",
        9,
        imports=(Import(1, "f.h", level=1),),
        definitions=(function("go", 2, 4, (3, "f")),),
    )
    header = FileFacts("src/f.h", "cpp", "", 2, definitions=(function("f", 1, 1, declared=True),))
    here = FileFacts("src/f1.cpp", "cpp", "", 9, definitions=(function("f", 1, 3),))
    beside = FileFacts("src/f2.cpp", "cpp", "", 9, definitions=(function("f", 1, 3),))
    far = FileFacts("other/f.cpp", "cpp", "", 9, definitions=(function("f", 1, 3),))

    def reached(*facts: FileFacts) -> list[tuple[str, str]]:
        graph = Graph(Repository("/nowhere", {one.path: one for one in (caller, header, *facts)}))
        return [(edge.how, edge.callee_path) for edge in graph.edges_from("src/a.cpp", "go")]

    assert [("exact", "src/f1.cpp")] == reached(here, far)
    assert [("possible", "src/f1.cpp"), ("possible", "src/f2.cpp")] == reached(here, beside)
    assert [("exact", "src/f.h")] == reached()
