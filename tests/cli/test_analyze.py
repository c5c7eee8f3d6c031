"""`analyze-module` and `validate` on a class of the user: what is printed, stored, and read again."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from forwardbook import registry
from forwardbook.formula import parse
from forwardbook.schema import Entry, Given
from forwardbook.workspace import Workspace

from .conftest import COMMAND, GATED, LAYERS, Program

FLOPS = "4 * {batch_size} * {seq_len} * {width} * {hidden}"


@pytest.fixture(scope="module")
def analysed(
    tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]
) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A folder in which Gated was analysed with --explain, and what the program printed."""
    folder = tmp_path_factory.mktemp("analysed")
    (folder / "layers.py").write_text(LAYERS)
    command = [*COMMAND, "analyze-module", *GATED, "--explain"]
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return folder, result


@pytest.fixture
def folder(analysed: tuple[Path, object], tmp_path: Path) -> Path:
    """A copy of the folder in which Gated was analysed."""
    return Path(shutil.copytree(analysed[0], tmp_path / "copy"))


def stored(folder: Path) -> Entry:
    """The entry of Gated."""
    return Workspace(folder).load()["layers_Gated"]


def test_formula_source_proof_and_reasons_are_printed(
    analysed: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    """A person sees verdict, formula, the line with its cost, the proof, and the reason of each factor."""
    result = analysed[1]

    assert 0 == result.returncode
    assert result.stderr.startswith("stored as layers_Gated in module_db.json")
    for words in (
        "verdict exact",
        "return self.down(torch.relu(self.gate(x)))",
        "4 * batch_size * seq_len * hidden * width",
        "proof exact",
        "why: the rules",
        "each output element sums k products",
    ):
        assert words in result.stdout


def test_what_the_class_prints_is_not_mixed_in(
    analysed: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    """Nothing that the analysed code prints reaches our output."""
    result = analysed[1]

    assert "forward() runs" not in result.stdout + result.stderr
    assert "is imported" not in result.stdout + result.stderr


def test_entry_and_calculator_are_stored(folder: Path) -> None:
    """The database holds the formulas and what was given; the calculator is generated and gives the same."""
    entry = stored(folder)
    sizes = {"batch_size": 2, "seq_len": 3, "width": 5, "hidden": 7, "a_dtype_bytes": 2, "w_dtype_bytes": 2}

    assert "exact" == entry.validation.verdict
    assert parse(FLOPS) == parse(entry.regimes[0].flop_analysis.flops)
    assert Given(init={"width": "16"}, inputs={"x": "batch_size,seq_len,width"}) == entry.given
    assert (folder / "generated_modules" / entry.generated_file_name).is_file()
    assert 4 * 2 * 3 * 5 * 7 == registry.load("Gated", Workspace(folder)).costs_at(sizes).flops


def test_second_time_comes_from_the_database(program: Program) -> None:
    """What did not change is not run again, and the JSON is the stored entry and nothing else."""
    result = program("analyze-module", *GATED, "--json", FORWARDBOOK_MEMORY_GB="0.0001")  # enough for no run
    content = json.loads(result.stdout)

    assert (0, "") == (result.returncode, result.stderr)
    assert "layers_Gated" == content.pop("key")
    assert "exact" == Entry.model_validate(content).validation.verdict


def test_what_was_given_counts_for_the_cache(program: Program) -> None:
    """With other inputs the class is run again."""
    arguments = (*GATED[:-1], "x=tokens,width")
    result = program("analyze-module", *arguments, FORWARDBOOK_MEMORY_GB="0.0001")

    assert 1 == result.returncode
    assert "more memory than 0.0001 GB" in result.stderr


def test_changed_source_is_analysed_again(folder: Path, program: Program) -> None:
    """An edit of forward() changes the formula; a comment changes nothing."""
    before = stored(folder)
    (folder / "layers.py").write_text(LAYERS.replace("self.gate(x)))", "self.gate(x)))  # why"))
    same = program("analyze-module", *GATED)
    (folder / "layers.py").write_text(LAYERS.replace("self.gate(x))", "self.gate(x + x))"))
    changed = program("analyze-module", *GATED)

    assert "read from the database" in same.stderr
    assert (0, "") == (changed.returncode, "" if "stored as" in changed.stderr else changed.stderr)
    assert before.source_hash != stored(folder).source_hash
    assert parse(before.regimes[0].flop_analysis.pointwise_ops) != parse(
        stored(folder).regimes[0].flop_analysis.pointwise_ops
    )


def test_validate_agrees(program: Program) -> None:
    """A stored entry that was not tampered with is proved again, at other sizes."""
    result = program("validate", "Gated", "--seed", "5")

    assert 0 == result.returncode
    assert result.stdout.startswith("same    layers.Gated exact")
    assert "1 of 1 agree, at sizes drawn from --seed 5" in result.stderr


def test_validate_finds_a_tampered_formula(folder: Path, program: Program) -> None:
    """A stored formula that is not what the code costs is an error that shows both."""
    path = folder / "module_db.json"
    flops = stored(folder).regimes[0].flop_analysis.flops
    path.write_text(path.read_text().replace(f'"flops": "{flops}"', f'"flops": "{flops} + 1"'))
    result = program("validate", "--json")
    [check] = json.loads(result.stdout)

    assert 1 == result.returncode
    assert not check["agrees"]
    assert [f"regime default, flops: stored {flops} + 1, now {flops}"] == check["differences"][:1]
    assert "0 of 1 agree" in result.stderr


def test_edited_calculator_is_not_overwritten(folder: Path, program: Program) -> None:
    """A calculator edited by hand stops the analysis before anything is stored; --force overwrites it."""
    entry = stored(folder)
    path = folder / "generated_modules" / entry.generated_file_name
    edited = path.read_text() + "# mine\n"
    path.write_text(edited)
    (folder / "layers.py").write_text(LAYERS.replace("self.gate(x))", "self.gate(x + x))"))
    refused = program("analyze-module", *GATED)

    assert (1, "") == (refused.returncode, refused.stdout)
    assert "it was edited by hand" in refused.stderr
    assert (edited, entry) == (path.read_text(), stored(folder))
    assert 0 == program("analyze-module", *GATED, "--force").returncode
    assert "# mine" not in path.read_text()
