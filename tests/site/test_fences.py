"""The fences of pages: data in, elements whose attribute is the data out, and text where there is none."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import get_args

import pytest

from forwardbook.book.site import fences
from forwardbook.book.site.data import (
    Calculator,
    CalculatorRegime,
    Catalogue,
    CostTree,
    Grid,
    Input,
    Listing,
    Roofline,
    RooflinePoint,
    SourceLine,
    TreeBox,
)
from forwardbook.book.site.quantities import QUANTITY_LIST
from forwardbook.book.site.tree_outline import tree_outline
from forwardbook.schema import QUANTITIES

HOSTILE = json.loads((Path(__file__).parent / "browser" / "hostile.json").read_text(encoding="utf-8"))
WORD = "".join(HOSTILE)
REGIME = CalculatorRegime(name=WORD, formulas=dict.fromkeys(QUANTITIES, "2 * {a}"), parameters=("a",))
DATA = {
    "calculator": Calculator(
        key=WORD, class_name=WORD, quantities=QUANTITY_LIST,
        inputs=(Input(name="a", meaning=WORD, default="1"),),
        regimes=(REGIME,), expected={name: str(2**80) for name in QUANTITIES},
    ),
    "listing": Listing(
        file=WORD, regimes=(WORD,),
        lines=(
            SourceLine(number=1, code=WORD, regimes={WORD: {"flops": WORD}}),
            SourceLine(number=2, code=""),
        ),
    ),
    "catalogue": Catalogue(total=3, verdicts={WORD: 3}),
    "roofline": Roofline(points=(RooflinePoint(name=WORD, flops="12", bytes="5"),)),
    "tree": CostTree(
        title=WORD,
        boxes=(
            TreeBox(label=WORD, detail=WORD, left=0, width=10**6, depth=0),
            TreeBox(label=WORD, detail=WORD, left=0, width=10**5, depth=1),
        ),
    ),
    "table": Grid(head=(WORD, "b"), rows=((WORD, WORD),)),
}  # fmt: skip
KNOWN = {
    "div", "table", "thead", "tbody", "tr", "th", "td", "p", "code", "br", "svg", "g", "title", "rect",
    "text", "pre", "details", "summary", "strong",
}  # fmt: skip


class Elements(HTMLParser):
    """Tags, attributes and the words between them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.words = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.words += data


@pytest.mark.parametrize("name", DATA)
def test_hostile_strings_make_no_element(name: str) -> None:
    """Thirty hostile strings in every field of every fence make no element and no handler."""
    html = getattr(fences, name)(DATA[name].as_json(), "", "", {}, None)
    seen = Elements(html)

    assert set() == seen.tags - KNOWN
    assert [] == [key for key, _ in seen.attributes if key.startswith("on") or key in ("id", "style")]


@pytest.mark.parametrize("name", [each for each in DATA if each not in ("tree", "table")])
def test_data_of_the_element_is_the_data_of_the_fence(name: str) -> None:
    """The attribute `data-fb` holds the same value that was put into the fence, digit for digit."""
    data = DATA[name]
    seen = Elements(getattr(fences, name)(data.as_json(), "", "", {}, None))
    [text] = [value for key, value in seen.attributes if key == "data-fb"]

    assert data == type(data).model_validate_json(text or "")


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("source", ["", "{}x", '{"unknown": 1}', "</div><script>x</script>", "[1, 2]"])
def test_what_is_no_data_is_text(name: str, source: str) -> None:
    """A fence that holds anything else shows it as code."""
    seen = Elements(getattr(fences, name)(source, "", "", {}, None))

    assert {"pre", "code"} == seen.tags or source == "{}x"
    assert source in seen.words


def test_json_ends_no_fence_and_no_attribute() -> None:
    """The JSON of any strings is one line without backticks, single quotes, or what opens a tag."""
    text = DATA["listing"].as_json()

    assert None is re.search(r"[`~<>&'\n]", text)
    assert WORD == json.loads(text)["file"]


def test_results_are_shown_without_scripts() -> None:
    """The calculator's element holds every result at the defaults as text."""
    html = fences.calculator(DATA["calculator"].as_json(), "", "", {}, None)  # type: ignore[arg-type]

    assert 8 == html.count(str(2**80)) - DATA["calculator"].as_json().count(str(2**80))


def test_layers_of_a_tree_fold_with_those_that_they_hold() -> None:
    """Each layer is beneath the one that holds it; the outermost is open, one that holds none has no fold."""
    boxes = [TreeBox(label=f"l{n}", detail="", left=0, width=1, depth=d) for n, d in enumerate((0, 1, 2, 1))]
    html = tree_outline(CostTree(title="t", boxes=tuple(boxes)))
    shape = re.sub(r' class="[^"]*"|<strong>|</strong> |data-search-exclude|\s', "", html)

    assert shape == (
        "<div><detailsopen><summary>l0</summary><details><summary>l1</summary><p>l2</p></details>"
        "<p>l3</p></details></div>"
    )


def test_every_quantity_is_explained() -> None:
    """The list of quantities names all that a regime has, in their order."""
    assert list(QUANTITIES) == [each.name for each in QUANTITY_LIST]
    assert {"op", "B"} == set(get_args(type(QUANTITY_LIST[0]).model_fields["unit"].annotation))
