"""The steps of an analysis, with a run that answers at once: what is stored, kept, refused, written aside."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from forwardbook.errors import ForwardbookError
from forwardbook.pipeline.analysis.attempt import AnalysisError
from forwardbook.pipeline.analysis.one import Analysis, Options, analyze
from forwardbook.pipeline.child.job import Limits
from forwardbook.pipeline.child.request import Request, Response
from forwardbook.pipeline.validate import differences, same, validate
from forwardbook.schema import CodeLocation, Entry, Proof, Validation
from forwardbook.workspace import Workspace
from forwardbook.workspace.packing import packed, unpacked

CODE = (
    "from torch import nn\n\n\nclass ToyAttention(nn.Module):\n    def forward(self, x):\n        return {}\n"
)
MakeEntry = Callable[..., Entry]


class Runs:
    """Stands in for the child process: answers every request with the same response and keeps them."""

    def __init__(self, response: Response) -> None:
        self.response = response
        self.requests: list[Request] = []

    def __call__(self, request: Request, limits: Limits) -> Response:
        self.requests.append(request)
        return self.response


def answer(entry: Entry, **fields: object) -> Response:
    """The response with an entry; its points are made up, so it has none: formulas are held against them."""
    made = entry.model_dump(mode="json")
    for regime in made["regimes"]:
        if regime["proof"] is not None:
            regime["proof"]["points"] = []
    return Response.model_validate({"entry": made, **fields})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with toy/layers.py, nothing shipped beneath."""
    monkeypatch.setattr("forwardbook.workspace.folder.shipped_path", lambda: None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "__init__.py").touch()
    (tmp_path / "toy" / "layers.py").write_text(CODE.format("x"))
    return tmp_path


@pytest.fixture
def runs(entry: Entry) -> Runs:
    """A run that proves ToyAttention."""
    return Runs(answer(entry))


def go(run: Runs, options: Options | None = None, force: bool = False) -> Analysis:
    """One analysis of the toy."""
    return analyze("toy.layers.ToyAttention", options, limits=Limits(), force=force, run=run)


def test_request_says_where_the_class_is(folder: Path, runs: Runs) -> None:
    """The child is told the class, its file, and the folder to import it from."""
    go(runs, Options(init={"a": "1"}, inputs={"x": "B,S"}, derive="static"))
    [request] = runs.requests

    assert "toy.layers.ToyAttention" == request.target
    assert (str(folder / "toy" / "layers.py"), (str(folder),)) == (request.file, request.roots)
    assert ({"a": "1"}, {"x": "B,S"}, "static") == (request.init, request.inputs, request.derive)


def test_known_class_is_not_run_again(folder: Path, runs: Runs) -> None:
    """The second analysis answers the first one's entry without a run; --force runs again."""
    first, second = go(runs), go(runs)
    forced = go(runs, force=True)

    assert [False, True, False] == [first.cached, second.cached, forced.cached]
    assert first.entry == second.entry == forced.entry
    assert 2 == len(runs.requests)


@pytest.mark.parametrize("changed", ["source", "torch", "rules", "given", "derivation", "entry"])
def test_change_is_noticed(folder: Path, runs: Runs, changed: str) -> None:
    """Other source, library versions, cost rules, options, or a damaged entry: the class is run again."""
    key = go(runs).key
    path = folder / "module_db.json"
    content = json.loads(path.read_text())
    entry = unpacked(content["entries"][key])
    options = Options(inputs={"x": "B"}) if changed == "given" else None
    if changed == "source":
        (folder / "toy" / "layers.py").write_text(CODE.format("x + 1"))
    elif changed == "derivation":
        entry["derived_by"] = ["static"]
    elif changed == "entry":
        entry["colour"] = "red"
    elif changed != "given":
        entry["versions"][changed] = "0.0"
    content["entries"][key] = packed(entry)
    path.write_text(json.dumps(content))

    assert not go(runs, options).cached


def test_refuted_formula_is_written_aside(folder: Path, runs: Runs, entry: Entry) -> None:
    """A formula that measurement refuted is not stored: a diagnostics file has it, and the error says so."""
    wrong = entry.model_copy(update={"validation": Validation(verdict="wrong")})
    runs.response = answer(wrong, diagnostics={"points": [1]})
    with pytest.raises(AnalysisError, match=r"diagnostics/toy_ToyAttention_diagnostics\.json") as raised:
        go(runs)
    content = json.loads((folder / "diagnostics" / "toy_ToyAttention_diagnostics.json").read_text())

    assert "wrong" == raised.value.kind
    assert {"points": [1]} == content["diagnostics"]
    assert not (folder / "module_db.json").exists()


def test_refuted_regime_counts_as_refuted(folder: Path, runs: Runs, entry: Entry) -> None:
    """One refuted regime is enough."""
    proof = Proof(verdict="wrong", device="meta", dtype="float32")
    regimes = (entry.regimes[0], entry.regimes[1].model_copy(update={"proof": proof}))
    runs.response = answer(entry.model_copy(update={"regimes": regimes}))
    with pytest.raises(AnalysisError, match="measurement refuted the formula"):
        go(runs)

    assert not (folder / "module_db.json").exists()


def test_diagnostics_go_when_the_class_is_proved(folder: Path, runs: Runs, entry: Entry) -> None:
    """What was written aside is taken away when a later analysis succeeds."""
    fine = runs.response
    runs.response = answer(entry, problem="refuted", problem_kind="wrong")
    with pytest.raises(AnalysisError):
        go(runs)
    runs.response = fine
    go(runs)

    assert [] == list((folder / "diagnostics").iterdir())


