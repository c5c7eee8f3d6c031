"""Reports of findings: JSON, Markdown that holds hostile text, SARIF in the form of its standard."""

import json
import re
from dataclasses import replace

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from forwardbook.guard.as_json import findings_json
from forwardbook.guard.as_markdown import coded, findings_markdown
from forwardbook.guard.as_sarif import findings_sarif
from forwardbook.guard.change import class_change
from forwardbook.guard.findings import Findings, Trouble, percent, summary
from forwardbook.guard.kept import kept
from forwardbook.guard.regenerated import Regenerated, Row, regenerated_json, regenerated_markdown, state_of
from forwardbook.guard.settings import settings_of

from .conftest import Build

HOSTILE = (
    "`</code><script>alert(1)</script>` | @everyone [x](javascript:1) ![](http://x) \n\n# head ``` **b**"
)

# What SARIF 2.1.0 asks of what is used of it: names, types, the rule by its number, places from line 1 on.
SARIF = {
    "type": "object",
    "additionalProperties": False,
    "required": ["version", "runs"],
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "items": {"$ref": "#/$defs/run"}},
    },
    "$defs": {
        "message": {
            "type": "object",
            "required": ["text"],
            "properties": {"text": {"type": "string", "minLength": 1}},
        },
        "run": {
            "type": "object",
            "additionalProperties": False,
            "required": ["tool"],
            "properties": {
                "tool": {
                    "type": "object",
                    "required": ["driver"],
                    "properties": {"driver": {"type": "object", "required": ["name"]}},
                },
                "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                "results": {"type": "array", "items": {"$ref": "#/$defs/result"}},
            },
        },
        "result": {
            "type": "object",
            "additionalProperties": False,
            "required": ["message"],
            "properties": {
                "ruleId": {"type": "string"},
                "ruleIndex": {"type": "integer", "minimum": 0},
                "level": {"enum": ["none", "note", "warning", "error"]},
                "message": {"$ref": "#/$defs/message"},
                "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
                "locations": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "physicalLocation": {
                                "type": "object",
                                "required": ["artifactLocation"],
                                "properties": {
                                    "artifactLocation": {
                                        "type": "object",
                                        "properties": {"uri": {"type": "string", "pattern": r"^[^\\ ]+$"}},
                                    },
                                    "region": {
                                        "type": "object",
                                        "properties": {"startLine": {"type": "integer", "minimum": 1}},
                                    },
                                },
                            }
                        },
                    },
                },
            },
        },
    },
}


@pytest.fixture
def findings(build: Build) -> Findings:
    """One class dearer on one line, one that cannot be told, a broken budget, and names that are hostile."""
    found = settings_of("[tool.forwardbook.budgets]\nBlock = {flops = '< 1 @ seq_len=9'}", "")
    change = class_change("k", build(25), build(28, codes=(HOSTILE, "return h * scale")), {}, (HOSTILE,))
    trouble = Trouble("t", f"pack.{HOSTILE}", HOSTILE, "a folder/file.py", 0)
    budgets = tuple(kept(found, {"k": build(28)}))
    return Findings(("before", HOSTILE), (change,), (trouble,), budgets, looked_at=2, derived=1)


def test_summary_counts(findings: Findings) -> None:
    """How many changed, how many budgets are broken, how many could not be told."""
    expected = "1 of 2 classes costs more, 1 of 1 budget broken, 1 class could not be told"

    assert expected == summary(findings)
    assert findings.has_failed


def test_json_holds_the_exact_numbers(findings: Findings) -> None:
    """Formulas, numbers and shares of each line; it is JSON from end to end."""
    content = json.loads(json.dumps(findings_json(findings)))
    [change] = content["changes"]
    [line] = change["regimes"][0]["lines"]

    assert (False, 1, 2) == (content["passed"], content["derived"], content["classes"])
    assert 0.12 == pytest.approx(line["quantities"][0]["share"])
    assert 28 * 2048 * 64 * 64 == line["quantities"][0]["after"]["value"]


