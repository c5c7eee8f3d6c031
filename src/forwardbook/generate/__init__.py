"""Entries become calculators: the formulas of an entry in, a Python file with a checksum out."""

from forwardbook.generate.checksum import EditedFileError, is_unedited
from forwardbook.generate.files import outdated, present_text, remove, would_change, write
from forwardbook.generate.naming import calculator_name, with_generated_names
from forwardbook.generate.rendering import RenderError, is_same, line_formulas, regime_parameters, render
from forwardbook.generate.trial import Stuck, stuck

__all__ = [
    "EditedFileError",
    "RenderError",
    "Stuck",
    "calculator_name",
    "is_same",
    "is_unedited",
    "line_formulas",
    "outdated",
    "present_text",
    "regime_parameters",
    "remove",
    "render",
    "stuck",
    "with_generated_names",
    "would_change",
    "write",
]
