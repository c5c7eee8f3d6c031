"""`static-share` counts the classes whose source gives the formulas that running them gives."""

import json
from pathlib import Path

import pytest

from forwardbook.cli import main
from forwardbook.schema import Entry
from forwardbook.workspace import Workspace

NOT_FOLLOWED = "read from source: not followed: toy.py:7: a yield within an expression is not interpreted"


@pytest.fixture
def rows(
    tmp_path: Path, entry: Entry, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> dict[str, dict[str, object]]:
    """What the command says of a class that agrees, one that differs and one that is not followed."""
    monkeypatch.setattr("forwardbook.workspace.folder.shipped_path", lambda: None)
    monkeypatch.chdir(tmp_path)
    Workspace(tmp_path).save(
        {
            "toy_Agrees": _answered(entry, "Agrees", True),
            "toy_Differs": _answered(entry, "Differs", False),
            "toy_Hidden": _answered(entry, "Hidden", None, NOT_FOLLOWED),
        }
    )
    with pytest.raises(SystemExit) as ended:
        main(["static-share", "--json"])
    assert not ended.value.code
    content = json.loads(capsys.readouterr().out)
    return {**{row["key"]: row for row in content["classes"]}, "summary": content["summary"]}


def _answered(entry: Entry, name: str, agrees: bool | None, reason: str = "") -> Entry:
    regimes = tuple(
        one.model_copy(update={"proof": one.proof and one.proof.model_copy(update={"static_agrees": agrees})})
        for one in entry.regimes
    )
    update: dict[str, object] = {"full_class_name": f"toy.{name}", "regimes": regimes}
    update["derived_by"] = ("symbolic", "static") if agrees else ("symbolic",)
    update["validation"] = entry.validation.model_copy(update={"reason": reason})
    return entry.model_copy(update=update)


def test_each_class_is_told_with_its_reason(rows: dict[str, dict[str, object]]) -> None:
    """A class agrees, differs or is not followed; the reason names the construct."""
    assert ("agrees", "") == (rows["toy_Agrees"]["static"], rows["toy_Agrees"]["reason"])
    assert "differs" == rows["toy_Differs"]["static"]
    assert "not followed" == rows["toy_Hidden"]["static"]
    assert NOT_FOLLOWED.endswith(str(rows["toy_Hidden"]["reason"]))


def test_classes_are_counted_by_kind(rows: dict[str, dict[str, object]]) -> None:
    """Every class is counted once, as a leaf or as one that calls others."""
    counts = [kind for kind in rows["summary"].values() if isinstance(kind, dict)]
    assert 3 == sum(kind["classes"] for kind in counts)
    assert 1 == sum(kind["agrees"] for kind in counts)
