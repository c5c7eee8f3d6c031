"""Every annotated file: read, derived, measured and interpreted, each agrees with the comment on the line."""

from pathlib import Path

import pytest
import torch
from agreement import (
    as_polynomial,
    at,
    condition_text,
    derived,
    disagreements,
    dtype_of,
    fed,
    full_name,
    interpreted,
    measured,
    module_of,
    names_of_operations,
    recipe_of,
    shown,
)
from annotated import CASES, BadAnnotation, Case, all_cases, read_case

from forwardbook.analyzers.instances.tensors import PlainMaker
from forwardbook.analyzers.reader.functions import function_facts
from forwardbook.analyzers.reader.reader import find_class, find_method
from forwardbook.analyzers.reader.resolve import linearize, resolve
from forwardbook.analyzers.reader.sources import Sources
from forwardbook.analyzers.static import Unresolved
from forwardbook.analyzers.symbolic.run import NumberSizes
from forwardbook.formula import Condition

ALL = all_cases()
RIGHT = [case for case in ALL if not case.value("wrong")]
WRONG = [case for case in ALL if case.value("wrong")]
SEEDS = (11, 12)  # of the sizes at which a file is measured

every_case = pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
right_case = pytest.mark.parametrize("case", RIGHT, ids=lambda case: case.name)
wrong_case = pytest.mark.parametrize("case", WRONG, ids=lambda case: case.name)


@every_case
def test_reader_finds_the_annotated_lines(case: Case) -> None:
    """Every comment stands on a statement that the reader finds, with the text that the file has there."""
    sources = Sources()
    found = find_class(case.target, case.path, sources)
    if entry := case.value("executed"):
        function = resolve(sources, found.source, entry)
    else:
        function = find_method(list(linearize(sources, found.source, found.node)), "forward")  # type: ignore[arg-type]
    assert function is not None
    statements = {s.span.line: s for s in function_facts(function).statements}
    lines = case.text.splitlines()

    for annotation in case.annotations:
        statement = statements[annotation.first]
        assert annotation.last == statement.span.end_line
        assert statement.text.splitlines()[0] in lines[annotation.first - 1]


@right_case
def test_derivation_states_the_comments(case: Case) -> None:
    """Each line's derived cost is the polynomial of its comment, and so are the totals of the header."""
    found = derived(case)

    assert case.calls == case.calls[: len(found)]
    for call, one in zip(case.calls, found, strict=True):
        assert "" == shown(disagreements(case, call, one.pattern.summary, as_polynomial(case)))


@right_case
def test_proof_is_exact_or_says_what_is_unknown(case: Case) -> None:
    """Every pattern is proved exact; where an operation has no rule, it is named, and nothing is exact."""
    for one in derived(case):
        assert set(case.values("unresolved")) == {u.name for u in one.pattern.unruled}
        assert [] == one.proof.differences
        assert one.exact is not bool(case.values("unresolved"))


@right_case
def test_conditions_and_assumptions_are_listed(case: Case) -> None:
    """What must hold, or had to be assumed, by the header is in the pattern; nothing else is assumed."""
    for one in derived(case):
        conditions = [_canonical(c) for c in one.pattern.conditions]
        for text in case.values("condition"):
            assert _canonical(Condition.parse(condition_text(case, text))) in conditions
        assumed = one.pattern.assumptions
        assert all(any(text in found for found in assumed) for text in case.values("assumes"))
        assert all(any(text in found for text in case.values("assumes")) for found in assumed)


@pytest.mark.parametrize("seed", SEEDS)
@right_case
def test_measurement_gives_the_comments(case: Case, seed: int) -> None:
    """At random sizes and widths each line costs the integers that its comment gives."""
    sizes, summaries = measured(case, seed)

    for call, summary in zip(case.calls, summaries, strict=True):
        assert "" == shown(disagreements(case, call, summary, at(sizes)))


@right_case
def test_interpretation_gives_the_comments(case: Case) -> None:
    """Interpreted and never imported, each line costs what its comment gives; else the file says why not."""
    sizes, _ = measured(case, SEEDS[0])
    if reason := case.value("static"):
        with pytest.raises(Unresolved):
            interpreted(case, sizes)
        pytest.skip(reason)

    for call, summary in zip(case.calls, interpreted(case, sizes), strict=True):
        assert "" == shown(disagreements(case, call, summary, at(sizes)))


@wrong_case
def test_wrong_comments_are_rejected(case: Case) -> None:
    """A comment that is wrong on purpose disagrees with derivation, measurement and interpretation alike."""
    sizes, summaries = measured(case, SEEDS[0])
    symbolic = [one.pattern.summary for one in derived(case)]

    assert all(disagreements(case, "only", one, as_polynomial(case)) for one in symbolic)
    assert all(disagreements(case, "only", one, at(sizes)) for one in summaries)
    assert all(disagreements(case, "only", one, at(sizes)) for one in interpreted(case, sizes))


@pytest.mark.parametrize("case", [c for c in RIGHT if 2 in c.groups], ids=lambda case: case.name)
def test_the_branch_taken_is_that_of_eager_torch(case: Case) -> None:
    """On the CPU, outside any tracing, the module runs the operations that the derivation met."""
    chosen = NumberSizes({})
    recipe, classes = recipe_of(case), vars(module_of(case))
    root = recipe.build(chosen)
    _, given = fed(case, chosen, PlainMaker(), classes)

    lines = derived(case)[0].pattern.summary.lines
    met = [name for line in lines for name, count in line.operations for _ in range(count)]
    assert sorted(names_of_operations(root, given)) == sorted(met)


def test_all_groups_have_cases() -> None:
    """Each of the 21 groups of nasty cases is the subject of a file, and there is no other group."""
    assert set(range(1, 22)) == {group for case in ALL for group in case.groups}


def test_there_are_enough_cases() -> None:
    """At least 60 files state what is right, and each states at least one cost."""
    assert len(RIGHT) >= 60
    assert all(case.annotations for case in ALL)


def test_every_file_is_collected() -> None:
    """Every Python file of the folder is a case, every case has a group, a docstring and a torch dtype."""
    assert sorted(CASES.rglob("*.py")) == [case.path for case in ALL]
    for case in ALL:
        assert case.groups, case.name
        assert case.tree.body[0].value.value.endswith("."), case.name  # type: ignore[attr-defined]
        assert isinstance(dtype_of(case), torch.dtype)
        assert full_name(case).endswith(case.target)


@pytest.mark.parametrize(
    ("header", "line"),
    [
        ("# sises: B=batch_size:3", "return x  # nothing"),
        ("# group: 1 any", "return x  # flops 2*Q"),
        ("# group: 1 any", "return x  # flops 2; flops 3"),
        ("# group: 1 any", "return x  # reads 2**2"),
    ],
)
def test_mistakes_in_comments_are_told(tmp_path: Path, header: str, line: str) -> None:
    """An unknown key, an unknown size, a quantity given twice and a foreign operator are errors."""
    file = tmp_path / "mistaken.py"
    file.write_text(f'"""Mistaken."""\n{header}\n\nclass A:\n    def forward(self, x):\n        {line}\n')

    with pytest.raises(BadAnnotation):
        assert read_case(file).annotations


def _canonical(condition: Condition) -> tuple[str, str]:
    """A condition as a difference compared with zero, the greater side first."""
    turned = {"<": ">", "<=": ">="}
    left, right = condition.left, condition.right
    if condition.op in turned:
        return (right - left).text(), turned[condition.op]
    return (left - right).text(), condition.op
