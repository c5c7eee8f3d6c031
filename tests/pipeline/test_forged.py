"""What a class can do that writes the answer of its own analysis: be refused, and tell a person alone."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pydantic import JsonValue

from forwardbook.errors import ForwardbookError
from forwardbook.pipeline.catalogue.build import _result
from forwardbook.pipeline.catalogue.plan import Unit
from forwardbook.pipeline.child.fork_server import Forks
from forwardbook.pipeline.child.job import Limits
from forwardbook.pipeline.child.known_words import known_words
from forwardbook.pipeline.child.request import Request, Response
from forwardbook.pipeline.child.response_entry import read_entry
from forwardbook.pipeline.reprove.again import AGAIN, _results
from forwardbook.schema import CodeLocation, Entry

CLASS = """\
import json, os, pathlib
import torch


class Toy(torch.nn.Module):
    def forward(self, hidden_states):
        answer = pathlib.Path(os.environ["HOME"]).parent / "response.json"
{forward}
        os._exit(0)
"""
MARK = "".join(map(chr, (90, 81, 88, 77, 65, 82, 75)))
MakeEntry = Callable[..., Entry]


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    """A process that has imported torch and forks children."""
    with Forks("run_only:warm", ()) as server:
        yield server


@pytest.fixture
def answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forks: Forks) -> Callable[[str], Response]:
    """What comes back of a class whose forward() writes the answer."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))

    def run(forward: str) -> Response:
        file = tmp_path / "toy_layers.py"
        file.write_text(CLASS.format(forward=textwrap.indent(textwrap.dedent(forward).strip(), " " * 8)))
        request = Request(target="toy_layers.Toy", file=str(file), roots=(str(tmp_path),))
        return forks.run(request, Limits(1, 60), "run_only:work")

    return run


LINUX = pytest.mark.skipif(sys.platform != "linux", reason="children are forked on Linux alone")


@LINUX
@pytest.mark.parametrize("problem", ["a problem", None])
def test_a_forged_answer_tells_a_model_and_files_only_known_words(
    answered: Callable[[str], Response], problem: str | None
) -> None:
    """Words of its own file and numbers pass; a text that it made as it ran is in nothing but the problem."""
    mark = "".join(f"{ord(one):02x}" for one in MARK)
    response = answered(
        f"""
        mark = bytes.fromhex("{mark}").decode()
        said = {{mark: [mark + " hidden_states 17", 3]}}
        answer.write_text(json.dumps(dict(
            problem={problem!r} and {problem!r} + mark, told="at line 7: " + mark, problem_kind="forward",
            diagnostics=dict(reason=mark, points=[said], regimes=said, other=mark),
        )))
        """
    )
    told = response.model_copy(update={"problem": None}).model_dump(mode="json")
    told["diagnostics"].pop("output", None)
    if problem is None:
        told["diagnostics"].pop("other")  # an answer's results have names of their own; nobody reads this one

    assert MARK not in json.dumps(told)
    assert "… hidden_states 17" in json.dumps(told, ensure_ascii=False)
    assert problem is None or ("at line 7: …" == response.told and MARK in (response.problem or ""))


@LINUX
@pytest.mark.parametrize(
    "write",
    [
        'answer.write_text("garbage")',
        'answer.write_bytes(b"\\xff\\xfe")',
        'answer.write_text("[" * 100_000)',
        "answer.mkdir()",
        'answer.symlink_to("/etc/passwd")',
        "os.mkfifo(answer)",
        'answer.write_text(json.dumps({"problem_kind": "none of ours"}))',
    ],
)
def test_an_answer_of_no_worker_is_a_crash(answered: Callable[[str], Response], write: str) -> None:
    """It is told that the process ended before it answered, and nothing waits for a pipe."""
    response = answered(write)

    assert "crash" == response.problem_kind
    assert "before it answered" in response.told


def without_points(entry: Entry, **fields: JsonValue) -> dict[str, JsonValue]:
    """An entry as JSON whose made-up points are left out."""
    made = entry.model_dump(mode="json") | fields
    return made | {"regimes": [one | {"proof": None} for one in made["regimes"]]}