def test_markdown_makes_nothing_of_hostile_text(findings: Findings) -> None:
    """Outside code there is no tag, mention, link or heading of others; each table row has its cells."""
    text = findings_markdown(findings)
    bare = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "CODE", text)

    for mark in ("<script", "</code>", "@everyone", "](", "**b**"):
        assert mark not in re.sub(r"\\.", "", bare)
    assert not re.search(r"^# head", text, re.MULTILINE)
    for row in re.findall(r"^\|.*$", text, re.MULTILINE):
        assert 6 == len(re.findall(r"(?<!\\)\|", row)) or "|---" in row


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet="`|<>\\\n\r ab*_[]()!@#&~", max_size=30))
def test_any_text_stays_text(findings: Findings, text: str) -> None:
    """Read as Markdown, whatever stands in code or reasons makes no element beside the tables."""
    change = findings.changes[0]
    [regime] = change.regimes
    line = replace(regime.lines[0], code=text)
    change = replace(change, regimes=(replace(regime, lines=(line,)),), reasons=(text,), remark=text)
    html = (
        MarkdownIt("commonmark")
        .enable("table")
        .render(findings_markdown(replace(findings, changes=(change,))))
    )
    names = set(re.findall(r"<([a-z0-9]+)", re.sub(r"<code>.*?</code>", "", html, flags=re.DOTALL)))

    assert names <= {"h2", "h3", "p", "table", "thead", "tbody", "tr", "th", "td", "strong", "ul", "li"}
    rows = re.findall(r"<tr>(.*?)</tr>", html, re.DOTALL)
    assert all(5 == len(re.findall(r"<t[hd]", row)) for row in rows)


def test_code_spans_end_where_they_should() -> None:
    """Text with runs of backticks is fenced by a longer run."""
    assert "`` a`b ``" == coded(" a`b ") or "``a`b``" == coded(" a`b ")
    assert "```` ``` ````" == coded("```")


def test_sarif_has_the_form_of_the_standard(findings: Findings) -> None:
    """Each result names a rule by id and number, a level, a message and a place in a file."""
    log = json.loads(json.dumps(findings_sarif(findings, "1.2.3", "sub dir/")))
    jsonschema.Draft202012Validator(SARIF).validate(log)
    [run] = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    results = run["results"]

    assert ["cost-changed", "budget-broken", "cost-unknown"] == [one["ruleId"] for one in results]
    assert all(rules[one["ruleIndex"]] == one["ruleId"] for one in results)
    place = results[0]["locations"][0]["physicalLocation"]
    assert ("sub%20dir/mymodel/layers.py", 10) == (
        place["artifactLocation"]["uri"],
        place["region"]["startLine"],
    )
    prints = [one["partialFingerprints"]["forwardbook/v1"] for one in results]
    assert len(prints) == len(set(prints))


def test_percentages_are_told_as_people_read_them() -> None:
    """Signed, with more digits where a change is tiny."""
    from fractions import Fraction

    shares = [Fraction(3, 25), Fraction(-1, 3), Fraction(0), None, Fraction(1, 10**5)]

    assert ["+12.0 %", "-33.3 %", "0 %", "new", "+0.001 %"] == [percent(share) for share in shares]


def test_a_regeneration_tells_what_became_of_each(build: Build) -> None:
    """Changed formulas line by line, newly proved, lost; the same input gives the same text."""
    changed = class_change("a", build(25), build(28), {}, ("torch 2.12 -> 2.13",))
    newly = class_change("b", build(verdict="unproved"), build())
    rows = (
        Row("a", "mymodel.layers.Block", ("torch 2.12 -> 2.13",), "changed", ("exact", "exact"), changed),
        Row("b", "pack.New", (), "newly exact", ("unproved", "exact"), newly),
        Row("c", "pack.Lost", ("x",), "lost", ("exact", "gone"), None, "no such class\n more", True),
        Row("d", "pack.Same", (), "same", ("exact", "exact"), class_change("d", build(), build())),
    )
    found = Regenerated(rows, 5, ("a note",))
    text = regenerated_markdown(found)

    assert text == regenerated_markdown(found)
    for words in (
        "4 entries were stale: 1 lost, 1 changed, 1 newly exact, 1 same; 5 were fresh",
        "## Proved before, and not any more: 1",
        "no such class Its entry was removed.",
        "`25 * batch_size * seq_len * width * width`",
        "| 10 `h = self.up(x)` | flops | 209,715,200 | 234,881,024 | +12.0 % |",
    ):
        assert words in text
    assert {"lost": 1, "changed": 1, "newly exact": 1, "open": 0, "same": 1} == regenerated_json(found)[
        "counts"
    ]


def test_states() -> None:
    """What was proved and cannot be derived is lost; what was not and cannot still is open."""
    assert "lost" == state_of("exact", "gone", None)
    assert "open" == state_of("unproved", "unproved", None)
