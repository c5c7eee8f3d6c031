"""The shipped database: every formula of every entry, or of a sample where there are many."""

import ast
import os
import random
import re
from functools import cache
from pathlib import Path

import pytest
import torch

from forwardbook.analyzers.reader import glance_at
from forwardbook.formula import Condition, Expr, parse
from forwardbook.pipeline.catalogue.record import read_catalogue
from forwardbook.pipeline.versions import current_versions
from forwardbook.profiling.proof import POINTS
from forwardbook.schema import QUANTITIES, Entry, Regime
from forwardbook.workspace import Workspace
from forwardbook.workspace.database_file import database_in

DATABASE = Path(__file__).resolve().parent.parent / "module_db.json"
MOST = 400  # entries that are looked at each time; all with FORWARDBOOK_EVERY_ENTRY=1
ALWAYS = ("transformers_LlamaModel", "transformers_BertEncoder", "torch_GRU")


@cache
def entries() -> dict[str, Entry]:
    database = database_in(DATABASE)
    few = len(database) <= MOST or os.environ.get("FORWARDBOOK_EVERY_ENTRY")
    keys = sorted(database) if few else random.Random(20261121).sample(sorted(database), MOST)
    found = {key: database[key] for key in sorted({*keys, *ALWAYS})}
    return {key: entry for key, entry in found.items() if entry.same_as is None}


def regimes() -> list[tuple[str, Regime]]:
    return [(f"{key}: {one.name}", one) for key, entry in entries().items() for one in entry.regimes]


def total(texts: list[str]) -> Expr:
    return Expr.sum(parse(text, exact=True) for text in texts)


@pytest.mark.parametrize("quantity", ["flops", "pointwise_ops", "reads", "writes"])
def test_lines_sum_to_the_total_as_polynomials(quantity: str) -> None:
    """In every regime of every entry the costs of the lines add up to the total, identically."""
    different = []
    for name, one in regimes():
        analysis = one.flop_analysis if quantity in ("flops", "pointwise_ops") else one.memory_analysis
        lines = [getattr(line, quantity) for line in analysis.lines]
        if total(lines) != parse(one.formula(quantity), exact=True):
            different.append(name)

    assert [] == different


@cache
def statements(file: str) -> tuple[ast.Module, frozenset[int]]:
    """A source file of an installed package, and the lines at which statements begin."""
    tree = ast.parse((Path(torch.__file__).parents[1] / file).read_text(encoding="utf-8"))
    return tree, frozenset(node.lineno for node in ast.walk(tree) if isinstance(node, ast.stmt))


def writes_forward(tree: ast.Module, line_start: int, line_end: int) -> bool:
    """Whether the class there has a forward() in its own body, and no decorator that gives it another."""
    kinds = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and not node.decorator_list]
    mine = [one for one in kinds if line_start <= one.lineno and one.end_lineno == line_end]
    return any(getattr(one, "name", "") == "forward" for kind in mine for one in kind.body)


def test_lines_are_statements_of_the_class() -> None:
    """Where a class writes its own forward(), costs are told at lines of the class that begin a statement."""
    misplaced = []
    for key, entry in entries().items():
        place = entry.code_location
        tree, begun = statements(place.file)
        inside = range(place.line_start, place.line_end + 1)
        if not writes_forward(tree, inside[0], inside[-1]):
            continue
        lines = {line.line for one in entry.regimes for line in one.flop_analysis.lines}
        if not lines & set(inside) and lines or (lines & set(inside)) - begun:
            misplaced.append(key)

    assert [] == misplaced


def test_every_stored_proof_point_is_equal() -> None:
    """What was measured is what the stored formula gives, at every stored point, for every quantity."""
    different = []
    for name, one in regimes():
        assert one.proof is not None, name
        measured = {quantity for point in one.proof.points for quantity in point.measured}
        formulas = {quantity: parse(one.formula(quantity), exact=True) for quantity in sorted(measured)}
        for point in one.proof.points:
            for quantity, value in point.measured.items():
                if formulas[quantity].evaluate(point.sizes) != value:
                    different.append((name, quantity))

    assert [] == different


def test_every_proof_point_satisfies_its_conditions() -> None:
    """Points obey what the regime says of sizes (those that broke a dropped condition proved it needless)."""
    broken = [
        (name, text)
        for name, one in regimes()
        for point in (one.proof.points if one.proof else ())
        for text in one.conditions
        if "_dtype_bytes" not in text and not Condition.parse(text).holds(point.sizes)
    ]

    assert [] == broken


def test_every_exact_regime_was_measured_three_times_in_each_number_format() -> None:
    """At sizes that meet its conditions: activations of 4 bytes are float32, others the narrower format."""
    few = []
    for name, one in regimes():
        if one.proof is None or one.proof.verdict != "exact":
            continue
        wide = [point.sizes["a_dtype_bytes"] == 4 for point in one.proof.points]
        for dtype in one.proof.dtype.split(", "):
            if wide.count(dtype == "float32") < POINTS:
                few.append((name, dtype))

    assert [] == few


