"""What one types for a command whose help names no example in its first line: a name in, the words out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

EXAMPLES: Final[Mapping[str, str]] = {
    "init": "--name 'My models'",
    "analyze-module": "layers.py:Block --input x=batch_size,seq_len,dim",
    "validate": "layers_Block torch.nn.Linear",
    "reprove": "torch_LayerNorm",
    "list": "attention",
    "show": "LlamaAttention",
    "check": "--tolerance 1% --report cost.md",
    "diff": "HEAD~1 now",
    "regenerate": "--dry-run",
    "static-share": "--json",
    "coverage": "--library torch",
    "schema": "database",
    "explain": "src/layers.py --out docs/explained",
    "verify": "docs/explained --root .",
    "score": "docs/explained --root .",
}


def epilog(command: str) -> str | None:
    """The line beneath the help of a command."""
    example = EXAMPLES.get(command)
    return None if example is None else f"Example: `forwardbook {command} {example}`"
