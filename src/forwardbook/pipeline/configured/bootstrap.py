"""A YAML file of models and datasets in; links to local snapshots of them, and every problem, out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from forwardbook.errors import ForwardbookError
from forwardbook.workspace.links import Link

ROOTS: Final[Mapping[str, str]] = {"models": "HF_SNAPSHOTS_ROOT", "datasets": "DATASETS_ROOT"}
FILES: Final = ("bootstrap.yaml", "conf/bootstrap.yaml")
EXAMPLE: Final = "models: {models/qwen2_5_7b: Qwen/Qwen2.5-7B}"
Kind = Literal["models", "datasets"]


class BootstrapError(ForwardbookError):
    """A list of links that cannot be read, or links that could not be made; the message lists them all."""


class Source(BaseModel):
    """Where a snapshot is, which revision of it, and the files that it must hold."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: str
    revision: str = "main"
    requires: tuple[str, ...] = ()


class Listed(BaseModel):
    """The file: links by name, each with its source."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    models: dict[str, Source | str] = Field(default_factory=dict)
    datasets: dict[str, Source | str] = Field(default_factory=dict)


@dataclass
class Plan:
    """What is to be linked, what is linked already, and what cannot be."""

    file: Path
    new: list[Link] = field(default_factory=list)
    there: list[Link] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def list_file(name: Path | None, here: Path) -> Path:
    """The file of the list: as named, or one of the usual ones.

    Raises:
        BootstrapError: where there is none.
    """
    found = [here / name] if name is not None else [here / one for one in FILES]
    for path in found:
        if path.is_file():
            return path
    told = str(name) if name is not None else " or ".join(FILES)
    raise BootstrapError(f"linking snapshots: there is no {told}; write one, such as `{EXAMPLE}`")


def planned(file: Path, here: Path, environment: Mapping[str, str], only: Kind | None = None) -> Plan:
    """Every link of the list, looked at; nothing is changed.

    Raises:
        BootstrapError: for a file that is no such list.
    """
    listed = read_list(file)
    plan = Plan(file)
    taken: dict[PurePosixPath, str] = {}
    for kind in ROOTS:
        if only not in (None, kind):
            continue
        for name, source in getattr(listed, kind).items():
            try:
                _refuse_within(name, taken)
                wanted = Source(source=source) if isinstance(source, str) else source
                link = Link(here, name, snapshot(wanted, kind, environment, name))
                (plan.there if link.state() == "there" else plan.new).append(link)
            except ForwardbookError as error:
                plan.problems.append(str(error))
    return plan


def read_list(file: Path) -> Listed:
    """The list.

    Raises:
        BootstrapError: with everything that is wrong with it.
    """
    import yaml  # type: ignore[import-untyped]

    from forwardbook.configuration.nearest import meant
    from forwardbook.configuration.yaml_text import read_yaml

    try:
        values = read_yaml(file.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BootstrapError(f"reading {file}: {' '.join(str(error).split())}") from None
    try:
        return Listed.model_validate({} if values is None else values)
    except ValidationError as error:
        problems = []
        for one in error.errors():
            key = ".".join(str(part) for part in one["loc"] if part not in ("Source", "str"))
            near = meant(key, ROOTS) if one["type"] == "extra_forbidden" else ""
            problems.append(f"{key or 'the file'}: {one['msg']}{near}")
        told = "\n  ".join(dict.fromkeys(problems))
        raise BootstrapError(f"reading {file} (expected {EXAMPLE}):\n  {told}") from None


def made(plan: Plan) -> Iterator[Link]:
    """Makes each link that is new; what came in between is one more problem of the plan."""
    for link in plan.new:
        try:
            link.make()
        except ForwardbookError as error:
            plan.problems.append(str(error))
        else:
            yield link


def snapshot(wanted: Source, kind: str, environment: Mapping[str, str], name: str) -> Path:
    """The folder of a snapshot: as it is below the root, or as the cache of the Hugging Face hub keeps it.

    Raises:
        BootstrapError: where it is not there, or lacks files that it must hold.
    """
    variable, doing = ROOTS[kind], f"{name} -> {wanted.source}"
    named = Path(wanted.source).expanduser()
    root = environment.get(variable, "")
    if not named.is_absolute() and not root:
        raise BootstrapError(f"{doing}: ${variable} is not set; it names the folder of all {kind}")
    base = Path(os.path.abspath(Path(root).expanduser()))
    found = named if named.is_absolute() else base / named
    if not found.is_dir():
        found = _cached(base, wanted, kind, doing) or found
    if not found.is_dir():
        where = "" if named.is_absolute() else f" in {base} (${variable})"
        raise BootstrapError(f"{doing}: there is no such folder{where}")
    missing = [name for name in wanted.requires if not (found / name).exists()]
    if missing:
        raise BootstrapError(f"{doing}: {found} lacks {', '.join(missing)}")
    return found


def _cached(base: Path, wanted: Source, kind: str, doing: str) -> Path | None:
    """`models--org--name/snapshots/<commit>`, of the revision, or the only one."""
    folder = base / f"{kind}--{wanted.source.replace('/', '--')}"
    snapshots = folder / "snapshots"
    if not snapshots.is_dir():
        return None
    named = folder / "refs" / wanted.revision
    commit = named.read_text(encoding="utf-8").strip() if named.is_file() else wanted.revision
    if (snapshots / commit).is_dir():
        return snapshots / commit
    commits = sorted(path.name for path in snapshots.iterdir() if path.is_dir())
    if len(commits) == 1 and wanted.revision == "main":
        return snapshots / commits[0]
    told = ", ".join(commits) or "none"
    raise BootstrapError(f"{doing}: no snapshot of {wanted.revision} in {snapshots}; there are {told}")


def _refuse_within(name: str, taken: dict[PurePosixPath, str]) -> None:
    """A link below another link would be made in the snapshot itself."""
    path = PurePosixPath(os.path.normpath(name))
    for other, told in taken.items():
        if path == other or path.is_relative_to(other) or other.is_relative_to(path):
            raise BootstrapError(
                f"{name}: it is {'the same as' if path == other else 'below or above'} {told}"
            )
    taken[path] = name
