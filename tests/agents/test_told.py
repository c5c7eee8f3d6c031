"""A class that puts a secret into all that it says: none of it is in a request, a page or a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forwardbook.agents.choose import Chosen
from forwardbook.errors import ForwardbookError
from forwardbook.pipeline.analysis.attempt import AnalysisError
from forwardbook.pipeline.analysis.one import Options, analyze
from forwardbook.pipeline.child.job import Limits
from forwardbook.pipeline.child.process import run_child
from forwardbook.pipeline.child.request import Request, Response
from forwardbook.pipeline.explain.pages import Request as Asked
from forwardbook.pipeline.explain.pages import explain

from .conftest import api
from .inside import run_inside
from .script import say, use
from .server import Scripted
from .test_module_flow import RIGHT

SECRET = "env-value-4f3e9a1c"
MARK = "".join(map(chr, (90, 81, 88, 77, 65, 82, 75)))
"""What the class makes as it runs: it stands in no source."""
CODE = '''\
import os
import sys
import warnings

import torch
from torch import nn


def leak() -> str:
    return "".join(map(chr, (90, 81, 88, 77, 65, 82, 75))) + " " + os.environ.get("PLANTED_SECRET", "")


class Told(ValueError):
    def __str__(self) -> str:
        return leak()

    __repr__ = __str__


class Named(nn.Module):
    """Says all that it can."""

    def __init__(self, hidden_size: int = 32) -> None:
        super().__init__()
        self.layer = nn.Linear(hidden_size, hidden_size)
        self.say()

    def say(self) -> None:
        print(leak())
        print(leak(), file=sys.stderr)
        warnings.warn(leak(), stacklevel=1)

    def extra_repr(self) -> str:
        return leak()

    def forward(self, hidden_states: torch.Tensor) -> torch.Tensor:
        self.say()
        {raising}
        return self.layer(hidden_states)
'''
RAISES = {
    "a message": "raise ValueError(leak())",
    "its str": "raise Told()",
    "its type": "raise type(leak(), (KeyError,), {})(leak())",
    "a note": "error = ValueError(leak()); error.add_note(leak()); raise error",
    "a group": "raise ExceptionGroup(leak(), [ValueError(leak()), Told()])",
    "a cause": "raise RuntimeError(leak()) from Told()",
    "a file's name": "exec(compile('raise OSError', leak(), 'exec'))",
    "a syntax error": "raise SyntaxError(leak(), (leak(), 7, 1, leak()))",
    "an attribute": "getattr(self, leak())",
    "torch": "torch.zeros(2, device=leak())",
    "an error of ours": "from forwardbook.errors import FormulaError; raise FormulaError(leak())",
    "a part of ours": "from forwardbook.formula import parse; parse('{' + leak() + '} +')",
    "memory": "raise MemoryError(leak())",
    "an import": "raise ImportError(leak() + ' requires the ' + leak() + ' library')",
}
OPTIONS = Options(inputs={"hidden_states": "batch_size,seq_len,hidden_size"})
Run = Callable[..., Response]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for the class, with a secret in the environment."""
    monkeypatch.setattr("forwardbook.workspace.folder.shipped_path", lambda: None)
    monkeypatch.setenv("PLANTED_SECRET", SECRET)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "code").mkdir()
    monkeypatch.chdir(tmp_path / "code")
    return tmp_path


def written(folder: Path, raising: str) -> None:
    """Write the class."""
    (folder / "code" / "named.py").write_text(CODE.replace("{raising}", raising))


