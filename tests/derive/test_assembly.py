"""Ways to call classes become entries."""

from __future__ import annotations

from forwardbook.entries.record import Call, Entry, Name, Own, Proof, Regime
from forwardbook.pipeline.composed.assembly import Assembly, Derived
from forwardbook.pipeline.composed.facts import Fact, Facts, Layout
from forwardbook.pipeline.composed.records import on_one_line


def way(
    full: str, flops: str, calls: tuple[Call, ...] = (), verdict: str = "exact", **facts: Fact
) -> Derived:
    """One way with one regime."""
    proof = Proof(verdict="exact")
    regime = Regime(name="default", signature="default", own=Own(flops=flops), calls=calls, proof=proof)
    entry = {
        "full_class_name": full,
        "library": full.partition(".")[0],
        "file": "x/y.py",
        "line_start": 1,
        "line_end": 2,
        "source_hash": "",
        "engine": "",
        "regimes": (regime,) if verdict == "exact" else (),
        "verdict": verdict,
        "reason": "" if verdict == "exact" else "it differs",
    }
    return Derived(Entry.model_validate(entry), Facts(facts))


def call(key: str) -> Call:
    """A call of a way."""
    return Call(line=3, attribute="inner", entry=key, signature="default")


def test_equal_ways_of_two_models_are_one() -> None:
    """Whatever number each model gave them; callers say the key and the signature."""
    assembly = Assembly()
    assembly.add({"x.A~0": way("x.A", "{n}"), "x.B~0": way("x.B", "0", (call("x.A~0"),))})
    assembly.add({"x.A~5": way("x.A", "{n}"), "x.B~3": way("x.B", "0", (call("x.A~5"),))})
    entries = assembly.entries()

    assert {"x_A": 1, "x_B": 1} == {key: len(entry.regimes) for key, entry in entries.items()}
    [made] = entries["x_B"].regimes[0].calls
    assert ("x_A", "default") == (made.entry, made.signature)


def test_a_way_is_one_whatever_families_say_of_its_names() -> None:
    """Two configs with other defaults for one shared class make no second signature; the first is told."""
    assembly = Assembly()
    for place, size in enumerate((768, 4096)):
        one = way("x.A", "{n}")
        name = Name(name="n", source="config", default=size)
        assembly.add({f"x.A~{place}": Derived(one.entry.model_copy(update={"names": (name,)}), one.facts)})
    entry = assembly.entries()["x_A"]

    assert 1 == len(entry.regimes)
    assert [768] == [one.default for one in entry.names]


def test_ways_are_called_by_what_tells_them_apart() -> None:
    """The first is the default; regimes have names of their own."""
    assembly = Assembly()
    assembly.add({"x.A~0": way("x.A", "{n}", mask=Layout(3)), "x.A~1": way("x.A", "2 * {n}")})
    first, second = assembly.entries()["x_A"].regimes

    assert ("default", "without mask") == (first.signature, second.signature)
    assert ("default", "without mask") == (first.name, second.name)


def test_a_way_without_formulas_is_told() -> None:
    """The class has its other ways, and says why one is missing."""
    assembly = Assembly()
    assembly.add({"x.A~0": way("x.A", "{n}"), "x.A~1": way("x.A", "", verdict="unproved")})
    entry = assembly.entries()["x_A"]

    assert "exact" == entry.verdict
    assert entry.reason.endswith("it differs")


def test_classes_of_one_name_have_keys_with_their_path() -> None:
    """The first in order has the short one."""
    assembly = Assembly()
    assembly.add({"x.a.A~0": way("x.a.A", "1"), "x.b.A~0": way("x.b.A", "2")})

    assert {"x_A", "x_b_A"} == assembly.entries().keys()


def test_source_over_several_lines_is_stored_as_one() -> None:
    """As it would be written if it fitted."""
    lines = ["out = attend(\n", "    query, key,\n", "    scale=2,\n", ")\n"]

    assert "out = attend(query, key, scale=2,)" == on_one_line(lines)
