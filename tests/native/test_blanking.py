"""What is blanked lets the grammar read what it could not."""

import pytest

from forwardbook.analyzers.native.blanking import blank
from forwardbook.analyzers.native.grammar import nodes_of
from forwardbook.analyzers.native.masking import mask

HARD = [
    "__global__ void __launch_bounds__(1) __cluster_dims__(2, 1, 1) k(int a) {}",
    "__global__ __cluster_dims__(2) void k(const __grid_constant__ P p) {}",
    "API_EXPORT int f(int a);",
    "API_EXPORT MY_INLINE T operator+(T a, T b) { return a; }",
    "CONSTANT float table[2] = {1, 2};",
    "class API_EXPORT A : public B {};",
    "MY_API(1) static void f() {}",
    "void f() { UNROLL_LOOP for (int i = 0; i < 2; ++i) g(i); }",
    "#ifdef A\nvoid f(int a) {\n#else\nvoid f(long a) {\n#endif\n}\n",
    '#ifdef __cplusplus\nextern "C" {\n#endif\nint f(void);\n#ifdef __cplusplus\n}\n#endif\n',
    "void f(int a,\n#if B\n int b,\n#endif\n int c) {}",
    "void f() {\n#if A\n if (a) b();\n else\n#endif\n c();\n}",
    "void f() { auto x = typename T::U(1); }",
]
HARMLESS = [
    "FILE *open(const char *name);",
    "DWORD const x = 1;",
    "struct POINT a = {1, 2};",
    "return_t f() { return MAX_VALUE * b; }",
    "A_TYPE::B_TYPE x(1);",
    "#if A\nint a;\n#else\nint b;\n#endif\n",
    "#define API_EXPORT int f(int a)\n",
    'const char *a = "API_EXPORT int f(int a);";',
]


@pytest.mark.parametrize("text", HARD)
def test_hard_text_is_read_without_error(text: str) -> None:
    """After blanking the grammar finds no error."""
    nodes = nodes_of(blank(mask(text.encode())).text, True)
    assert nodes is not None
    assert [] == [tag for tag, _ in nodes if tag == "error"]


@pytest.mark.parametrize("text", HARMLESS)
def test_what_the_grammar_reads_is_left_alone(text: str) -> None:
    """Types in capitals, strings, directives and even branches are not blanked."""
    assert text.encode() == blank(mask(text.encode())).text
