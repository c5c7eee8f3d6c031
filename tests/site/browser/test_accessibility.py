"""Pages hold up against the rules of WCAG 2.1 that a machine can check, in both schemes."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.site.browser.conftest import Reader

SMALL = ("book/modules/torch_Linear.html", "book/catalogue.html")
LARGE = ("book/modules/transformers_LlamaAttention.html", "book/models/gpt2.html", "book/commands.html")
CHECK = """async () => {
  const found = await axe.run('article', { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] });
  return found.violations.map(one => `${one.id}: ${one.nodes.slice(0, 3).map(node => node.html).join(' ')}`);
}"""


@pytest.mark.parametrize("pages", [SMALL, pytest.param(LARGE, marks=pytest.mark.slow)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_rule_of_accessibility_is_broken(
    read: Callable[..., Reader], scheme: str, pages: tuple[str, ...]
) -> None:
    """Contrast, names of inputs, headings of tables, what scrolls: axe finds nothing to say."""
    pytest.importorskip("axe_playwright_python")
    axe = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
    reader = read(color_scheme=scheme)
    for path in pages:
        page = reader.open(path)
        page.locator("table").first.wait_for()
        page.wait_for_timeout(100)
        page.evaluate(axe)
        assert page.evaluate(CHECK) == [], path
        page.close()
    reader.content()
