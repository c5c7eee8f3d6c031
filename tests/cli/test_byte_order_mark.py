"""Files as some editors write them, with a mark before the first letter: read as those without one."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from forwardbook.agents.settings import load_settings
from forwardbook.analyzers.instances.find import find_class
from forwardbook.analyzers.instances.pretrained.configs import read_config
from forwardbook.analyzers.reader import Sources, read_class
from forwardbook.book.repository.project import read_project
from forwardbook.configuration.search import read_config as read_group
from forwardbook.guard.settings import read_settings
from forwardbook.pipeline.analysis.given import Options
from forwardbook.pipeline.configured.bootstrap import read_list
from forwardbook.pipeline.model.source import from_folder
from forwardbook.workspace import Workspace

from .conftest import LAYERS, TINY

CONFIG = json.dumps(TINY)
FILES: dict[str, tuple[str, str, Callable[[Path], object]]] = {
    "a source": ("layers.py", LAYERS, lambda file: asdict(read_class("Gated", file, Sources([file.parent])))),
    "a first line": ("first.py", "class One: pass\n", lambda file: find_class(f"{file}:One").class_name),
    "--config": ("config.json", CONFIG, lambda file: Options(config_file=file).given()),
    "the config of a class": ("config.json", CONFIG, read_config),
    "the config of a model": ("config.json", CONFIG, lambda file: from_folder(file.parent).config.to_dict()),
    "the guard": (
        "pyproject.toml",
        "[tool.forwardbook]\ntolerance = '2%'\n",
        lambda file: read_settings(file.parent),
    ),
    "a project": (
        "pyproject.toml",
        "[project]\nname = 'shapes'\n",
        lambda file: read_project((), lambda name: (file.parent / name).read_bytes()),
    ),
    "the analysts": ("config.toml", "[agents]\nretries = 1\n", load_settings),
    "a group": ("group.yaml", "# @package _global_\nrun: {seed: 3}\n", read_group),
    "a database": (
        "module_db.json",
        '{"schema_version": 1, "entries": {}, "rules_version": "x"}',
        lambda file: Workspace(file.parent).load().rules_version,
    ),
    "a list of snapshots": ("bootstrap.yaml", "models: {}\n", read_list),
}


@pytest.mark.parametrize("kind", FILES)
def test_a_mark_before_the_first_letter_changes_nothing(kind: str, tmp_path: Path) -> None:
    """What is read of each kind of file is what is read of the same one without the mark."""
    name, text, read = FILES[kind]
    (tmp_path / name).write_text(text, encoding="utf-8")
    plain = read(tmp_path / name)
    (tmp_path / name).write_text(text, encoding="utf-8-sig")

    assert plain
    assert plain == read(tmp_path / name)
