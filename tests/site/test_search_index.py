"""The index of the search: titles for pages of classes, words of people, whole after partial builds."""

import json

from forwardbook.book.site.search_index import Document, whole_index


def doc(location: str, text: str = "words") -> Document:
    """A document of the index."""
    return Document(location=location, title=location, text=text)


def index(*docs: Document) -> str:
    """The file of an index."""
    return json.dumps({"config": {"lang": ["en"]}, "docs": docs})


def locations(text: str) -> list[str]:
    """Where the documents of an index are."""
    return [each["location"] for each in json.loads(text)["docs"]]


def test_titles_stand_for_pages_of_classes() -> None:
    """A page that is listed by its title has that document alone, whatever MkDocs indexed of it."""
    made = index(doc("why.html"), doc("book/modules/a.html", "long"), doc("book/modules/a.html#part", "long"))
    found = json.loads(whole_index(made, "", [doc("book/modules/a.html", "short")], {"why.html"}))

    assert [("book/modules/a.html", "short"), ("why.html", "words")] == [
        (each["location"], each["text"]) for each in found["docs"]
    ]
    assert {"lang": ["en"]} == found["config"]


def test_partial_build_keeps_the_other_pages() -> None:
    """What a partial build did not index stays as it was, unless its page is gone or was built again."""
    before = index(doc("a.html"), doc("a.html#old"), doc("b.html"), doc("b.html#x"), doc("gone.html"))
    made = index(doc("a.html", "new"))

    assert ["a.html", "b.html", "b.html#x"] == locations(whole_index(made, before, [], {"a.html", "b.html"}))


def test_damaged_index_of_before_is_passed_over() -> None:
    """An index of before that cannot be read gives nothing and stops nothing."""
    assert ["a.html"] == locations(whole_index(index(doc("a.html")), "{", [], {"a.html"}))
