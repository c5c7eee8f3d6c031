"""The README: what it shows is what the commands print."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
_SPEC = importlib.util.spec_from_file_location("fill_readme", ROOT / "docs" / "fill_readme.py")
assert _SPEC is not None
assert _SPEC.loader is not None
fill_readme = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(fill_readme)

BLOCKS = [
    match.group()
    for match in fill_readme.BLOCK.finditer((ROOT / "README.md").read_text(encoding="utf-8"))
    if match["body"]
]


def test_block_is_filled_with_the_output() -> None:
    """A marked block becomes the command and what it printed; the rest of the text stays."""
    text = "before\n<!-- output: forwardbook list -->\nold\n<!-- /output -->\nafter"
    shown = "```console\n$ forwardbook list\nnew\n```"
    expected = f"before\n<!-- output: forwardbook list -->\n{shown}\n<!-- /output -->\nafter"

    assert expected == fill_readme.filled(text, lambda command: "\nnew  \n")


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.splitlines()[0][13:60])
def test_example_is_real(block: str) -> None:
    """Each filled example is what its command prints now; `make readme` writes it."""
    assert fill_readme.filled(block, fill_readme.output) == block
