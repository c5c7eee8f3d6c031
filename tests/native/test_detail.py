"""Page-depth facts of stencil.cu against a hand count."""

import pytest

from forwardbook.analyzers.index.facts import FileFacts, Span
from forwardbook.analyzers.native import index_native, native_detail
from forwardbook.analyzers.native.detail import (
    Copy,
    NativeDetail,
    Owner,
    SharedMemory,
    Stream,
    Synchronisation,
    Template,
)


@pytest.fixture(scope="module")
def detail(stencil: FileFacts, stencil_bytes: bytes) -> NativeDetail:
    """All of it."""
    return native_detail(stencil, stencil_bytes)


def of(text: str) -> NativeDetail:
    """The detail of a text."""
    return native_detail(index_native("a.cu", text.encode()), text.encode())


def test_copies_have_a_direction(detail: NativeDetail) -> None:
    """One to the device on a stream, one back that blocks."""
    size = "n * sizeof(float)"
    assert (
        Copy(74, "grid.run", "cudaMemcpyAsync", "host to device", "input", "host", size, "stream", True),
        Copy(80, "grid.run", "cudaMemcpy", "device to host", "result", "output", "n"),
    ) == detail.copies


@pytest.mark.parametrize(
    ("call", "direction"),
    [
        ("cuMemcpyHtoD(a, b, n)", "host to device"),
        ("cudaMemcpyToSymbol(a, b, n)", "host to device"),
        ("cudaMemcpy(a, b, n, cudaMemcpyDeviceToDevice)", "device to device"),
        ("cudaMemcpyPeer(a, 0, b, 1, n)", "between devices"),
        ("cudaMemcpy(a, b, n, kind)", "unknown"),
        ("x.to(torch::kCUDA)", "host to device"),
        ("x.cpu()", "device to host"),
    ],
)
def test_forms_of_a_copy(call: str, direction: str) -> None:
    """The direction comes from the kind, the name, or the device a tensor goes to."""
    assert [direction] == [one.direction for one in of(f"void f() {{ {call}; }}").copies]


def test_shared_memory(detail: NativeDetail) -> None:
    """That of the launch is dynamic, the other has its size."""
    kernel = "grid.detail.smooth_kernel"
    assert (
        SharedMemory(32, kernel, "raw", "unsigned char", "", True),
        SharedMemory(33, kernel, "edge", "float", "2 x HALO"),
    ) == detail.shared_memory


def test_waits(detail: NativeDetail) -> None:
    """A block, the host at a blocking copy, a stream."""
    assert (
        Synchronisation(38, "grid.detail.smooth_kernel", "__syncthreads", "block"),
        Synchronisation(80, "grid.run", "cudaMemcpy", "host"),
        Synchronisation(81, "grid.run", "cudaStreamSynchronize", "stream"),
    ) == detail.synchronisations


def test_streams() -> None:
    """Where a stream comes from, and where it is destroyed."""
    text = (
        "void f(cudaStream_t a) {\n cudaStream_t b;\n cudaStreamCreate(&b);\n"
        " auto c = at::cuda::getCurrentCUDAStream();\n cudaStreamDestroy(b);\n}"
    )
    assert (
        Stream(1, "f", "a", "cudaStream_t", "parameter"),
        Stream(2, "f", "b", "cudaStream_t", "created", (5,)),
        Stream(4, "f", "c", "auto", "current"),
    ) == of(text).streams


def test_launches_have_arguments_and_their_check(detail: NativeDetail) -> None:
    """The check after a launch is its own, not that of the next."""
    assert [
        ("SMOOTH", 20, ("input", "output", "n"), 0),
        ("grid.run", 75, ("output",), 76),
        ("grid.run", 79, (), 0),
    ] == [(one.function, one.launch.line, one.arguments, one.checked_at) for one in detail.launches]


def test_resources_and_who_owns_them(detail: NativeDetail) -> None:
    """A destructor frees one, a function another, a smart pointer itself."""
    assert [
        (53, "data_", "device memory", "destructor", (56,)),
        (66, "owner_", "smart pointer", "smart pointer", ()),
        (73, "input", "device memory", "manual", (82,)),
    ] == [(one.line, one.name, one.kind, one.ownership, one.released) for one in detail.resources]


@pytest.mark.parametrize(
    ("text", "kind", "ownership"),
    [
        ("void f() { int *a = new int[3]; delete[] a; }", "heap memory", "manual"),
        ("void f() { int *a = new int; }", "heap memory", "not released here"),
        ("void f() { std::unique_ptr<int> a(new int); }", "smart pointer", "smart pointer"),
        ("void f() { char *a = (char *)malloc(3); free(a); }", "heap memory", "manual"),
        ("void f() { FILE *a = fopen(b, c); }", "file", "not released here"),
        ("void f() { std::lock_guard<std::mutex> a(m); }", "lock", "destructor"),
        ("void f() { at::cuda::CUDAGuard a(d); }", "device guard", "destructor"),
        ("void f() { auto a = torch::empty({1}); }", "tensor", "reference counted"),
    ],
)
def test_forms_of_a_resource(text: str, kind: str, ownership: str) -> None:
    """What is acquired is named by kind, with who gives it back."""
    assert (kind, "a", ownership) in [(one.kind, one.name, one.ownership) for one in of(text).resources]


def test_an_owner(detail: NativeDetail) -> None:
    """The class with the destructor, what it holds, and what becomes of copies and moves."""
    holds, span = ("data_", "owner_"), Span(47, 67)
    assert (Owner("grid.Buffer", span, 56, holds, ("cudaFree",), "deleted", "defined"),) == detail.owners


def test_checks(detail: NativeDetail) -> None:
    """Each macro and each question for an error, with what is checked."""
    lines = [(one.line, one.call) for one in detail.checks]
    assert [*((line, "CUDA_CHECK") for line in (53, 73, 74, 76)), (76, "cudaGetLastError")] == lines


def test_checks_have_a_message() -> None:
    """The text after the condition is the message, at compile time too."""
    found = of(
        'void f() { TORCH_CHECK(a > 0, "a is ", a); }\nstatic_assert(sizeof(int) == 4, "small");'
    ).checks
    assert [("a > 0", "a is "), ("sizeof(int) == 4", "small")] == [
        (one.condition, one.message) for one in found
    ]


def test_macros_and_templates(detail: NativeDetail) -> None:
    """A macro has its comment and the lines that use it, a template its parameters."""
    block = detail.macros[0]
    assert ("BLOCK", "256", "threads of a block", (20, 30, 69, 75)) == (
        block.name,
        block.value,
        block.comment,
        block.uses,
    )
    assert (Template("grid.detail.smooth_kernel", 29, ("typename T", "int Radius")),) == detail.templates
    assert ("grid::detail", "grid") == detail.namespaces


def test_kernels(detail: NativeDetail) -> None:
    """Bounds, indices and the lines of its launches."""
    assert [
        (("__launch_bounds__(BLOCK, 2)", "__cluster_dims__(2, 1, 1)"),
         ("blockIdx.x", "blockDim.x", "threadIdx.x"), (20, 79)),
        ((), ("threadIdx.x",), (75,)),
    ] == [(one.bounds, one.indices, one.launched_at) for one in detail.kernels]  # fmt: skip
