"""The one table of cost rules: an operation comes in, its cost goes out, or NoRule with its name."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from forwardbook.analyzers.ops.operation import Operand, Operation, Size, Work, product, total
from forwardbook.cost import Cost
from forwardbook.errors import ForwardbookError

__all__ = [
    "RULES_VERSION",
    "DuplicateRule",
    "NoRule",
    "Operand",
    "Operation",
    "RuleRecord",
    "Size",
    "Work",
    "bytes_read",
    "bytes_written",
    "cost_of",
    "has_rule",
    "is_view",
    "product",
    "rule",
    "rules",
    "storages_of",
    "total",
]

COMPLEX = 4
"""Times as many flops for complex numbers: a multiply-accumulate of them is four real ones, 8 flops, since
(a + ib)(c + id) is four products and two sums, and adding it is two sums more."""

RuleFunction = Callable[[Operation], Work]
StorageFunction = Callable[[Operation], tuple[Size, ...]]

# Overloads that write into tensors the caller hands in, beside every name that ends in "out".
_OUT_NAMES = """
    values values_stable dim_values dim_max dim_min output grad_input out_mode out_ OutTensor OutScalar_Self
    OutScalar_Other out_rcond_tensor out_tol_tensor a U Q X L inverse result sign eigvals eigenvalues
"""
_OUT_OVERLOADS = frozenset(_OUT_NAMES.split())


class NoRule(ForwardbookError):
    """An operation whose cost nobody has stated; never counted as zero."""

    def __init__(self, name: str, found: str = "no rule states its cost") -> None:
        super().__init__(
            f"counting the cost of {name}: {found}; add a function with @rule({name!r}, reason=...) "
            "to a file of analyzers/ops/"
        )
        self.name = name


class DuplicateRule(ForwardbookError):
    """Two rules for one operation."""


@dataclass(frozen=True, slots=True)
class RuleRecord:
    """One rule as the docs table shows it."""

    names: tuple[str, ...]
    reason: str
    source: str


_functions: dict[str, RuleFunction] = {}
_storages: dict[str, StorageFunction] = {}
_records: list[RuleRecord] = []


def rule(
    *names: str, reason: str, storages: StorageFunction | None = None
) -> Callable[[RuleFunction], RuleFunction]:
    """Register one function as the rule of the named operations; a second rule for a name is refused.

    `storages` states the bytes of the storage of each output where these are not those of its elements, or
    where devices differ in them.
    """

    def register(function: RuleFunction) -> RuleFunction:
        source = Path(inspect.getfile(function)).name
        taken = sorted(name for name in set(names) if name in _functions or names.count(name) > 1)
        for name in taken:
            owner = _functions.get(name, function)
            raise DuplicateRule(
                f"registering {function.__name__} of {source} for {name}: it already has the rule "
                f"{owner.__name__} of {Path(inspect.getfile(owner)).name}; keep one"
            )
        _functions.update(dict.fromkeys(names, function))
        if storages is not None:
            _storages.update(dict.fromkeys(names, storages))
        _records.append(RuleRecord(names, reason, source))
        return function

    return register


def in_place(*names: str) -> tuple[str, ...]:
    """The aten names of operations that exist as a function and in place: "add" -> aten.add, aten.add_."""
    return aten(*(f"{name} {name}_" for name in " ".join(names).split()))


def aten(*names: str) -> tuple[str, ...]:
    """The aten names of operations, blanks between them: "mm bmm" -> aten.mm, aten.bmm."""
    return tuple(f"aten.{name}" for name in " ".join(names).split())


def rules() -> tuple[RuleRecord, ...]:
    """Every rule, by file and then in the order in which the file states them."""
    return tuple(sorted(_records, key=lambda record: record.source))


def has_rule(name: str) -> bool:
    """True where a rule states the cost of the operation."""
    return name in _functions


def is_view(op: Operation) -> bool:
    """True where all that comes out aliases what went in and nothing is written: no byte moves."""
    born = any(out.fresh for out in op.outputs)
    return bool(op.outputs) and not born and not any(x.mutated for x in op.inputs)


def cost_of(op: Operation) -> Cost:
    """The cost of one operation by its rule; of a view, nothing; without a rule, NoRule.

    Rules count a multiply-accumulate of real numbers; where an input is complex, each is COMPLEX of those.
    """
    if is_view(op):
        return Cost.zero()
    function = _functions.get(op.name)
    if function is None:
        raise NoRule(op.name)
    work = function(op)
    times = COMPLEX if any(x.is_complex for x in op.inputs) else 1
    reads = bytes_read(op) if work.reads is None else work.reads
    writes = bytes_written(op) if work.writes is None else work.writes
    return Cost(flops=times * work.flops, pointwise_ops=work.pointwise_ops, reads=reads, writes=writes)


def storages_of(op: Operation) -> tuple[Size, ...]:
    """The bytes of the storage of each output that is born in the operation."""
    stated = _storages.get(op.name)
    return tuple(out.bytes for out in op.outputs) if stated is None else stated(op)


def once(*operands: Operand | None) -> Size:
    """The bytes of the given operands, the same view counted once."""
    given = [x for x in operands if x is not None]
    views = {id(x) if x.view is None else x.view: x for x in given}
    return total(*(x.bytes for x in views.values()))


def bytes_read(op: Operation) -> Size:
    """Distinct bytes of the inputs, each view once; the tensors of an out= overload are written, not read."""
    return once(*(x for x in op.inputs if not (x.mutated and is_out(op))))


def bytes_written(op: Operation) -> Size:
    """Distinct bytes of the outputs born here and of the inputs written in place."""
    return once(*(out for out in op.outputs if out.fresh), *(x for x in op.inputs if x.mutated))


def is_out(op: Operation) -> bool:
    """True where the call hands in the tensors that its results overwrite."""
    return op.overload.endswith("out") or op.overload in _OUT_OVERLOADS


def rules_version() -> str:
    """A hash of the text of every file of this folder that can change a count."""
    folder = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        if path.name not in ("changes.py", "table.py", "__main__.py"):
            digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


RULES_VERSION: str = rules_version()
