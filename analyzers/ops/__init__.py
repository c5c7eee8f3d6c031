"""Cost rules: one operation with its sizes comes in, flops, pointwise operations, reads and writes go out."""

from importlib import import_module
from pkgutil import iter_modules

from forwardbook.analyzers.ops.registry import (
    RULES_VERSION,
    DuplicateRule,
    NoRule,
    Operand,
    Operation,
    RuleRecord,
    Size,
    Work,
    cost_of,
    has_rule,
    is_view,
    rule,
    rules,
    storages_of,
)

__all__ = [
    "RULES_VERSION", "DuplicateRule", "NoRule", "Operand", "Operation", "RuleRecord", "Size", "Work",
    "cost_of", "has_rule", "is_view", "rule", "rules", "storages_of",
]  # fmt: skip

# Every file of the folder states its rules on import; there is no list to keep.
for _file in iter_modules(__path__):
    if not _file.name.startswith("_"):
        import_module(f"{__name__}.{_file.name}")
