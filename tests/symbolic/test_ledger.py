"""A concolic integer answers at once with its number, and writes down what was asked."""

import inspect

import pytest
import torch
from torch import nn
from torch._dispatch.python import enable_python_dispatcher

from forwardbook.analyzers.symbolic.kernels import native_shapes
from forwardbook.analyzers.symbolic.layout import channels_last, contiguous, dense
from forwardbook.analyzers.symbolic.ledger import Ledger, hint_of, number_of


@pytest.fixture
def ledger() -> Ledger:
    """A ledger of a module that is running."""
    ledger = Ledger()
    ledger.running = True
    return ledger


def test_same_computation_is_same_node(ledger: Ledger) -> None:
    """A value computed twice is one node, and a constant is one node for each kind."""
    a, b = ledger.symbol("a", 6), ledger.symbol("b", 4)

    assert (a * b + 3).node is (a * b + 3).node
    assert ledger.constant(1, int) is not ledger.constant(True, bool)


def test_neutral_operands_make_no_node(ledger: Ledger) -> None:
    """x*1, x+0, x-0 and x//1 are x; x*0 is a constant."""
    x = ledger.symbol("x", 6)

    assert [x.node] * 5 == [(x * 1).node, (1 * x).node, (x + 0).node, (x - 0).node, (x // 1).node]
    assert 0 == x * 0


def test_numbers_are_pythons_numbers(ledger: Ledger) -> None:
    """Every operator gives the number that Python's gives."""
    x, y = 17, 5
    a, b = ledger.symbol("x", x), ledger.symbol("y", y)
    symbolic = [a + b, a - b, a * b, a // b, a % b, -a, a**2, a / b]
    symbolic += [torch.sym_max(a, b), torch.sym_min(a, b)]

    assert [x + y, x - y, x * y, x // y, x % y, -x, x**2, x / y, x, y] == [hint_of(s) for s in symbolic]
    assert [x + y, x] == [number_of(value) for value in (a + b, x)]


def test_guard_is_recorded_once(ledger: Ledger) -> None:
    """A comparison that is asked twice is one guard with its answer."""
    x = ledger.symbol("x", 6)

    assert [True, True, False] == [bool(x > 3), bool(x > 3), bool(x == 5)]
    assert [("gt", True), ("eq", False)] == [(g.node.op, g.value) for g in ledger.guards]


def test_constants_are_no_guards(ledger: Ledger) -> None:
    """A comparison of a value with itself says nothing and is not written down."""
    x = ledger.symbol("x", 6)

    assert bool(x == x) and not bool(x < x)  # noqa: PLR0124
    assert [] == ledger.guards


def test_consumption_names_the_line_that_asked(ledger: Ledger) -> None:
    """A symbolic integer used as a plain number is written down with file and line."""
    x = ledger.symbol("x", 3)
    frame = inspect.currentframe()
    assert frame is not None
    assert [0, 1, 2] == list(range(x))
    line = frame.f_lineno - 1

    assert [(x.node, __file__, line)] == [(c.node, c.file, c.line) for c in ledger.consumed]


def test_constructors_own_what_they_ask() -> None:
    """What a constructor compares belongs to the module that is being built."""
    ledger = Ledger()

    class Net(nn.Module):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.wide = width > 4

    net = Net(ledger.symbol("width", 6))  # type: ignore[arg-type]
    assert bool(net.wide)

    class Asking(nn.Module):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.wide = bool(width > 5)

    asking = Asking(ledger.symbol("width", 6))  # type: ignore[arg-type]

    assert [(), (id(asking),)] == [guard.owners for guard in ledger.guards]


def test_one_symbol_has_one_hint(ledger: Ledger) -> None:
    """A symbol asked for again is the same; with another hint it is refused."""
    assert ledger.symbol("x", 6).node is ledger.symbol("x", 6).node

    with pytest.raises(ValueError, match="symbol x asked for with hint 7, known with 6"):
        ledger.symbol("x", 7)


def test_meta_tensors_keep_symbols(ledger: Ledger) -> None:
    """The shape of a product of meta tensors is made of the symbols of its factors."""
    native_shapes()
    a, b, c = (ledger.symbol(name, hint) for name, hint in (("a", 2), ("b", 3), ("c", 5)))
    with enable_python_dispatcher():
        out = torch.empty((a, b), device="meta") @ torch.empty((b, c), device="meta")

    assert [a.node, c.node] == [size.node for size in out.shape]


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 2, 3, 1), (3, 0, 2, 1), (0, 2, 1, 3)])
@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (2, 1, 4, 5), (1, 3, 1, 5)])
def test_layout_is_answered_as_torch_does(shape: tuple[int, ...], order: tuple[int, ...]) -> None:
    """Contiguous, dense and channels-last are what torch says of a tensor of the same strides."""
    tensor = torch.empty(shape).permute(order)
    sizes, strides = list(tensor.shape), list(tensor.stride())

    assert tensor.is_contiguous() == contiguous(sizes, strides)
    assert torch.ops.aten.is_non_overlapping_and_dense(tensor) == dense(sizes, strides)
    last = channels_last((0, 2, 3, 1))(sizes, strides)
    assert tensor.is_contiguous(memory_format=torch.channels_last) == last
