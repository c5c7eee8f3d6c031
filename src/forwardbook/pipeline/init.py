"""A folder in; out a workspace: files that were missing written, those that are there left alone."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from textwrap import indent
from typing import Final, Literal

from forwardbook.analyzers.ops import RULES_VERSION
from forwardbook.errors import ForwardbookError
from forwardbook.guard.settings import read_settings
from forwardbook.workspace import WorkspaceError, write_atomically
from forwardbook.workspace.checkout import find_checkout
from forwardbook.workspace.database_file import load_entries, render

Outcome = Literal["written", "unchanged", "kept"]
TEMPLATES: Final = {
    ".github/workflows/forwardbook-check.yml": "check.yml.j2",
    ".github/workflows/forwardbook-regenerate.yml": "regenerate.yml.j2",
    ".pre-commit-config.yaml": "pre_commit.yaml.j2",
    "docs/index.md": "index.md.j2",
    "mkdocs.yml": "mkdocs.yml.j2",
}
INSTALL: Final = "python -m pip install forwardbook"
INSTALL_PROJECT: Final = "python -m pip install --editable . forwardbook"
IGNORED: Final = (
    "/site/",
    "/docs/book/",
    "/.forwardbook/",
    "/forwardbook.md",
    "/forwardbook.sarif",
    ".*.lock",
)
ADVICE: Final = {
    "mkdocs.yml": "for these pages in your own site, take over plugins, markdown_extensions and nav from: "
    "forwardbook init --print mkdocs.yml",
    ".pre-commit-config.yaml": "add the hook that `forwardbook init --print .pre-commit-config.yaml` shows",
    "docs/index.md": "link book/catalogue.md from it",
}
"""What a person can do where a file was there already."""


@dataclass(frozen=True, slots=True)
class Placed:
    """One file: whether it was written, was there with the very text, or with another one and was kept."""

    name: str
    outcome: Outcome
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Choices:
    """What the files say of the project."""

    name: str = ""
    branch: str = "main"
    site_url: str = ""
    with_ci: bool = True


def initialise(folder: Path, choices: Choices) -> list[Placed]:
    """Make a folder a workspace; no file that is there is changed, and running it again changes nothing.

    Raises:
        ForwardbookError: where the folder cannot be written, or a database in it cannot be read.
    """
    if not folder.is_dir():
        raise ForwardbookError(f"making a workspace of {folder}: there is no such folder; make it first")
    read_settings(folder)  # what is wrong there is better said now
    database = folder / "module_db.json"
    placed: list[Placed] = []
    if database.exists():
        load_entries(database)
        placed.append(Placed("module_db.json", "unchanged"))
    else:
        write_atomically(database, render({}, RULES_VERSION))
        placed.append(Placed("module_db.json", "written"))
    placed += [_place(folder, name, text) for name, text in texts(folder, choices).items()]
    return [*placed, *_ignored(folder)]


def texts(folder: Path, choices: Choices) -> dict[str, str]:
    """The text of every file but the database, by its path from the folder."""
    found = find_checkout(folder.resolve())
    below = found is not None and bool(found.prefix)
    wanted = {
        name: template
        for name, template in TEMPLATES.items()
        if choices.with_ci or not name.startswith((".github", ".pre-commit"))
    }
    if below:  # workflows and hooks belong to the top of a checkout
        wanted = {
            name: one for name, one in wanted.items() if not name.startswith((".github", ".pre-commit"))
        }
    project = (folder / "pyproject.toml").is_file() or (folder / "setup.py").is_file()
    return {
        name: rendered(template, choices, folder.resolve().name, INSTALL_PROJECT if project else INSTALL)
        for name, template in wanted.items()
    }


def rendered(template: str, choices: Choices, folder: str, install: str) -> str:
    """One file of a workspace; what a project is called is quoted where it stands in YAML."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        variable_start_string="[[",
        variable_end_string="]]",
        block_start_string="[%",
        block_end_string="%]",
        comment_start_string="[#",
        comment_end_string="#]",
        undefined=StrictUndefined,
        autoescape=False,
        keep_trailing_newline=True,
    )
    source = (files("forwardbook.workspace") / "starting" / template).read_text(encoding="utf-8")
    name = " ".join((choices.name or folder or "project").split())
    return environment.from_string(source).render(
        name=_in_text(name),
        quoted_name=_in_yaml(name),
        site_url=_in_yaml(choices.site_url or "http://127.0.0.1:8000/"),
        branch=choices.branch,
        python=f"{sys.version_info.major}.{sys.version_info.minor}",
        install=indent(install, " " * 10),
        minute=17 + sum(name.encode()) % 40,  # not all at the full hour
    )


def _place(folder: Path, name: str, text: str) -> Placed:
    path = folder / name
    if path.is_symlink() or path.exists():
        try:
            same = path.is_file() and path.read_text(encoding="utf-8") == text
        except (OSError, UnicodeDecodeError):
            same = False
        return Placed(name, "unchanged") if same else Placed(name, "kept", ADVICE.get(name, ""))
    for parent in path.relative_to(folder).parents:
        place = folder / parent
        if str(parent) != "." and (place.is_symlink() or (place.exists() and not place.is_dir())):
            return Placed(name, "kept", f"{parent} is no folder of this workspace")
    try:
        write_atomically(path, text)
    except WorkspaceError as error:
        return Placed(name, "kept", str(error))
    return Placed(name, "written")


def _ignored(folder: Path) -> Iterator[Placed]:
    """What git should not take up: said, or written where there is no list yet."""
    path = folder / ".gitignore"
    if not path.exists() and not path.is_symlink():
        yield _place(folder, ".gitignore", "".join(f"{line}\n" for line in IGNORED))
        return
    try:
        present = set(path.read_text(encoding="utf-8").split())
    except (OSError, UnicodeDecodeError):
        present = set()
    bare = {line.strip("/") for line in present}
    missing = [line for line in IGNORED if line.strip("/") not in bare]
    advice = f"add these lines to it: {' '.join(missing)}"
    yield Placed(".gitignore", "kept", advice) if missing else Placed(".gitignore", "unchanged")


def _in_yaml(text: str) -> str:
    import json

    return json.dumps(text, ensure_ascii=False)


def _in_text(text: str) -> str:
    from forwardbook.guard.as_markdown import escaped

    return escaped(text)
