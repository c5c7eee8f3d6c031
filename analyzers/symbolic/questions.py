"""Notes what a shape function asks of sizes: in another run, equal answers mean equal shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forwardbook.analyzers.symbolic.forms import Number
from forwardbook.analyzers.symbolic.layout import QUESTIONS

if TYPE_CHECKING:
    from forwardbook.analyzers.symbolic.ledger import Ledger
    from forwardbook.analyzers.symbolic.node import Node

_TRUTH, _NUMBER = "truth", "number"  # a comparison that becomes a condition; a number that was looked at


class Questions:
    """Questions about forms and their answers in one run, each once, in order."""

    __slots__ = ("answers", "consumes")

    def __init__(self) -> None:
        self.answers: dict[tuple[str, tuple[int, ...]], Number] = {}
        self.consumes = False
        """Whether an integer was needed as a plain number: that is written down with the place that asks."""

    def truth(self, node: Node) -> None:
        """Notes a comparison that is answered."""
        if node.pytype is bool:
            self.answers.setdefault((_TRUTH, (node.form,)), node.number)
        else:
            self.consumes = True

    def number(self, node: Node) -> None:
        """Notes that the number of a node is looked at."""
        if node.op != "constant":
            self.answers.setdefault((_NUMBER, (node.form,)), node.number)

    def layout(self, question: str, sizes: list[Node], strides: list[Node], answer: bool) -> None:
        """Notes how a tensor of these sizes and strides is said to lie."""
        forms = tuple(node.form for node in (*sizes, *strides))
        self.answers.setdefault((question, forms), answer)

    def answered_alike(self, ledger: Ledger) -> bool:
        """Whether every question has the same answer in the run of `ledger`."""
        for (question, forms), answer in self.answers.items():
            nodes = [ledger.of_form(form) for form in forms]
            if None in nodes:
                return False
            numbers = [node.number for node in nodes if node is not None]
            found = numbers[0] if question in (_TRUTH, _NUMBER) else _lies(question, numbers)
            if found != answer:
                return False
        return True

    def truths(self) -> list[tuple[str, tuple[int, ...]]]:
        """The comparisons asked, in order."""
        return [key for key in self.answers if key[0] == _TRUTH]

    def comparisons(self, ledger: Ledger) -> list[Node]:
        """The comparisons asked, as nodes of `ledger`, in order."""
        asked = (ledger.of_form(forms[0]) for _, forms in self.truths())
        return [node for node in asked if node is not None]


def _lies(question: str, numbers: list[Number]) -> bool:
    half = len(numbers) // 2
    whole = [int(number) for number in numbers]
    return QUESTIONS[question](whole[:half], whole[half:])
