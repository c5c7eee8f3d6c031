"""The live calculator: digits and refusals are those of Python, and a link shows the same again."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from forwardbook import registry
from forwardbook.calculator import Calculator, CalculatorError
from forwardbook.calculator.choice import fitting
from forwardbook.schema import QUANTITIES

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page
    from tests.site.browser.conftest import Reader, Site

SETTINGS = 50
MLP = "book/modules/transformers_LlamaMLP.html"
ATTENTION = "book/modules/transformers_LlamaAttention.html"

ANSWERS = """settings => settings.map(sizes => {
  const boxes = [...document.querySelectorAll('.fb-inputs .fb-field')].map(field =>
    [field.querySelector('label').firstChild.textContent, field.querySelector('input')]);
  for (const [name, box] of boxes) box.value = sizes[name] ?? '';
  boxes[0][1].dispatchEvent(new Event('input', { bubbles: true }));
  const cells = [...document.querySelectorAll('.fb-results tbody tr')];
  return {
    status: document.querySelector('.fb-calculator .fb-status').textContent,
    values: Object.fromEntries(cells.map(row => [row.dataset.quantity, row.cells[1].textContent])),
  };
})"""


@pytest.mark.parametrize("part", range(4))
def test_results_equal_those_of_python_to_the_last_digit(
    read: Callable[..., Reader], site: Site, part: int
) -> None:
    """Each of the site's classes at 50 random settings: all eight numbers, or a refusal as in Python."""
    reader = read()
    draw = random.Random(part)
    database = site.workspace.load()
    keys = [key for key in database if not key.startswith("hostile")]
    answered = large = 0
    for key in keys[part::4]:
        calculator = registry.from_entry(database[key])
        settings = _settings(calculator, draw)
        page = reader.open(f"book/modules/{key}.html")
        found = page.evaluate(ANSWERS, [_typed(sizes) for sizes in settings])
        page.close()
        for sizes, shown in zip(settings, found, strict=True):
            expected = _python(calculator, sizes)
            assert shown["values"] == (expected or dict.fromkeys(QUANTITIES, "–")), (
                key,
                sizes,
                shown["status"],
            )
            assert shown["status"].startswith("Regime" if expected else ("No regime holds", "No answer")), key
            answered += expected is not None
            large += expected is not None and any(int(value) > 2**53 for value in expected.values())
        assert any(_python(calculator, sizes) for sizes in settings), key
    reader.content()
    assert len(keys) >= 20
    assert answered > len(keys[part::4]) * SETTINGS / 2
    assert large > 50


def test_why_no_regime_holds_is_said(read: Callable[..., Reader]) -> None:
    """A size that is missing is named, and so is a condition that fails."""
    page = read().open(ATTENTION)
    _fill(page, "hidden_size", "")
    assert "missing hidden_size" in page.inner_text(".fb-calculator .fb-status")
    _fill(page, "hidden_size", "4097")
    status = page.inner_text(".fb-calculator .fb-status")

    assert "No regime holds" in status
    assert page.locator(".fb-point").count() == 0
    assert "hidden_size % num_attention_heads == 0 does not hold" in status
    assert page.inner_text('[data-quantity="flops"] td') == "–"


def test_what_is_no_number_is_refused_beside_its_input(read: Callable[..., Reader]) -> None:
    """Words, signs and fractions are marked as wrong, and no result of before stays."""
    page = read().open(MLP)
    for text in ("x", "-1", "1.5", "<b>1</b>"):
        _fill(page, "seq_len", text)
        assert page.get_by_label("seq_len", exact=True).get_attribute("aria-invalid") == "true"
        assert "whole number" in page.inner_text(".fb-problem:not(:empty)")
        assert page.inner_text('[data-quantity="flops"] td') == "–"
    _fill(page, "batch_size", "1")
    _fill(page, "hidden_size", "4_096")
    _fill(page, "intermediate_size", "11008")
    _fill(page, "seq_len", "8Ki")

    assert page.inner_text('[data-quantity="flops"] td') == str(6 * 8192 * 4096 * 11008)


