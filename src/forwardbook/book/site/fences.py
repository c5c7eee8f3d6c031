"""The fences of a page in, the HTML of their elements out: data in `data-fb`, and words where no script runs.

mkdocs.yml names these functions under `pymdownx.superfences`. Whatever a fence holds that is none of its data
is shown as the text it is.

    ```fb-calc          <div class="fb-calc" data-fb="{Calculator}"> table of results </div>
    ```fb-lines         <div class="fb-lines" data-fb="{Listing}"> table of source lines </div>
    ```fb-catalogue     <div class="fb-catalogue" data-fb="{Catalogue}"> number of classes </div>
    ```fb-roofline      <div class="fb-roofline" data-fb="{Roofline}"> table of points </div>
    ```fb-tree          <div class="fb-tree"> <svg> </div> and the same as <details>: drawn here, no script
    ```fb-table         <div class="fb-table"> <table> </div>: numbers that need no Markdown
    ```math             <div class="fb-math"> <math> </div>: MathML, typeset here, no script

Paths in the data are seen from the root of the site, which a script knows from its own address
(`assets/js/`).
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, TypeVar

from pydantic import ValidationError

from forwardbook.book.site.data import Calculator, Catalogue, CostTree, Grid, Listing, Roofline, SiteData
from forwardbook.book.site.fallback import (
    calculator_table,
    catalogue_words,
    grid_table,
    listing_table,
    roofline_table,
)
from forwardbook.book.site.tree_outline import tree_outline
from forwardbook.book.site.tree_picture import tree_picture
from forwardbook.book.site.typeset import typeset_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from markdown import Markdown

    Options = Mapping[str, str]

Data = TypeVar("Data", bound=SiteData)


def calculator(source: str, language: str, css: str, options: Options, md: Markdown, **_: object) -> str:
    """```` ```fb-calc ````: a `Calculator`."""
    return _element(source, Calculator, "fb-calc", calculator_table)


def listing(source: str, language: str, css: str, options: Options, md: Markdown, **_: object) -> str:
    """```` ```fb-lines ````: a `Listing`."""
    return _element(source, Listing, "fb-lines", listing_table)


def catalogue(source: str, language: str, css: str, options: Options, md: Markdown, **_: object) -> str:
    """```` ```fb-catalogue ````: a `Catalogue`."""
    return _element(source, Catalogue, "fb-catalogue", catalogue_words)


def roofline(source: str, language: str, css: str, options: Options, md: Markdown, **_: object) -> str:
    """```` ```fb-roofline ````: a `Roofline`."""
    return _element(source, Roofline, "fb-roofline", roofline_table)


def math(source: str, language: str, css: str, options: Options, md: Markdown, **_: object) -> str:
    """```` ```math ````: a line `name = formula` in the formula language for each equation."""
    return typeset_lines(source)


def tree(source: str, language: str, css: str, options: Options, md: Markdown, **_: object) -> str:
    """```` ```fb-tree ````: a `CostTree`, drawn here, and in words that fold away."""
    try:
        data = CostTree.model_validate_json(source)
    except ValidationError:
        return f"<pre><code>{escape(source)}</code></pre>"
    return f'<div class="fb-tree" data-search-exclude>{tree_picture(data)}</div>{tree_outline(data)}'


def table(source: str, language: str, css: str, options: Options, md: Markdown, **_: object) -> str:
    """```` ```fb-table ````: a `Grid`."""
    try:
        data = Grid.model_validate_json(source)
    except ValidationError:
        return f"<pre><code>{escape(source)}</code></pre>"
    return f'<div class="fb-table" data-search-exclude>{grid_table(data)}</div>'


def _element(source: str, kind: type[Data], css: str, words: Callable[[Data], str]) -> str:
    try:
        data = kind.model_validate_json(source)
    except ValidationError:
        return f"<pre><code>{escape(source)}</code></pre>"
    return f"<div class='{css}' data-search-exclude data-fb='{data.as_json()}'>{words(data)}</div>"
