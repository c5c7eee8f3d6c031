"""Entries become calculators: the formulas of an entry in, a Python file with a checksum out."""

from forwardbook.generate.checksum import EditedFileError, is_unedited
from forwardbook.generate.files import outdated, remove, would_change, write
from forwardbook.generate.naming import with_generated_names
from forwardbook.generate.rendering import RenderError, line_formulas, regime_parameters, render
from forwardbook.generate.trial import Stuck, stuck

__all__ = [
    "EditedFileError",
    "RenderError",
    "Stuck",
    "is_unedited",
    "line_formulas",
    "outdated",
    "regime_parameters",
    "remove",
    "render",
    "stuck",
    "with_generated_names",
    "would_change",
    "write",
]