def test_widths_are_given_in_bits(read: Callable[..., Reader]) -> None:
    """Weights of 4 bit are half a byte."""
    page = read().open(MLP)
    _fill(page, "hidden_size", "4096")
    _fill(page, "intermediate_size", "11008")
    _fill(page, "w_dtype", "4")

    assert page.inner_text('[data-quantity="weights"] td') == str(3 * 4096 * 11008 // 2)
    _fill(page, "w_dtype", "1")
    assert "2 to 64 bits" in page.inner_text(".fb-problem:not(:empty)")


def test_a_link_shows_the_same_again(read: Callable[..., Reader]) -> None:
    """The address holds what was typed, and a new visitor sees the same numbers, regime and GPUs."""
    reader = read()
    page = reader.open(ATTENTION)
    page.get_by_label("Regime").select_option("decode")
    _fill(page, "kv_len", "123456789012345678901234567890")
    page.locator(".fb-devices summary").click()
    page.get_by_label("L4", exact=True).check()
    page.wait_for_timeout(400)
    other = reader.open(page.url.removeprefix(reader.site.address))
    other.locator(".fb-legend").first.wait_for()

    assert other.inner_text(".fb-results") == page.inner_text(".fb-results")
    assert other.get_by_label("Regime").input_value() == "decode"
    assert "NVIDIA L4" in other.inner_text(".fb-legend")
    reader.content()


def test_a_known_model_fills_in_its_sizes(read: Callable[..., Reader]) -> None:
    """A preset sets the parameters of its layer, and typing afterwards leaves it."""
    page = read().open("book/modules/transformers_GPT2Attention.html")
    presets = page.get_by_label("Known model")
    presets.select_option(index=1)
    assert page.inner_text('[data-quantity="flops"] td') != "–"
    _fill(page, "seq_len", "7")

    assert presets.input_value() == ""


def test_lines_follow_the_calculator(read: Callable[..., Reader]) -> None:
    """The listing shows the amounts of the sizes typed above, and the formulas of a line when asked."""
    page = read().open(MLP)
    for name, size in {
        "batch_size": 1,
        "hidden_size": 4096,
        "intermediate_size": 11008,
        "seq_len": 1,
    }.items():
        _fill(page, name, str(size))
    note = page.locator(".fb-listing > .fb-hint")
    assert "270.5 M" in note.inner_text()
    page.get_by_label("Amounts of").select_option("writes")
    assert "KiB" in note.inner_text()
    page.locator(".fb-more").first.click()

    assert "intermediate_size" in page.inner_text(".fb-line-details:not([hidden])")


def _fill(page: Page, name: str, text: str) -> None:
    page.locator(".fb-inputs").get_by_label(name).first.fill(text)


def _settings(calculator: Calculator, draw: random.Random) -> list[dict[str, int]]:
    """Sizes for regimes in turn: drawn until their conditions hold, some missing or failing on purpose."""
    found = []
    while len(found) < SETTINGS:
        regime = calculator.regimes[len(found) % len(calculator.regimes)]
        sizes = _drawn(regime.parameters, draw)
        for _ in range(300):
            if fitting(regime, sizes) is not None:
                break
            sizes = _drawn(regime.parameters, draw)
        if draw.random() < 0.08:
            sizes.pop(draw.choice(sorted(sizes)), None) if sizes else None
        found.append(sizes)
    return found


def _drawn(names: tuple[str, ...], draw: random.Random) -> dict[str, int]:
    base = draw.choice((1, 1, 2, 4, 8, 64))
    most = draw.choice((2, 8, 24, 40, 60))
    usual = {name: base * (1 + draw.getrandbits(most)) for name in names}
    shared = base * (1 + draw.getrandbits(3))
    small = {name: draw.choice((1, 2, base, shared, 2 * shared)) for name in names if draw.random() < 0.5}
    widths = {name: draw.choice((1, 2, 4)) for name in names if name.endswith("_dtype_bytes")}
    return usual | small | widths


def _typed(sizes: dict[str, int]) -> dict[str, str]:
    """As they are typed: widths in bits under their short names."""
    return {
        name.removesuffix("_bytes") if name.endswith("_dtype_bytes") else name: str(
            8 * value if name.endswith("_dtype_bytes") else value
        )
        for name, value in sizes.items()
    }


def _python(calculator: Calculator, sizes: dict[str, int]) -> dict[str, str] | None:
    try:
        costs: Any = calculator.costs_at(sizes)
    except CalculatorError:
        return None
    return {name: str(getattr(costs, name)) for name in QUANTITIES}
