"""What `[tool.forwardbook]` may say, and how each mistake in it is told."""

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forwardbook.guard.budget import BudgetError, parse_budget
from forwardbook.guard.settings import (
    Settings,
    SettingsError,
    is_named,
    parse_tolerance,
    read_settings,
    settings_of,
)

GOOD = """
[tool.forwardbook]
tolerance = "2 %"
[tool.forwardbook.sizes]
seq_len = 4096
"mymodel.Block" = {width = 512}
[tool.forwardbook.budgets]
[tool.forwardbook.budgets."mymodel.Block"]
flops = "< 3.1e12 @ batch_size=1, seq_len=2048"
peak = ["<= 80 GiB", "< 1_000 MB @ seq_len=1"]
"""


def test_everything_is_read() -> None:
    """Tolerance, sizes for all and for a class, and budgets come out as exact numbers."""
    found = settings_of(GOOD, "pyproject.toml")

    assert Fraction(1, 50) == found.tolerance
    assert {"seq_len": 4096, "width": 512} == found.sizes_of("mymodel.layers.Block")
    assert {"seq_len": 4096} == found.sizes_of("other.Block")
    assert [Fraction(3_100_000_000_000), Fraction(80 * 1024**3), Fraction(10**9)] == [
        b.bound for b in found.budgets
    ]
    assert [{"batch_size": 1, "seq_len": 2048}, {}, {"seq_len": 1}] == [b.sizes for b in found.budgets]


def test_every_problem_is_told_at_once() -> None:
    """Unknown names, wrong types and budgets that are not understood are listed together."""
    text = """
    [tool.forwardbook]
    tolerance = "a lot"
    speed = 1
    [tool.forwardbook.sizes]
    seq_len = "long"
    [tool.forwardbook.budgets]
    Block = {speed = "< 3", flops = "3e12", peak = "< 3 lightyears", reads = "< 1 @ seq_len"}
    Other = "< 3"
    """
    with pytest.raises(SettingsError) as caught:
        settings_of(text, "pyproject.toml")
    for words in (
        "speed: not known",
        "the tolerance 'a lot'",
        "sizes.seq_len: a whole number",
        '"Block".speed: there is no such quantity',
        "'3e12': a comparison",
        "'< 3 lightyears': a comparison",
        "'seq_len' after @",
        'budgets."Other"',
    ):
        assert words in str(caught.value)


def test_no_file_and_no_table_mean_the_defaults(tmp_path: Path) -> None:
    """A project without a table has no tolerance, no sizes and no budgets."""
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")

    assert Settings() == read_settings(tmp_path)
    with pytest.raises(SettingsError, match="it is not TOML"):
        settings_of("[tool", "pyproject.toml")


@pytest.mark.parametrize(
    ("text", "share"), [("0", "0"), ("2%", "1/50"), (" 0.5 % ", "1/200"), ("0.02", "1/50"), (".1", "1/10")]
)
def test_tolerances_are_exact(text: str, share: str) -> None:
    """A share of the cost, as percent or as a number."""
    assert Fraction(share) == parse_tolerance(text)


@pytest.mark.parametrize("text", ["-1%", "2%%", "", "nan", "1e9999"])
def test_other_tolerances_are_refused(text: str) -> None:
    """What is no share of anything is an error of ours."""
    with pytest.raises(SettingsError):
        parse_tolerance(text)


@pytest.mark.parametrize(
    ("sign", "number", "holds"),
    [("<", 10, (True, False, False)), ("<=", 10, (True, True, False)), (">=", 10, (False, True, True))],
)
def test_a_budget_compares_exactly(sign: str, number: int, holds: tuple[bool, ...]) -> None:
    """Below, at and above the bound."""
    budget = parse_budget("Block", "flops", f"{sign} {number}")

    assert holds == tuple(budget.holds(value) for value in (9, 10, 11))


def test_numbers_beyond_floating_point_are_exact() -> None:
    """2^53 and one more are told apart, and huge exponents are refused instead of computed."""
    assert not parse_budget("Block", "flops", "<= 9007199254740992").holds(9007199254740993)
    with pytest.raises(BudgetError):
        parse_budget("Block", "flops", "< 1e99999999")


@pytest.mark.parametrize(
    ("name", "means"),
    [
        ("Block", True),
        ("mymodel.Block", True),
        ("mymodel.layers.Block", True),
        ("my.Block", False),
        ("lock", False),
    ],
)
def test_names_of_classes(name: str, means: bool) -> None:
    """A class is named by itself, in full, or by package and class without what is between."""
    assert means == is_named("mymodel.layers.Block", name)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="<>=@ 0123456789.eE+_-kMGiB,seq_len\n", max_size=30))
def test_any_budget_is_understood_or_refused(text: str) -> None:
    """Whatever is written, it is a budget or an error of ours."""
    try:
        assert parse_budget("Block", "flops", text).holds(0) in (True, False)
    except BudgetError as error:
        assert "a comparison, a number" in str(error) or "after @" in str(error)
