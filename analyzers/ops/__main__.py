"""Prints the page of rules: `python -m forwardbook.analyzers.ops > docs/rules.md`."""

from forwardbook.analyzers.ops.table import render

print(render(), end="")
