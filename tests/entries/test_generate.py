"""Generated calculators give what the entries give, and nothing of a hostile entry gets into their code."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from forwardbook.calculator import CalculatorError, OutsideRegimesError
from forwardbook.calculator.composed import ComposedCalculator
from forwardbook.entries.cost_model import CostModel
from forwardbook.entries.record import Entry, Name, Own, Regime
from forwardbook.entries.refusal import OutsideRegimes
from forwardbook.generate import RenderError, is_unedited
from forwardbook.generate.composed import class_name, module_names, render_composed

from .examples import LINEAR, MLP, MODEL_SIZES, TOY, call, entry, regime
from .test_evaluate import points

ODD = regime(
    Own(
        flops="max({n}, {conf.class} // 3) + min({n} % 7, ceil({n} / 2))",
        states=("{n} - 1", "max({n}, 5)"),
        boundary="{lambda}",
    ),
    conditions=("{n} % 2 == 0", "{lambda} >= 0"),
    definitions={"conf.class": "2 * {n} + {Own}", "lambda": "{n} // 4", "free": "{n} * {m}"},
)
ENTRIES = TOY | {
    "x_Same": LINEAR.model_copy(update={"same_as": "torch_Linear", "regimes": ()}),
    "x_Odd": entry("x.y.Odd", (Name(name="lambda", source="count"),), ODD),
    "x_Outer": entry(
        "x.y.Outer", (), regime(Own(), (call(1, "odd", "x_Odd", "7", "{n} // 3", n="{n}", Own="1"),))
    ),
}


@pytest.fixture(scope="module")
def calculators(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, ComposedCalculator]]:
    """The calculators of all entries, written to a package and imported."""
    folder = tmp_path_factory.mktemp("generated") / "toy_calculators"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    for key, text in rendered(ENTRIES).items():
        (folder / f"{module_names(ENTRIES)[key]}.py").write_text(text)
    sys.path.insert(0, str(folder.parent))
    yield {
        key: getattr(importlib.import_module(f"toy_calculators.{module}"), class_name(ENTRIES[key]))()
        for key, module in module_names(ENTRIES).items()
        if ENTRIES[key].regimes
    }
    sys.path.remove(str(folder.parent))


def rendered(entries: Mapping[str, Entry]) -> dict[str, str]:
    """The text of the file of each entry that has formulas."""
    regimes, modules = CostModel(entries).regimes, module_names(entries)
    return {key: render_composed(regimes, key, modules) for key, one in entries.items() if one.regimes}


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sizes=points, odd=st.integers(-1, 30))
def test_a_calculator_gives_what_the_entry_gives(
    calculators: Mapping[str, ComposedCalculator], sizes: dict[str, int], odd: int
) -> None:
    model = CostModel(ENTRIES)
    for key, calculator in calculators.items():
        names = model.regimes.signature(key, "default").names
        several = {
            "rows": odd,
            "in_features": 3,
            "out_features": odd,
            "elements": 5,
            "n": odd,
            "Own": 1,
            **sizes,
        }
        given = {name: size for name, size in several.items() if name in names}
        try:
            expected = model.evaluate(key, given).costs
        except OutsideRegimes:
            with pytest.raises(OutsideRegimesError, match="no regime holds"):
                calculator.costs_at(given)
        else:
            assert expected == calculator.costs_at(given)


def test_definitions_complete_sizes_in_a_calculator_as_well(
    calculators: Mapping[str, ComposedCalculator],
) -> None:
    attention = calculators["transformers_ToyAttention"]
    sizes = {"batch_size": 2, "seq_len": 3, "num_heads": 4, "a_dtype_bytes": 2, "w_dtype_bytes": 2}
    assert attention.costs(**sizes, hidden_size=32) == attention.costs(**sizes, head_dim=8)
    for wrong in ({"hidden_size": 33}, {"hidden_size": 32, "head_dim": 9}, {}):
        with pytest.raises(OutsideRegimesError):
            attention.costs(**sizes, **wrong)


def test_a_file_is_sealed_and_imports_the_runtime_alone() -> None:
    for text in rendered(ENTRIES).values():
        assert is_unedited(text)
        imported = [
            node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import | ast.ImportFrom)
        ]
        assert {getattr(node, "module", "") for node in imported} <= {
            "forwardbook.calculator.composed",
            "forwardbook.calculator.arrays",
        }
        assert max(map(len, text.splitlines())) <= 110


def test_a_child_without_a_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lonely").mkdir()
    (tmp_path / "lonely" / "model.py").write_text(rendered(TOY)["transformers_ToyMLP"])
    monkeypatch.syspath_prepend(str(tmp_path))
    calculator = importlib.import_module("lonely.model").ToyMLPCalculator()
    with pytest.raises(CalculatorError, match="torch_linear.LinearCalculator: it is not beside lonely.model"):
        calculator.costs(**{n: s for n, s in MODEL_SIZES.items() if n in _names_of(MLP)})
    with pytest.raises(RenderError, match="a call of torch_Linear: it has no module"):
        render_composed(CostModel(TOY).regimes, "transformers_ToyMLP", {})


def test_keys_that_would_share_a_file_have_two() -> None:
    assert {"a_B": "a_b", "a_b": "a_b_2", "ä_b": "__b"} == module_names(["a_b", "ä_b", "a_B"])


@pytest.mark.parametrize(
    "hostile",
    [
        {"own": Own(flops="__import__('os')")},
        {"own": Own(states=("{n}); import os",))},
        {"conditions": ("{n} == 1 or exit()",)},
        {"definitions": {"n": "open('x')"}},
        {"calls": (call(1, "x", "torch_Linear", "0", rows="exit()"),)},
    ],
)
def test_what_is_no_formula_becomes_no_code(hostile: dict[str, object]) -> None:
    one = regime(Own()).model_copy(update=hostile)
    with pytest.raises(Exception, match="not part of a formula|was expected"):
        rendered({"x_A": entry("x.y.A", (), one), "torch_Linear": LINEAR})


def test_texts_of_a_hostile_entry_stay_texts() -> None:
    said = '"""\nimport os\n\\" + exit() #'
    one = Regime.model_validate(ODD.model_dump() | {"name": said, "signature": said})
    tree = ast.parse(rendered({"x_Odd": entry("x.y.Odd", (), one)})["x_Odd"])
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    assert [one.name for one in tree.body if isinstance(one, ast.ClassDef)][-1] == "OddCalculator"
    with pytest.raises(ValidationError):
        Regime.model_validate(ODD.model_dump() | {"definitions": {"x) or exit(": "1"}})


def _names_of(one: Entry) -> set[str]:
    return {name.name for name in one.names}