def nothing_told(folder: Path, server: Scripted | None = None) -> None:
    """Neither what the class made as it ran nor the secret is in a file or a request."""
    texts = {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    texts |= (
        {str(each.path): json.dumps([each.body, each.headers]).encode() for each in server.log}
        if server
        else {}
    )
    found = [name for name, text in texts.items() if MARK.encode() in text or SECRET.encode() in text]

    assert [] == [name for name in found if not name.endswith(".pyc")]


def chosen(url: str) -> Chosen:
    """A live analyst against a scripted service."""
    made: Any = api(url)
    return Chosen("api", made, made.settings, made.ledger)


IN_CHILDREN = ("a message", "a file's name", "torch")
CASES = [
    *(pytest.param(run_inside, name, id=f"{name}, inside") for name in RAISES),
    *(
        pytest.param(run_child, name, id=f"{name}, in a child", marks=pytest.mark.slow)
        for name in IN_CHILDREN
    ),
]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("run", "name"), CASES)
def test_no_text_of_an_exception_is_told(
    run: Run, name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requests to a model, what the checker says to it, diagnostics and whatever is stored hold none."""
    monkeypatch.setattr("forwardbook.pipeline.agent.module.run_child", run)
    written(folder, RAISES[name])
    server = Scripted(forever=lambda body: say(use("submit", RIGHT)))
    with server, pytest.raises(ForwardbookError):
        analyze("named.py:Named", OPTIONS, limits=Limits(), run=run, chosen=chosen(server.url))

    nothing_told(folder, server)
    if name != "memory":
        assert server.bodies
        assert list(folder.rglob("*_diagnostics.json"))


def test_an_entry_says_nothing_of_what_a_class_says(folder: Path) -> None:
    """A class that runs on meta and raises in every real run: a judge's remark has the type alone."""
    written(folder, "if hidden_states.device.type == 'cpu': raise Told()")
    done = analyze("named.py:Named", OPTIONS, limits=Limits(), run=run_inside)
    remarks = [judge.remark for one in done.entry.regimes if one.proof for judge in one.proof.judges]

    assert any("it could not run the call: ValueError" == remark for remark in remarks)
    nothing_told(folder)


def test_what_is_read_from_source_has_no_text_of_an_exception(folder: Path) -> None:
    """With `--derive static` a person is told what the source raises; an entry, and a model, are not."""
    written(folder, "raise ValueError('ZQX' + 'MARK')")
    with pytest.raises(AnalysisError, match="ZQXMARK") as refused:
        analyze(
            "named.py:Named", Options(inputs=OPTIONS.inputs, derive="static"), limits=Limits(), run=run_inside
        )

    assert "the source raised ValueError" in refused.value.told
    assert "ZQXMARK" not in refused.value.told
    nothing_told(folder)


def test_pages_say_nothing_of_what_a_class_says(folder: Path) -> None:
    """A page of explained code is of its source alone."""
    written(folder, RAISES["a message"])
    code = folder / "code"
    explain(Asked((code / "named.py",), out=folder / "out", root=code))

    assert (folder / "out" / "named.md").exists()
    nothing_told(folder)


def test_a_forged_answer_is_no_way_to_a_model(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a process says of itself: names of sizes, reasons, parts of an entry; nothing of it is sent."""
    written(folder, "pass")
    honest = analyze("named.py:Named", OPTIONS, limits=Limits(), run=run_inside).entry
    [regime, *_] = honest.regimes
    forged = honest.model_copy(
        update={
            "regimes": (
                regime.model_copy(update={"assumptions": (f"the value of a {MARK}",), "proof": None}),
            ),
            "parameters": tuple(one.model_copy(update={"meaning": MARK}) for one in honest.parameters),
        }
    )
    answers = {
        "look": Response(diagnostics={"sizes": {"batch_size": 2, "hidden_size": 8}}),
        "work": Response(told=MARK, problem=MARK, problem_kind="forward", diagnostics={"reason": MARK}),
    }

    def lie(request: Request, limits: Limits, worker: str = "") -> Response:
        if worker:
            return answers[worker.rpartition(":")[2]]
        return Response(entry=forged.model_dump(mode="json"))

    monkeypatch.setattr("forwardbook.pipeline.agent.module.run_child", lie)
    with Scripted(forever=lambda body: say(use("submit", RIGHT))) as server:
        with pytest.raises(AnalysisError, match="unresolved"):
            analyze(
                "named.py:Named", OPTIONS, limits=Limits(), run=lie, chosen=chosen(server.url), force=True
            )
        sent = len(server.bodies)
        answers["look"] = Response(diagnostics={"sizes": {"batch_size": 2, MARK: 8}})
        with pytest.raises(AnalysisError, match="unresolved"):
            analyze(
                "named.py:Named", OPTIONS, limits=Limits(), run=lie, chosen=chosen(server.url), force=True
            )

    assert "the value of a …" in json.dumps(server.bodies[0], ensure_ascii=False)
    assert sent == len(server.bodies) > 1
    nothing_told(folder, server)
