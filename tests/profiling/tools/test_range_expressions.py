"""Expressions that choose ranges, held against what nsys and ncu were seen to do with them."""

import pytest

from forwardbook.profiling.tools.range_expressions import (
    MatchesNothing,
    Range,
    ncu_matches,
    nsys_matches,
    refuse_nothing,
    written,
)

INNER = ("init_data", "daxpy", "check_results")
STACKS = {name: (Range("run_test"), Range(name)) for name in INNER}


@pytest.mark.parametrize(
    ("expression", "chosen"),
    [
        *((text, ("daxpy",)) for text in ("daxpy/", "daxpy]", "run_test/*/daxpy", "run_test/daxpy")),
        *((text, INNER) for text in ("run_test/", "[run_test")),
        *((text, ()) for text in ("daxpy", "daxpy*", "da*/", "run_test]", "default@daxpy/")),
        ("regex:da.*/", ("init_data", "daxpy")),
        ("regex:^(daxpy|init_data)$/", ("init_data", "daxpy")),
    ],
)
def test_ncu(expression: str, chosen: tuple[str, ...]) -> None:
    """On a recorded report with one range around three, ncu 2024.1 chose these kernels."""
    assert chosen == tuple(name for name, stack in STACKS.items() if ncu_matches(expression, stack))


@pytest.mark.parametrize(
    ("expression", "one", "expected"),
    [
        ("prefill", Range("prefill"), True),
        ("prefill@*", Range("prefill"), True),
        ("prefill@NVTX", Range("prefill"), False),
        ("decode", Range("decode", "fb"), False),
        ("decode@fb", Range("decode", "fb"), True),
        ("decode@*", Range("decode", "fb"), True),
        ("unknown", Range("prefill"), False),
    ],
)
def test_nsys(expression: str, one: Range, expected: bool) -> None:
    """nsys 2022.4 and 2023.4 captured, or wrote no report and exited with 0."""
    assert expected == nsys_matches(expression, one)


@pytest.mark.parametrize("one", [Range("prefill"), Range("decode", "forwardbook")])
def test_what_is_proposed_fits(one: Range) -> None:
    """The expression written for a range fits it in both tools."""
    assert nsys_matches(written("nsys", one), one)
    assert ncu_matches(written("ncu", one), [one])


@pytest.mark.parametrize(("tool", "expression"), [("nsys", "decode"), ("ncu", "decode*"), ("ncu", "decode")])
def test_nothing_is_refused_before_running(tool: str, expression: str) -> None:
    """An expression that fits no range is an error that shows one that would."""
    with pytest.raises(MatchesNothing, match="decode@forwardbook|forwardbook@decode/"):
        refuse_nothing(tool, expression, [[Range("decode", "forwardbook")]])
