"""Classes of a model in the module database: known, analysed, unresolved with the reason."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from forwardbook.errors import ForwardbookError
from forwardbook.models.architecture import Architecture
from forwardbook.pipeline.analysis.one import Analysis
from forwardbook.pipeline.model.ensure import analysed, known
from forwardbook.schema import Entry, Validation
from forwardbook.workspace import Workspace


def architecture(*classes: str) -> Architecture:
    layers = [
        {"name": name, "class": name, "repeat": 1, "kind": "basic", "parameter_count": 0}
        for name in classes[1:]
    ]
    return Architecture.model_validate(
        {"model_id": "toy", "model_class": classes[0], "config_class": "", "config": {}, "layers": layers}
    )


def test_known_and_missing(tmp_path: Path, entry: Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry counts where it is proved."""
    monkeypatch.setattr("forwardbook.workspace.folder.shipped_path", lambda: None)
    unproved = entry.model_copy(update={"full_class_name": "toy.Odd", "validation": Validation()})
    Workspace(tmp_path).save({"toy_ToyAttention": entry, "toy_Odd": unproved})
    found = known(architecture("toy.Model", "toy.layers.ToyAttention", "toy.Odd"), Workspace(tmp_path).load())

    assert [("toy.Model", "missing"), ("toy.layers.ToyAttention", "known"), ("toy.Odd", "missing")] == [
        (one.class_name, one.state) for one in found
    ]
    assert "its entry is not proved" == found[2].reason


def test_missing_classes_are_analysed_several_at_once(tmp_path: Path, entry: Entry) -> None:
    """Two at a time; one that cannot be analysed does not keep the others from it."""
    both = threading.Barrier(2, timeout=20)

    def run(name: str, **options: object) -> Analysis:
        both.wait()
        if name == "toy.Bad":
            raise ForwardbookError("its forward() raised\n  at line 7")
        return Analysis(name, entry, False, 1.0)

    found = {one.class_name: one for one in analysed(["toy.Good", "toy.Bad"], tmp_path, 2, run=run)}

    assert ("analysed", "exact") == (found["toy.Good"].state, found["toy.Good"].verdict)
    assert ("unresolved", "its forward() raised") == (found["toy.Bad"].state, found["toy.Bad"].reason)