@pytest.mark.parametrize(
    "fields",
    [
        {"full_class_name": "torch.nn.modules.linear.Linear"},
        {"library": "torch"},
        {"code_location": CodeLocation(file="torch/nn/modules/linear.py", line_start=1, line_end=2)},
        {"code_location": CodeLocation(file="toy/layers2.py", line_start=1, line_end=2)},
    ],
)
def test_an_entry_of_another_class_is_refused(make_entry: MakeEntry, fields: dict[str, object]) -> None:
    """A class speaks of itself alone: no other entry, library or file."""
    name = "toy.layers.ToyAttention"
    other = without_points(make_entry().model_copy(update=fields))

    assert read_entry(Response(entry=without_points(make_entry())), name) == make_entry().model_copy(
        update={"regimes": tuple(one.model_copy(update={"proof": None}) for one in make_entry().regimes)}
    )
    with pytest.raises(ForwardbookError, match="is of another class"):
        read_entry(Response(entry=other), name)


def test_what_is_wrong_with_a_forged_entry_is_told_without_its_text(make_entry: MakeEntry) -> None:
    """A message about an entry that follows no schema repeats nothing of it."""
    forged = without_points(make_entry()) | {"validation": {MARK: MARK}, "library": MARK}
    with pytest.raises(ForwardbookError, match="is not what the schema says") as refused:
        read_entry(Response(entry=forged), "toy.layers.ToyAttention")

    assert MARK not in str(refused.value)


UNIT = {"unit": "toy.layers", "library": "toy", "record": {"stamp": "", "classes": []}}


@pytest.mark.parametrize(
    "result",
    [
        None,
        [],
        {"unit": "other", "library": "toy", "record": {"stamp": ""}},
        UNIT | {"entries": {"toy.layers.ToyAttention": {"full_class_name": "x"}}},
        UNIT | {"stands": ["torch.nn.modules.linear.Linear"]},
        UNIT | {"record": {"stamp": "", "classes": [{"name": "torch.nn.Linear", "state": "exact"}]}},
        "an entry of another class",
    ],
)
def test_a_unit_speaks_of_its_own_classes_alone(make_entry: MakeEntry, result: JsonValue) -> None:
    """What a process of the catalogue says of others, or in no form of ours, is as if it had crashed."""
    name = "toy.layers.ToyAttention"
    if isinstance(result, str):
        other = without_points(make_entry(), full_class_name="toy.other.ToyAttention")
        result = {**UNIT, "entries": {name: other}}
    unit = Unit("toy.layers", "toy", (), "")
    found = _result(unit, (name,), Response(diagnostics={"unit": result}))

    assert ({}, ()) == (found.entries, found.stands)
    assert [(name, "unreached")] == [(one.name, one.state) for one in found.record.classes]


@pytest.mark.parametrize("results", [None, {}, [{"key": MARK}], [{"key": "toy", "full_class_name": "x"}] * 2])
def test_results_of_a_reproof_are_of_the_keys_that_were_asked(results: JsonValue) -> None:
    """Results of other keys, or twice of one, are none."""
    assert _results(Response(diagnostics={AGAIN: results}), ["toy"]) is None


def test_known_words_are_of_the_file_the_request_and_this_package(tmp_path: Path) -> None:
    """Names that are made of known ones are known; what stands in no text before the run is not."""
    file = tmp_path / "toy.py"
    file.write_text("class Toy:\n    def forward(self, Zettel_eins): ...\n")
    known = known_words(Request(target="toy.Toy", file=str(file), inputs={"querbeet": "batch_size"}))

    assert "line 12, flops: predicted 3, measured 4 of aten.mm" == known.only(
        "line 12, flops: predicted 3, measured 4 of aten.mm"
    )
    assert "Zettel_eins_2 querbeet" == known.only("Zettel_eins_2 querbeet")
    assert "… … …: …" == known.only(f"{MARK} 4f3e9a1c {MARK}_2: \x1b")
    assert {"…": ["…", 3, None]} == known.only_in({MARK: [MARK, 3, None]})