def test_what_has_formulas_is_what_the_catalogue_counts_as_proved() -> None:
    """Nothing is shipped that a build did not prove, and nothing is counted that is not shipped.

    Of what a build left unproved, some has formulas and some has none.
    """
    units = read_catalogue(Workspace(DATABASE.parent)).libraries["transformers"].units.values()
    states = {one.name: one.state for unit in units for one in unit.classes}
    counted = {name for name, state in states.items() if state in ("exact", "bounded", "pinned", "assumed")}
    database = database_in(DATABASE)
    heads = [head for head in map(database.head, database) if head.library == "transformers"]
    shipped = {head.full_class_name for head in heads if head.same_as or head.generated_class_name}

    assert set() == counted - shipped
    assert {"unproved"} >= {states[name] for name in shipped - counted}


def test_no_name_is_without_meaning() -> None:
    """No formula has a symbol that is not among the entry's parameters."""
    unknown = [
        (key, name)
        for key, entry in entries().items()
        for one in entry.regimes
        for name in one.parameters
        if name not in {p.name for p in entry.parameters}
    ]

    assert [] == unknown


def test_stored_hashes_are_those_of_the_installed_source() -> None:
    """Where the versions are those of the entry, the code hashes to what is stored: it is known, not run."""
    stored = [
        entry
        for entry in entries().values()
        if {n: v for n, v in entry.versions.items() if n != "rules"} == _installed(entry)
    ]

    assert [] == [
        entry.full_class_name
        for entry in stored
        if glance_at(entry.full_class_name).source_hash != entry.source_hash
    ]


def _installed(entry: Entry) -> dict[str, str]:
    return {n: v for n, v in current_versions(entry.library).items() if n in entry.versions and n != "rules"}


LAYERS = re.compile(r"(^|[._])(n_layer|depth|depths|(\w+_)?(layers|blocks))(\.\d+)?$")  # counts of layers
COUNTS = re.compile(  # and what counts them under another name
    r"(^|[._])(num_feedforward_networks|num_self_attends_per_block|num_conv_pos_embeddings"
    r"|mask_downsampler_total_stride)$"
)


def _said(one: Regime) -> frozenset[str]:
    """The names in the formulas and conditions of a regime."""
    named = frozenset().union(*(parse(one.formula(q), exact=True).symbols() for q in QUANTITIES))
    return named.union(*(Condition.parse(text).symbols() for text in one.conditions))


def test_layer_counts_are_in_the_formulas() -> None:
    """A count of layers, which Python's loop consumes as a number, is in formulas or conditions again."""
    with_counts = {
        key: counts
        for key, entry in entries().items()
        if (counts := {p.name for p in entry.parameters if LAYERS.search(p.name)})
    }
    unsaid = [
        (key, one.name, name)
        for key, counts in with_counts.items()
        for one in entries()[key].regimes
        for name in counts & set(one.parameters) - _said(one)
    ]
    assert {"transformers_LlamaModel", "transformers_BertEncoder", "torch_GRU"} <= with_counts.keys()
    assert [] == unsaid


WRITTEN_OUT = {  # lists whose length no size of a configuration gives, and what does
    "transformers_BeitUperHead": "its constructor writes out four stages",
    "transformers_BeitPyramidPoolingModule": "one block for each of `pool_scales`",
    "transformers_Qwen2_5OmniAMPBlock": "one convolution for each of `dilation`, three by default",
}

COUNTED_BY = {  # lists that a size counts whose name does not say so
    "transformers_DacResidualVectorQuantizer": {"n_codebooks"},
    "transformers_FunnelEncoder": {"block_sizes.0"},
    "transformers_PPLCNetV3LearnableRepLayer": {"conv_symmetric_num"},
    "transformers_HrmTextStack": {"num_layers_per_stack"},
    "transformers_StableLmLayerNormPerHead": {"num_attention_heads", "num_key_value_heads"},
}


def test_repeated_layers_are_counted_by_a_name() -> None:
    """Where alike members of one list are called, a name says how many there are, or words that none does."""
    numbered = [
        name
        for name, one in regimes()
        for call in one.flop_analysis.submodule_calls
        if (found := re.search(r"(\S+)\.0, .*\1\.1", call.attribute))
        and not any(LAYERS.search(n) or COUNTS.search(n) for n in _said(one))
        and not any(text.startswith(f"{found[1]} holds ") for text in one.assumptions)
        and not COUNTED_BY.get(name.partition(":")[0], set()) & _said(one)
    ]

    assert set() == {name.partition(":")[0] for name in numbered} - WRITTEN_OUT.keys()
