"""Tiny checkpoints, made once."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


def _tiny() -> ModuleType:
    place = Path(__file__).with_name("checkpoints.py")
    spec = importlib.util.spec_from_file_location("tiny_checkpoints", place)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def tiny() -> ModuleType:
    """What makes checkpoints, pictures and stories."""
    return _tiny()


@pytest.fixture(scope="session")
def checkpoints(tmp_path_factory: pytest.TempPathFactory, tiny: ModuleType) -> Path:
    """A folder with a checkpoint of each kind, three pictures and three stories."""
    root = tmp_path_factory.mktemp("tiny")
    for name in ("llama", "t5", "vit", "yolos", "writer", "bert"):
        getattr(tiny, name)(root / name)
    tiny.bert(root / "encoder", "BertModel")
    tiny.pictures(root / "pictures")
    tiny.stories(root / "stories")
    return root
