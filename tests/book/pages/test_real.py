"""Real pages: what a page of this repository's own code or of hostile files says holds against the source."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from forwardbook.analyzers.calls import Graph
from forwardbook.book.pages import Context, file_page
from forwardbook.book.pages.context import Around
from forwardbook.book.verify import Claim, Sources, Verifier
from forwardbook.workspace.repository import build_repository

ROOT = Path(__file__).resolve().parents[3]
CUDA = """
#include <cuda_runtime.h>
#define SIZE 128
template <typename T>
__global__ void scale(T *x, T by) { x[threadIdx.x] *= by; }

void run(float *x, cudaStream_t stream) {
  scale<float><<<1, SIZE, 0, stream>>>(x, 2.0f);
  cudaStreamSynchronize(stream);
}
struct Adder {
  int operator()(int a, int b) { return a + b; }
};
"""
MARKUP = '''"""<script>alert(1)</script> | `Nowhere.member` calls `absent()`.

---
# end
"""
import random
from .missing import gone


class end(dict):
    """```mermaid
    sequenceDiagram
    ```"""

    def loop(self, alt=";", *, par="%%{init: {}}%%"):
        if alt == "`|`":
            raise KeyError("x; y")
        return random.choice([alt, """a'b"c"""])


def f(): pass
class f: pass
'''


def claims_of(folder: Path, cache: Path) -> dict[str, tuple[Claim, ...]]:
    """The claims of the page of every file of a folder."""
    repository = build_repository(folder, 1, cache)
    graph = Graph(repository)

    def read(path: str) -> bytes | None:
        return (folder / path).read_bytes() if (folder / path).is_file() else None

    around = Around(repository, read)
    verifier = Verifier(Sources(repository, graph, read))
    found = {}
    for path, facts in repository.files.items():
        context = Context(repository, read=read, shared=around)
        page = file_page(path, read(path) or b"", facts, graph, context)
        found[path] = verifier.verify(page.markdown(), f"docs/{page.name}")
    if verifier.grammar is not None:
        verifier.grammar.close()
    return found


def contradicted(claims: dict[str, tuple[Claim, ...]]) -> list[str]:
    """The messages of what does not hold."""
    return [each.message() for one in claims.values() for each in one if each.state == "contradicted"]


@pytest.mark.parametrize("room", ["detail", "calls", "native"])
def test_pages_of_our_own_code_hold(room: str, tmp_path: Path) -> None:
    """No claim is contradicted, and nearly all are supported."""
    shutil.copytree(ROOT / "analyzers" / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    claims = claims_of(tmp_path, tmp_path / "cache")
    assert [] == contradicted(claims)
    states = Counter(each.state for one in claims.values() for each in one)
    assert states["supported"] > 50 * states["unverified"]


def test_pages_of_hostile_files_hold(tmp_path: Path) -> None:
    """Markup in docstrings claims nothing; odd names, missing modules and operators are told as they are."""
    root = tmp_path / "src"
    root.mkdir()
    files = {
        "a.cu": CUDA,
        "markup.py": MARKUP,
        "a `b` | [c](d).py": MARKUP,
        "keys.toml": "[a]\nb = 'x|`y`'\n",
    }
    for name, text in files.items():
        (root / name).write_text(text, encoding="utf-8")
    claims = claims_of(root, tmp_path / "cache")
    assert files.keys() == claims.keys() and [] == contradicted(claims)
