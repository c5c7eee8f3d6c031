"""The page of a class holds everything that the entry says, and leads to the pages it speaks of."""

import json
import re
from pathlib import Path

import pytest

from forwardbook.book.mermaid.grammar import Grammar
from forwardbook.book.site.data import Calculator, Listing, Preset
from forwardbook.book.site.module_calculator import costs_at, names_of
from forwardbook.book.site.module_flow import flow_diagram
from forwardbook.book.site.module_page import module_page, page_stem
from forwardbook.book.site.module_subject import ModuleSubject
from forwardbook.registry import from_entry
from forwardbook.schema import QUANTITIES, Entry, FlopLine
from forwardbook.workspace import Workspace

ROOT = Path(__file__).resolve().parents[2]

TOY = Preset(
    name="toy: attention", values={"hidden_size": "64", "num_heads": "4", "window": "32", "chunk_size": "8"}
)


def page(entry: Entry, **more: object) -> str:
    """The Markdown of an entry's page."""
    return module_page(ModuleSubject("toy_ToyAttention", entry, entry, **more)).markdown()  # type: ignore[arg-type]


def fence(text: str, name: str) -> str:
    """What the first fence of that name holds."""
    found = re.search(rf"^```{name}\n(.*?)\n```$", text, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


def test_page_has_every_part(entry: Entry) -> None:
    """Calculator, formulas, source, flow, calls, parameters, holes and proof each have their section."""
    headings = re.findall(r"^## (.+)$", page(entry), re.MULTILINE)

    assert [
        "Calculator", "Formulas", "Source and its costs", "Data flow", "Calls of submodules", "Parameters",
        "Unresolved", "Proof", "From Python",
    ] == headings  # fmt: skip


def test_page_says_what_the_entry_says(entry: Entry) -> None:
    """Verdict, place, versions, every formula, parameter, hole and measured number stand on the page."""
    text = page(entry)

    assert f"**{entry.validation.verdict}**" in text and "Checked by a person" in text
    place = entry.code_location
    assert f"`{place.file}:{place.line_start}-{place.line_end}`" in text
    for regime in entry.regimes:
        assert all(f"{name} = {regime.formula(name)}" in text for name in QUANTITIES)
        for point in regime.proof.points[:4] if regime.proof else ():
            assert all(f"{point.measured[name]:,}" in text for name in QUANTITIES if name in point.measured)
    assert all(f"`{each.name}`" in text for each in entry.parameters)
    assert all(f"`{each.file}:{each.line}`" in text for each in entry.unresolved)


def test_calculator_begins_where_a_regime_holds(entry: Entry) -> None:
    """The defaults of the calculator have an answer, and it is that of the Python calculator."""
    data = Calculator.model_validate_json(fence(page(entry, presets=(TOY,)), "fb-calc"))
    sizes = {each.name: int(each.default) for each in data.inputs if each.default}
    costs = from_entry(entry).costs_at(sizes)

    assert data.expected == {name: str(getattr(costs, name)) for name in QUANTITIES}
    assert costs.regime == data.regime


def test_presets_come_first(entry: Entry) -> None:
    """The values of a known model are the defaults where a regime takes them."""
    data = Calculator.model_validate_json(fence(page(entry, presets=(TOY,)), "fb-calc"))

    assert TOY.values == {each.name: each.default for each in data.inputs if each.name in TOY.values}
    assert (TOY,) == data.presets


def test_costs_are_those_of_the_calculator(entry: Entry, sizes: dict[str, int]) -> None:
    """Regime and quantities are those of the Python calculator; outside all regimes there are none."""
    for given in (sizes, sizes | {"kv_dtype_bytes": 2}, {"batch_size": 3, "text_config.kv_len": 9}):
        costs = from_entry(entry).costs_at(given)
        expected = costs.regime, {name: getattr(costs, name) for name in QUANTITIES}
        assert expected == costs_at(entry, given)
    for outside in ({"nothing": 1}, sizes | {"num_heads": 5}, sizes | {"seq_len": 0}, sizes | {"more": 1}):
        assert None is costs_at(entry, outside)


def test_source_is_shown_line_by_line(entry: Entry) -> None:
    """The listing has each line of the class where it can be read, else those with a cost."""
    first = entry.regimes[0].flop_analysis.lines[0]
    shown = {number: f"line {number}" for number in range(first.line - 1, first.line + 3)}
    whole = Listing.model_validate_json(fence(page(entry, source=shown), "fb-lines"))
    alone = Listing.model_validate_json(fence(page(entry), "fb-lines"))

    assert whole.complete and list(shown.values()) == [each.code for each in whole.lines]
    assert not alone.complete and first.code in [each.code for each in alone.lines]
    [line] = [each for each in alone.lines if each.number == first.line]
    assert first.flops in [costs.get("flops", "0") for costs in line.regimes.values()] or first.flops == "0"


def test_calls_lead_to_pages(entry: Entry) -> None:
    """A call of a class that has a page leads there; the page explained from the source is linked."""
    called = entry.regimes[0].flop_analysis.submodule_calls[0].class_name
    text = page(entry, pages={called: "torch_Linear.md"}, explained="../../code-explained/toy.md")

    assert "](torch_Linear.md)" in text and "](../../code-explained/toy.md)" in text


def test_entry_without_formulas_says_so(entry: Entry) -> None:
    """A class that could not be derived has a page with its reason and no numbers."""
    bare = entry.model_copy(update={"regimes": ()})
    text = page(bare)

    assert "No formulas are stored" in text and "fb-calc" not in text and "## Unresolved" in text


def test_flow_leads_values_from_line_to_line() -> None:
    """An arrow goes from the line that last gave a name its value to one that uses it, named by the value."""
    lines = [
        FlopLine(line=3, end_line=3, code="query = self.q(x)", flops="0", pointwise_ops="0"),
        FlopLine(line=4, end_line=4, code="key, value = self.kv(x).chunk(2)", flops="0", pointwise_ops="0"),
        FlopLine(line=5, end_line=5, code="query += key", flops="0", pointwise_ops="0"),
        FlopLine(line=6, end_line=6, code="return attend(query, key, value)", flops="0", pointwise_ops="0"),
        FlopLine(line=7, end_line=7, code="for each in (", flops="0", pointwise_ops="0"),
    ]
    drawn = flow_diagram(lines, "Toy").splitlines()

    assert '    L3 -->|"query"| L5' in drawn and '    L4 -->|"key"| L5' in drawn
    assert '    L5 -->|"query"| L6' in drawn and '    L4 -->|"key, value"| L6' in drawn
    assert '    I0(["x"])' in drawn and "    I0 --> L3" in drawn and "    I0 --> L4" in drawn
    assert not any("attend" in line.partition("-->")[2] for line in drawn)


GRAMMAR = Grammar()  # asks in a thread of its own: drivers of browsers leave an event loop in this one


@pytest.mark.parametrize("code", ['a = "]; click x"', "end", "x = '<img onerror=1>'", "%%{init: {}}%%", ""])
def test_flow_is_a_diagram_whatever_stands_in_a_line(code: str) -> None:
    """Mermaid's own grammar accepts the diagram of any line, which cannot add statements to it."""
    lines = [FlopLine(line=1, end_line=1, code=code, flops="0", pointwise_ops="0")]

    assert GRAMMAR.check(flow_diagram(lines, code)).ok


def test_names_of_pages_are_names_of_files() -> None:
    """A key that an address keeps names its page; any other is made into one, and no two into the same."""
    odd = ["a b", "a/b", "../x", "ü", "a\nb", ".hidden", "<x>"]
    stems = [page_stem(key) for key in odd]

    assert "torch_Linear" == page_stem("torch_Linear") and "llama-3.1-8b" == page_stem("llama-3.1-8b")
    assert len(odd) == len(set(stems)) and all(re.fullmatch(r"[A-Za-z0-9_-]+", each) for each in stems)


def test_front_matter_keeps_the_page_out_of_the_search(entry: Entry) -> None:
    """The page is left out of the full-text index, and begins with its checksum."""
    head = page(entry).split("---")[1]

    assert '"exclude": "true"' in head and json.loads(head.splitlines()[1].partition(": ")[2]).startswith(
        "sha256:"
    )


def test_reasoning_is_text(entry: Entry) -> None:
    """The words that reason about a cost have a section, and markup in them is text."""
    first, *rest = entry.regimes
    told = first.flop_analysis.model_copy(update={"reasoning": "Line 7: *two* <b>products</b>."})
    said = entry.model_copy(update={"regimes": (first.model_copy(update={"flop_analysis": told}), *rest)})

    assert "## Reasoning" in page(said) and "&lt;b&gt;products" in page(said) and "<b>" not in page(said)


@pytest.mark.slow
def test_every_shipped_entry_costs_what_its_calculator_says() -> None:
    """At every size of a proof of every shipped class, pages and calculators agree in every number."""
    database = Workspace(ROOT).load()
    compared = 0
    for key in database:
        entry = database[key]
        if not entry.regimes:
            continue
        calculator = from_entry(entry)
        for point in [point for regime in entry.regimes if regime.proof for point in regime.proof.points[:2]]:
            for regime in entry.regimes:
                sizes = {name: point.sizes[name] for name in regime.parameters if name in point.sizes}
                found = costs_at(entry, sizes)
                if found is not None:
                    costs = calculator.costs_at(sizes)
                    assert found == (costs.regime, {name: getattr(costs, name) for name in QUANTITIES}), key
                    compared += 1
    assert compared > 500


def test_texts_in_braces_that_are_no_names_are_no_inputs(entry: Entry) -> None:
    """A formula of somebody else's database may hold code in braces: a page asks for names alone."""
    raw = entry.model_dump(mode="json")
    raw["regimes"][0]["flop_analysis"]["flops"] = "{batch_size}}{open('PWNED','w').write('x')}"

    names = names_of(Entry.model_validate(raw).regimes[0])

    assert "batch_size" in names and not [name for name in names if "open" in name]
    assert "open(" in page(Entry.model_validate(raw))