def test_problem_quotes_the_output(folder: Path, runs: Runs) -> None:
    """The message of a failed run ends with the last lines that the code printed."""
    runs.response = Response(
        problem="it failed", problem_kind="forward", diagnostics={"output": ["one", "two"]}
    )
    with pytest.raises(AnalysisError) as raised:
        go(runs)

    assert "it failed\n  the last that its code printed:\n  | one\n  | two" == str(raised.value)


def test_human_validation_lasts_as_long_as_the_formulas(folder: Path, runs: Runs, entry: Entry) -> None:
    """What a person validated stays so through a new analysis with the same formulas, and no longer."""
    key = go(runs).key
    path = folder / "module_db.json"
    path.write_text(path.read_text().replace('"human_validated": false', '"human_validated": true'))
    again = go(runs, force=True).entry
    runs.response = answer(entry.model_copy(update={"regimes": entry.regimes[:1]}))
    changed = go(runs, force=True).entry

    assert again.validation.human_validated
    assert not changed.validation.human_validated
    assert changed == Workspace(folder).load()[key]


def test_two_classes_of_one_name_have_keys_and_files_of_their_own(
    folder: Path, runs: Runs, make_entry: MakeEntry
) -> None:
    """A second class of the same name in a library gets its module into the key, and another file."""
    go(runs)
    (folder / "toy" / "other.py").write_text(CODE.format("x + 1"))
    place = CodeLocation(file="toy/other.py", line_start=1, line_end=9)
    runs.response = answer(make_entry(full_class_name="toy.other.ToyAttention", code_location=place))
    other = analyze("toy.other.ToyAttention", limits=Limits(), run=runs)
    names = {entry.generated_file_name for entry in Workspace(folder).load().values()}

    assert "toy_other_ToyAttention" == other.key
    assert 2 == len(names) == len(list((folder / "generated_modules").glob("*.py")))


def test_calculator_goes_where_the_entry_cannot_be_stored(
    folder: Path, runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failure while the database is written leaves no calculator behind."""

    def fail(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Workspace, "save", fail)
    with pytest.raises(KeyboardInterrupt):
        go(runs)

    assert [] == list((folder / "generated_modules").iterdir())


def test_analysis_within_an_analysis_is_refused(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that analyses when it is imported does not start processes without end."""
    monkeypatch.setenv("FORWARDBOOK_CHILD", "1")
    with pytest.raises(ForwardbookError, match="__main__"):
        go(runs)


def test_validate_sends_what_was_given(folder: Path, runs: Runs) -> None:
    """Proving again uses the config, arguments and inputs of the entry, and the new seed."""
    config = folder / "config.json"
    config.write_text('{"hidden_size": 8}')
    key = go(runs, Options(config_file=config, init={"a": "1"}, inputs={"x": "B"})).key
    config.unlink()
    [check] = validate([key], seed=77, limits=Limits(), run=runs)
    request = runs.requests[-1]

    assert (True, 77, {"a": "1"}, {"x": "B"}) == (check.agrees, request.seed, request.init, request.inputs)
    assert request.config_file is not None


def test_validate_notices_changed_source(folder: Path, runs: Runs) -> None:
    """An entry whose source has changed cannot be confirmed."""
    go(runs)
    (folder / "toy" / "layers.py").write_text(CODE.format("x + 1"))
    [check] = validate([], seed=1, limits=Limits(), run=runs)

    assert not check.agrees
    assert "changed since it was analysed" in check.differences[0]


def test_differences_name_regime_quantity_and_line(entry: Entry) -> None:
    """Each formula that differs as a polynomial is named; another way of writing it is no difference."""
    text = entry.model_dump_json()
    flops = entry.regimes[0].flop_analysis.flops
    other = Entry.model_validate_json(text.replace(f'"flops":"{flops}"', f'"flops":"{flops} + 1"', 1))
    written = Entry.model_validate_json(text.replace(f'"flops":"{flops}"', f'"flops":"({flops}) * 1"', 1))
    fewer = entry.model_copy(update={"regimes": entry.regimes[1:]})

    assert [f"regime prefill, flops: stored {flops}, now {flops} + 1"] == list(differences(entry, other))
    assert [] == list(differences(entry, written))
    assert ["regime prefill: it is stored, and was not found again"] == list(differences(entry, fewer))


def test_same_is_about_polynomials() -> None:
    """Formulas are compared by what they mean."""
    assert same("2 * {a} * ({b} + {c})", "{a} * {b} * 2 + 2 * {c} * {a}")
    assert not same("2 * {a}", "{a}")
    assert not same("2 * {a}", "2 *")


def test_what_other_options_replace_is_told(folder: Path, runs: Runs) -> None:
    """With other inputs the regimes of before are gone: which, and the options that gave them, is said."""
    first = go(runs, Options(init={"a": "1"}, inputs={"x": "B,S", "context": "B,T"}))
    again = go(runs, Options(init={"a": "1"}, inputs={"x": "B,S", "context": "B,T"}), force=True)
    other = go(runs, Options(init={"a": "1"}, inputs={"x": "B,S"}))

    assert ("", "") == (first.lost, again.lost)
    assert "--init a=1 --input context=B,T --input x=B,S" in other.lost
    assert all(one.name in other.lost for one in first.entry.regimes)
