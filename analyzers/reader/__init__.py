"""Source text in, facts out: spans, names, attributes, branches, loops and helpers of a class."""

from forwardbook.analyzers.reader.autocast import Autocast, autocasts
from forwardbook.analyzers.reader.facts import (
    Attribute,
    Branch,
    ConfigRead,
    Facts,
    FunctionFacts,
    Loop,
    Span,
    Statement,
)
from forwardbook.analyzers.reader.family import family_digest
from forwardbook.analyzers.reader.glance import Glance, glance_at
from forwardbook.analyzers.reader.lookup import LineMap, line_map
from forwardbook.analyzers.reader.module_classes import ClassTable, ModuleClass
from forwardbook.analyzers.reader.outline import Outlines
from forwardbook.analyzers.reader.reach import code_hash
from forwardbook.analyzers.reader.reader import read_class
from forwardbook.analyzers.reader.sources import ReaderError, SourceFile, Sources

__all__ = [
    "Attribute",
    "Autocast",
    "Branch",
    "ClassTable",
    "ConfigRead",
    "Facts",
    "FunctionFacts",
    "Glance",
    "LineMap",
    "Loop",
    "ModuleClass",
    "Outlines",
    "ReaderError",
    "SourceFile",
    "Sources",
    "Span",
    "Statement",
    "autocasts",
    "code_hash",
    "family_digest",
    "glance_at",
    "line_map",
    "read_class",
]
