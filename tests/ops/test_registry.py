"""The table of rules: what it refuses, what it reports, what it counts where a rule says nothing."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import forwardbook.analyzers.ops as room
from forwardbook.analyzers.ops import (
    RULES_VERSION,
    DuplicateRule,
    NoRule,
    Operand,
    Operation,
    Work,
    cost_of,
    has_rule,
    is_view,
    rule,
    rules,
)
from forwardbook.analyzers.ops.operation import broadcast
from forwardbook.cost import Cost
from forwardbook.errors import ForwardbookError
from forwardbook.formula import Expr

Make = Callable[..., Operand]
MakeOp = Callable[..., Operation]

FOLDER = Path(room.__file__ or "").resolve().parent
NO_RULES = {"__init__", "__main__", "changes", "operation", "registry", "table"}


def test_an_unknown_operation_is_named_never_zero(operation: MakeOp, tensor: Make) -> None:
    """An operation without a rule raises NoRule with its name."""
    with pytest.raises(NoRule, match=r"mylib\.secret: no rule") as caught:
        cost_of(operation("mylib.secret", (3, 4), self=tensor(3, 4)))
    assert caught.value.name == "mylib.secret"
    assert isinstance(caught.value, ForwardbookError)


def test_a_second_rule_for_a_name_is_refused() -> None:
    """The message of a duplicate names both functions, and the first rule stays."""
    before = rules()
    with pytest.raises(
        DuplicateRule, match=r"for aten\.mm: it already has the rule matrix_product of matmul.py"
    ):

        @rule("aten.mm", reason="again")
        def again(op: Operation) -> Work:
            return Work()

    assert rules() == before


def test_a_refused_rule_leaves_nothing_behind() -> None:
    """Of a rule with one name taken, the others are not registered either."""
    with pytest.raises(DuplicateRule, match=r"for aten\.mm"):
        rule("mylib.first", "aten.mm", reason="half of this is taken")(lambda op: Work())
    with pytest.raises(DuplicateRule, match=r"for mylib\.twice"):
        rule("mylib.twice", "mylib.twice", reason="one name given twice")(lambda op: Work())
    assert (has_rule("mylib.first"), has_rule("mylib.twice")) == (False, False)


def test_no_name_is_stated_twice() -> None:
    """Over all rules, names are unique."""
    names = [name for record in rules() for name in record.names]
    assert sorted(set(names)) == sorted(names)


def test_every_rule_gives_a_reason() -> None:
    """No reason is empty or shorter than a phrase."""
    assert [r.names for r in rules() if len(r.reason.split()) < 4] == []


def test_every_file_of_rules_states_some_and_has_a_test() -> None:
    """Files that state rules = files of the folder = files of tests, but for the machinery."""
    files = {path.stem for path in FOLDER.glob("*.py")} - NO_RULES
    tests = {path.stem.removeprefix("test_") for path in Path(__file__).parent.glob("test_*.py")}
    assert {record.source.removesuffix(".py") for record in rules()} == files
    assert files - tests == set()


def test_every_aten_name_exists_in_torch() -> None:
    """No rule names an aten operation that torch does not have."""
    known = {name.split("::")[1].split(".")[0] for name in torch._C._dispatch_get_all_op_names()}
    named = {name for record in rules() for name in record.names if name.startswith("aten.")}
    assert {name for name in named if name.removeprefix("aten.") not in known} == set()


def test_a_view_costs_nothing_by_its_operands(operation: MakeOp, tensor: Make) -> None:
    """Outputs that alias inputs and no change: zero, also for a name that nobody knows."""
    op = operation("mylib.peek", tensor(4, 3), self=tensor(3, 4))
    assert is_view(op)
    assert cost_of(op) == Cost.zero()


def test_no_output_is_not_a_view(operation: MakeOp, tensor: Make) -> None:
    """An unknown operation without a tensor result is reported."""
    with pytest.raises(NoRule):
        cost_of(operation("mylib.check", self=tensor(3)))


def test_the_same_view_is_read_once(operation: MakeOp, tensor: Make) -> None:
    """x * x reads x once."""
    x = tensor(3, 5)
    assert cost_of(operation("aten.mul", (3, 5), self=x, other=x)) == Cost(0, 15, 60, 60)


def test_an_expanded_operand_is_read_once() -> None:
    """A stride-0 dimension counts once among the bytes read."""
    x = Operand((3, 5), 4, 5, storage=0, view="x")
    y = Operand((3, 5), 4, 15, storage=1, view="y")
    out = Operand((3, 5), 4, 15, storage=2, view="out", fresh=True)
    assert cost_of(Operation("aten.add", "Tensor", (x, y), (out,))).reads == 4 * (5 + 15)


def test_in_place_reads_and_writes_self(operation: MakeOp, tensor: Make) -> None:
    """x += y reads both and writes x."""
    x = tensor(3, 5, mutated=True)
    assert cost_of(operation("aten.add_", x, self=x, other=tensor(3, 5))) == Cost(0, 15, 120, 60)


def test_out_tensors_are_written_not_read(operation: MakeOp, tensor: Make) -> None:
    """add(x, y, out=z) reads x and y and writes z."""
    out = tensor(3, 5, mutated=True)
    op = operation("aten.add", out, overload="out", self=tensor(3, 5), other=tensor(3, 5), out=out)
    assert cost_of(op) == Cost(0, 15, 120, 60)


def test_has_rule_knows_names() -> None:
    """has_rule answers without an operation."""
    assert (has_rule("aten.mm"), has_rule("aten.nothing")) == (True, False)


def test_the_version_is_a_short_hash() -> None:
    """Sixteen hexadecimal digits, the same within a run."""
    assert len(RULES_VERSION) == 16
    assert int(RULES_VERSION, 16) >= 0


def test_broadcast_keeps_what_is_not_the_number_one() -> None:
    """A literal 1 gives way, also where the other is a symbol or the shape is shorter."""
    n = Expr.symbol("n")
    assert broadcast([(4, 1), (1, 5)]) == (4, 5)
    assert broadcast([(1,), (n, 1), (7,)]) == (n, 7)
    assert broadcast([(Expr.const(1),), (n,)]) == (n,)
    assert broadcast([]) == ()
