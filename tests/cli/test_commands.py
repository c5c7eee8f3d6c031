"""The commands over a database: what they print, and how they fail."""

import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer.main

from forwardbook.cli.app import COMMANDS, build_app
from forwardbook.cli.examples import EXAMPLES, epilog
from forwardbook.schema import QUANTITIES, Entry
from forwardbook.workspace import Workspace

ROOT = Path(__file__).resolve().parents[2]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, entry: Entry, monkeypatch: pytest.MonkeyPatch, command: Run) -> Run:
    """Runs a command in a workspace with one class: exit code, standard output, standard error."""
    monkeypatch.setattr("forwardbook.workspace.folder.shipped_path", lambda: None)
    monkeypatch.chdir(tmp_path)
    Workspace(tmp_path).save({"toy_ToyAttention": entry})

    return command


def test_help_is_quick_and_imports_nothing_heavy() -> None:
    """`--help` lists every command without importing what only some of them need."""
    code = (
        "import sys; from forwardbook.cli import main\n"
        "try: main(['--help'])\nfinally: print(*sys.modules, file=sys.stderr)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT / "src")},
        check=True,
    )

    heavy = {"torch", "transformers", "numpy", "pydantic", "libcst", "sympy", "jinja2"}
    assert set() == heavy & set(result.stderr.split())
    assert [name for name in COMMANDS if name not in result.stdout] == []


def test_each_command_has_an_example_that_it_understands() -> None:
    """Its help shows one, in the first line or beneath; what stands beneath is read without complaint."""
    commands = typer.main.get_command(build_app()).commands  # type: ignore[attr-defined]
    without = [name for name in COMMANDS if "`forwardbook " not in commands[name].help + (epilog(name) or "")]
    for name, words in EXAMPLES.items():
        commands[name].make_context(name, shlex.split(words))

    assert [] == without
    assert f"`forwardbook score {EXAMPLES['score']}`" in commands["score"].epilog


def test_list_json_is_an_array(run: Run) -> None:
    """`list --json` prints an array with one object per class."""
    code, out, _ = run("list", "--json")
    [row] = json.loads(out)

    assert 0 == code
    assert (
        row["key"],
        row["verdict"],
        row["regimes"],
    ) == ("toy_ToyAttention", "exact", ["prefill", "decode"])


def test_list_takes_words(run: Run) -> None:
    """Only classes that contain every word are listed."""
    assert 1 == len(json.loads(run("list", "attention", "--json")[1]))
    assert [] == json.loads(run("list", "attention", "llama", "--json")[1])
    assert "1 class: 1 exact" in run("list")[1]


def test_show_prints_formulas_lines_proof_and_holes(run: Run) -> None:
    """`show` prints everything that is known of a class."""
    code, out, _ = run("show", "ToyAttention")

    assert 0 == code
    for expected in (
        "toy.layers.ToyAttention",
        "2 * batch_size * seq_len",
        "q = self.q_proj(x)",
        "hidden_size % num_heads == 0",
        "no dropout",
        "proof exact on meta",
        "FlopCounterMode on flops: agreed 3 of 3 times",
        "toy/layers.py:9",
        "no rule",
    ):
        assert expected in out


def test_show_json_is_the_entry(run: Run, entry: Entry) -> None:
    """`show --json` prints the entry with its key."""
    content = json.loads(run("show", "ToyAttention", "--json")[1])

    assert "toy_ToyAttention" == content.pop("key")
    assert entry == Entry.model_validate(content)


def test_evaluate_json_is_an_object_of_integers(run: Run, sizes: dict[str, int]) -> None:
    """`evaluate --json` prints every quantity as an integer."""
    code, out, _ = run(
        "evaluate", "ToyAttention", *(f"{name}={size}" for name, size in sizes.items()), "--json"
    )
    content = json.loads(out)

    assert 0 == code
    assert list(QUANTITIES) == list(content)
    assert {int} == {type(value) for value in content.values()}


def test_evaluate_says_what_is_not_exact(run: Run, tmp_path: Path, entry: Entry) -> None:
    """Beside the numbers of a regime stands why it is not exact."""
    first = entry.regimes[0]
    assert first.proof is not None
    proof = first.proof.model_copy(update={"verdict": "unproved", "reason": "its boundary is too large"})
    regimes = (first.model_copy(update={"proof": proof}), *entry.regimes[1:])
    Workspace(tmp_path).save({"toy_ToyAttention": entry.model_copy(update={"regimes": regimes})})
    sizes = [f"{name}=64" for name in first.parameters]
    _, _, err = run("evaluate", "ToyAttention", *sizes, "--regime", first.name)

    assert f"note: regime {first.name} is unproved: its boundary is too large" in err


def test_evaluate_prints_a_table(run: Run) -> None:
    """`evaluate` prints the quantities with their separators and units, and the lines if asked."""
    code, out, _ = run("evaluate", "ToyAttention", "batch_size=1000", "{text_config.kv_len}=2000", "--lines")

    assert 0 == code
    assert "4,000,000" in out
    assert "3.81 MiB" in out
    assert "regime decode" in out


def test_schema_is_json(run: Run) -> None:
    """`schema` prints the JSON schema of the database."""
    assert "DatabaseFile" == json.loads(run("schema")[1])["title"]
    kinds = (("architecture", "Architecture"), ("populated", "Populated"), ("costs", "ModelCosts"))
    for kind, title in kinds:
        assert title == json.loads(run("schema", kind)[1])["title"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show", "ToyAtention"), "did you mean ToyAttention"),
        (("evaluate", "ToyAttention"), "prefill: missing {batch_size}, {seq_len}"),
        (("evaluate", "ToyAttention", "batch_size=1", "--regime", "x"), "its regimes: prefill, decode"),
    ],
)
def test_errors_are_one_message_without_traceback(run: Run, arguments: tuple[str, ...], message: str) -> None:
    """An error of ours is printed on standard error, exit code 1."""
    code, out, err = run(*arguments)

    assert (code, out) == (1, "")
    assert err.startswith("error: ")
    assert message in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "arguments",
    [("evaluate", "ToyAttention", "seq_len"), ("evaluate", "ToyAttention", "a=1.5"), ("shew",), ("show",)],
)
def test_wrong_usage_exits_with_2(run: Run, arguments: tuple[str, ...]) -> None:
    """Arguments that cannot be understood exit with 2."""
    code, _, err = run(*arguments)

    assert 2 == code
    assert "Traceback" not in err


def test_damaged_database_is_an_error(run: Run, tmp_path: Path) -> None:
    """A command over a damaged database says so and exits with 1."""
    (tmp_path / "module_db.json").write_text('{"entries": {')
    code, _, err = run("list")

    assert 1 == code
    assert "the database is damaged" in err
