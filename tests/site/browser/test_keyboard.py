"""What can be done with the mouse can be done with the keyboard: the roofline, the catalogue, the listing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page
    from tests.site.browser.conftest import Reader

MLP = "book/modules/transformers_LlamaMLP.html"
CATALOGUE = "book/catalogue.html"


def test_points_of_the_roofline_are_walked_with_arrows(read: Callable[..., Reader]) -> None:
    """One stop of the tabulator leads to the points; arrows, Home and End move and each is told in words."""
    page = read().open(MLP)
    page.locator(".fb-point").first.wait_for()
    page.locator(".fb-devices summary").focus()
    page.keyboard.press("Tab")
    first = _told(page)
    page.keyboard.press("ArrowRight")
    second = _told(page)
    page.keyboard.press("End")
    last = _told(page)
    page.keyboard.press("ArrowRight")

    assert "eager on NVIDIA A100" in first
    assert "fused on NVIDIA A100" in second
    assert "bound by" in last
    assert len({first, second, last}) == 3
    assert _told(page) == first
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.fb-plot')") is None


def test_gpus_are_chosen_with_the_keyboard(read: Callable[..., Reader]) -> None:
    """The list opens with Enter and a GPU is added with the space bar; its row appears in the table."""
    page = read().open(MLP)
    page.locator(".fb-point").first.wait_for()
    page.locator(".fb-devices summary").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")

    assert "A100 40GB" in page.inner_text(".fb-roofline-view .fb-table")
    assert page.locator(".fb-point").count() == 8


def test_catalogue_is_filtered_and_sorted_with_the_keyboard(read: Callable[..., Reader]) -> None:
    """Typing narrows the table, a heading sorts it both ways, the address keeps all of it."""
    reader = read()
    page = reader.open(CATALOGUE)
    page.locator(".fb-classes tbody tr").first.wait_for()
    page.get_by_label("Class or key").focus()
    page.keyboard.type("llama")
    assert _classes(page) == ["LlamaAttention", "LlamaDecoderLayer", "LlamaMLP", "LlamaRMSNorm"]
    assert "4 of" in page.inner_text(".fb-catalogue-view > .fb-status")
    page.locator(".fb-classes thead button").first.focus()
    page.keyboard.press("Enter")
    assert _classes(page)[0] == "LlamaRMSNorm"
    assert page.locator(".fb-classes th[aria-sort='descending']").count() == 1
    page.wait_for_timeout(400)
    again = reader.open(page.url.removeprefix(reader.site.address))
    again.locator(".fb-classes tbody tr").first.wait_for()

    assert _classes(again) == _classes(page)
    page.locator(".fb-classes tbody a").first.focus()
    page.keyboard.press("Enter")
    page.locator(".fb-calculator").wait_for()
    assert page.url.endswith("transformers_LlamaRMSNorm.html")
    reader.content()


def test_catalogue_filters_by_library_verdict_derivation_and_operation(read: Callable[..., Reader]) -> None:
    """Each filter leaves the classes that have what it asks for."""
    page = read().open(CATALOGUE)
    page.locator(".fb-classes tbody tr").first.wait_for()
    page.get_by_label("Library").select_option("torch")
    page.get_by_label("Verdict").select_option("exact")
    page.get_by_label("Derived by").select_option("static")
    page.get_by_label("Uses operation").fill("aten.convolution")
    found = _classes(page)

    assert {"Conv2d", "ConvTranspose2d"} <= set(found)
    assert "Linear" not in found
    page.get_by_label("with unresolved lines").check()
    assert _classes(page) == []


def test_layers_of_a_model_fold_with_the_keyboard(read: Callable[..., Reader]) -> None:
    """Each layer beneath the whole opens and closes with Enter and the space bar; the whole is open."""
    page = read().open("book/models/gpt2.html")
    tree = page.locator(".fb-outline").first
    layer = tree.locator("details details").first
    held = layer.locator("summary, .fb-leaf").nth(1)
    assert tree.locator("details").first.get_attribute("open") is not None
    assert not held.is_visible()
    layer.locator("summary").first.focus()
    page.keyboard.press("Enter")
    assert held.is_visible()
    page.keyboard.press("Space")
    assert not held.is_visible()


def _told(page: Page) -> str:
    return page.inner_text(".fb-told")


def _classes(page: Page) -> list[str]:
    return page.locator(".fb-classes tbody a").all_inner_texts()
