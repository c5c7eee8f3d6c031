"""A class with a loop over data, from a wrong formula to the stored entry, through both live backends."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from forwardbook.agents.choose import Chosen
from forwardbook.agents.recordings import Recorded, Replay
from forwardbook.cli import main
from forwardbook.pipeline.agent.module import Check
from forwardbook.pipeline.analysis.attempt import AnalysisError
from forwardbook.pipeline.analysis.given import request_for
from forwardbook.pipeline.analysis.one import Options, analyze, attempt, previewed
from forwardbook.pipeline.analysis.subject import subject
from forwardbook.pipeline.child.job import Limits
from forwardbook.pipeline.child.process import run_child
from forwardbook.pipeline.validate import validate
from forwardbook.profiling.claim import Claim
from forwardbook.workspace import Workspace

from .batches import Batches
from .conftest import MODEL, api, sdk
from .inside import run_inside
from .script import Json, Say, say, tool_results, use
from .server import Scripted

CODE = '''\
import torch
from torch import nn


class Settle(nn.Module):
    """Applies its layer as often as its largest value says."""

    def __init__(self, hidden_size: int = 32) -> None:
        super().__init__()
        self.layer = nn.Linear(hidden_size, hidden_size)
        self.out = nn.Linear(hidden_size, 4 * hidden_size)
        for one in self.layer.parameters():
            nn.init.uniform_(one, -0.25 / hidden_size, 0.25 / hidden_size)

    def forward(self, hidden_states: torch.Tensor) -> torch.Tensor:
        for _ in range(round(64 * hidden_states.abs().max().item()) % 5):
            hidden_states = self.layer(hidden_states)
        return self.out(hidden_states)
'''
N, H, A, W, S = "{batch_size} * {seq_len}", "{hidden_size}", "{a_dtype_bytes}", "{w_dtype_bytes}", "{steps}"
RIGHT: Json = {
    "lines": [
        {
            "line": 16,
            "pointwise_ops": f"2 * {N} * {H}",
            "reads": f"2 * {N} * {H} * {A} + {A}",
            "writes": f"{N} * {H} * {A} + {A}",
        },
        {
            "line": 17,
            "flops": f"2 * {S} * {N} * {H} * {H}",
            "pointwise_ops": f"{S} * {N} * {H}",
            "reads": f"{S} * ({N} * {H} * {A} + {H} * ({H} + 1) * {W})",
            "writes": f"{S} * {N} * {H} * {A}",
        },
        {
            "line": 18,
            "flops": f"8 * {N} * {H} * {H}",
            "pointwise_ops": f"4 * {N} * {H}",
            "reads": f"{N} * {H} * {A} + 4 * {H} * ({H} + 1) * {W}",
            "writes": f"4 * {N} * {H} * {A}",
        },
    ],
    "weights": f"4 * {H} * ({H} + 1) * {W} + min({S}, 1) * {H} * ({H} + 1) * {W}",
    "boundary": f"5 * {N} * {H} * {A} + (4 + min({S}, 1)) * {H} * ({H} + 1) * {W}",
    "intermediates": f"({S} + 1) * {N} * {H} * {A} + {A}",
    "peak": f"(4 + min({S}, 1)) * {N} * {H} * {A}",
    "counted": [{"name": "steps", "meaning": "how often the layer is applied", "line": 17}],
    "names": [{"name": "hidden_size", "meaning": "width of the hidden states"}],
    "reasoning": "Line 17 runs once for each step; its product costs 2 per multiply-accumulate.",
}
WRONG = {**RIGHT, "lines": [RIGHT["lines"][0], {**RIGHT["lines"][1], "flops": "0"}, RIGHT["lines"][2]]}
SUBMIT = {"api": "submit", "sdk": "StructuredOutput"}
BACKENDS = ["api", "sdk"]
WORKERS = [pytest.param("inside", id="inside"), pytest.param("child", marks=pytest.mark.slow)]
"""Where the class runs: in this process, or in children as for a user."""
OPTIONS = Options(inputs={"hidden_states": "batch_size,seq_len,hidden_size"})


@pytest.fixture(params=WORKERS)
def run(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs the class."""
    if request.param == "child":
        return run_child
    for module in ("agent.module", "regenerate.asked_again"):
        monkeypatch.setattr(f"forwardbook.pipeline.{module}.run_child", run_inside)
    return run_inside


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with settle.py and no database."""
    monkeypatch.setattr("forwardbook.workspace.folder.shipped_path", lambda: None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "settle.py").write_text(CODE)
    return tmp_path


def chosen(backend: str, url: str, folder: Path) -> Chosen:
    """A live analyst against a scripted service, whose answers are recorded."""
    made: Any = {"api": api, "sdk": sdk}[backend](url)
    made.ledger.cap = 60 * 10**9
    return Chosen(backend, Recorded(made, folder / "recordings"), made.settings, made.ledger)  # type: ignore[arg-type]


def script(backend: str) -> list[Any]:
    """The model proposes what is wrong; with the counter-example before it, what is right."""

    def mend(body: Json) -> Say:
        read = tool_results(body)
        assert "line 17, flops: predicted 0, measured" in read
        assert "steps=" in read
        return say(use(SUBMIT[backend], RIGHT))

    return [say(use(SUBMIT[backend], WRONG)), mend, say("done")]


@pytest.mark.parametrize("backend", BACKENDS)
def test_wrong_formula_is_mended_and_stored(backend: str, folder: Path, run: Any) -> None:
    """The entry lands proved with reasoning, naming, counted number and cost; a replay gives the same."""
    with Scripted(script(backend)) as server:
        asked = chosen(backend, server.url, folder)
        done = analyze("settle.py:Settle", OPTIONS, limits=Limits(), run=run, chosen=asked)
    entry = Workspace.find().load()[done.key]

    assert "bounded" == entry.validation.verdict
    assert ("agent",) == entry.derived_by
    [regime] = entry.regimes
    assert RIGHT["reasoning"] == regime.flop_analysis.reasoning
    assert regime.proof is not None
    assert all(point.predicted == point.measured for point in regime.proof.points)
    assert len({point.sizes["steps"] for point in regime.proof.points}) > 1
    meanings = {one.name: one for one in entry.parameters}
    assert "width of the hidden states" == meanings["hidden_size"].meaning
    assert "how often line 17 runs" in meanings["steps"].source
    assert entry.proposal is not None
    assert (MODEL, 1, {"steps": 17}) == (
        entry.proposal.model,
        entry.proposal.attempts,
        entry.proposal.counted,
    )
    assert float(entry.proposal.usd) == asked.ledger.spent.usd > 0
    assert not list(folder.rglob("*_diagnostics.json"))
    [check] = validate([], seed=7, limits=Limits(), run=run)
    assert ((), "bounded") == (check.differences, check.verdict)
    replayed = Chosen("replay", Replay(folder / "recordings", MODEL), asked.settings, asked.ledger)
    again = analyze("settle.py:Settle", OPTIONS, limits=Limits(), run=run, chosen=replayed, force=True)
    assert regime.flop_analysis == again.entry.regimes[0].flop_analysis


@pytest.mark.parametrize("backend", BACKENDS)
def test_liar_stores_nothing(backend: str, folder: Path, run: Any) -> None:
    """A model that keeps lying ends unresolved: no entry, no calculator, one diagnostics file."""
    with Scripted(forever=lambda body: say(use(SUBMIT[backend], WRONG))) as server:
        asked = chosen(backend, server.url, folder)
        with pytest.raises(AnalysisError, match="unresolved \\(invalid\\)"):
            analyze("settle.py:Settle", OPTIONS, limits=Limits(), run=run, chosen=asked)

    assert not (folder / "module_db.json").exists()
    assert not list(folder.rglob("generated_modules/*.py"))
    [path] = folder.rglob("*_diagnostics.json")
    told = json.loads(path.read_text())
    assert ("module_analyst", "invalid", 5) == (told["role"], told["kind"], len(told["attempts"]))
    assert "line 17, flops: predicted 0, measured" in told["attempts"][0]
    assert told["usage"]["usd"] > 0
    assert not (folder / "recordings").exists()


def test_forged_recording_is_refused(folder: Path, run: Any) -> None:
    """A recording that claims something else, its checksum made right, fails the measurement."""
    with Scripted(script("api")) as server:
        asked = chosen("api", server.url, folder)
        analyze("settle.py:Settle", OPTIONS, limits=Limits(), run=run, chosen=asked)
    from forwardbook.agents.recordings import _checksum

    [path] = (folder / "recordings").glob("*.json")
    content = json.loads(path.read_text())
    content["value"]["peak"] = "1"
    del content["checksum"]
    path.write_text(json.dumps({**content, "checksum": _checksum(content)}))
    replayed = Chosen("replay", Replay(folder / "recordings", MODEL), asked.settings, asked.ledger)

    with pytest.raises(AnalysisError, match="fails the checker"):
        analyze("settle.py:Settle", OPTIONS, limits=Limits(), run=run, chosen=replayed, force=True)


def test_preview_sends_nothing(folder: Path, run: Any) -> None:
    """A dry run shows the request and its worst cost; nobody is asked, nothing is stored."""
    with Scripted() as server:
        asked = chosen("api", server.url, folder)
        seen = previewed("settle.py:Settle", OPTIONS, asked, limits=Limits(), run=run)

    assert seen is not None
    assert "hidden_states.abs().max().item()" in seen.text
    assert 0 < seen.first < seen.whole
    assert [] == server.log
    assert not (folder / "module_db.json").exists()


def test_claims_are_measured_in_a_child(folder: Path) -> None:
    """What a model proposes is held against runs in a process of its own: one is wrong, one holds."""
    found = subject("settle.py:Settle")
    check = Check(request_for(found, OPTIONS), Limits())

    assert "line 17, flops: predicted 0, measured" in asyncio.run(check(Claim.model_validate(WRONG)))
    assert "" == asyncio.run(check(Claim.model_validate(RIGHT)))
    assert check.entry is not None


OTHER = CODE.replace("class Settle", "class Calm")


def test_many_classes_in_one_batch(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], key: str
) -> None:
    """`analyze-module A B C --batch`: one batch for what is open, at half the price; C needs no model."""
    for module in ("agent.module", "analysis.one"):
        monkeypatch.setattr(f"forwardbook.pipeline.{module}.run_child", run_inside)
    monkeypatch.setattr(attempt, "__kwdefaults__", {**attempt.__kwdefaults__, "run": run_inside})
    (folder / "calm.py").write_text(OTHER)
    (folder / "plain.py").write_text("from torch import nn\n\n\nclass Plain(nn.Linear):\n    pass\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "kept"))
    monkeypatch.setenv("XDG_DATA_HOME", str(folder / "kept"))
    path = folder / "kept" / "forwardbook" / "config.toml"
    path.parent.mkdir(parents=True)

    def play(body: Json) -> Say:
        named = "Settle" if "Class: settle.Settle" in body["messages"][0]["content"] else "Calm"
        return say(use("submit", RIGHT if named == "Settle" else WRONG))

    mended = [say(use("submit", RIGHT))]
    typed = ["analyze-module", "settle.py:Settle", "calm.py:Calm", "absent.py:Gone", "--json", "--batch"]
    with Scripted(mended, batches=Batches(play)) as server:
        path.write_text(f'[agents]\nbase_url = "{server.url}"\nbatch_poll = 0.01\nretries = 0\n')
        with pytest.raises(SystemExit) as stop:
            main([*typed, "--input", "hidden_states=batch_size,seq_len,hidden_size", "--analyst", "api"])
    captured = capsys.readouterr()
    found = json.loads(captured.out)

    assert 1 == stop.value.code
    assert [2] == [len(made) for made in server.batches.made]
    assert 1 == len(server.bodies)
    assert {"settle.Settle", "calm.Calm"} == {one.get("full_class_name") for one in found} - {None}
    assert ["absent.py:Gone"] == [one["name"] for one in found if "problem" in one]
    assert "spent: module_analyst: $" in captured.err
    usd = {one["full_class_name"]: float(one["proposal"]["usd"]) for one in found if "proposal" in one}
    assert 3 * usd["settle.Settle"] == pytest.approx(usd["calm.Calm"])
