"""The steps of `analyze-model`: a request in; files written and the result printed, all or nothing of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import typer
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from forwardbook.book.model_pictures import SUFFIXES
from forwardbook.book.model_tables import analysis_csv, analysis_page
from forwardbook.cli.agent_options import show_preview, show_spent
from forwardbook.cli.exit_codes import REFUSED
from forwardbook.cli.output_files import unwritable
from forwardbook.cli.printing import put, say
from forwardbook.cli.terminal import console
from forwardbook.errors import ForwardbookError
from forwardbook.models.analysis import Analysis, report
from forwardbook.models.populated import Populated
from forwardbook.pipeline.child.job import Limits
from forwardbook.pipeline.model.analysis import Checked, Request, analyse, checked, config_file
from forwardbook.pipeline.model.ensure import Ensured, analysed, known
from forwardbook.pipeline.model.steps import Steps, agreement
from forwardbook.profiling.peaks import devices
from forwardbook.workspace import Workspace
from forwardbook.workspace.model_files import ModelFiles
from forwardbook.workspace.storage import write_atomically


@dataclass(frozen=True)
class Outputs:
    """Where the result goes beside the terminal."""

    as_json: bool
    csv: Path | None = None
    markdown: Path | None = None
    plot: Path | None = None
    out: Path | None = None

    def check(self) -> None:
        """That all of it can be written, before anything is computed.

        Raises:
            ForwardbookError: with everything that cannot.
        """
        problems: list[str] = []
        if self.plot is not None and self.plot.suffix not in SUFFIXES:
            problems.append(f"--plot {self.plot}: a picture ends in {', '.join(SUFFIXES)}")
        named = {"--csv": self.csv, "--markdown": self.markdown, "--plot": self.plot}
        problems += [found for option, path in named.items() if path and (found := unwritable(option, path))]
        if self.out is not None and self.out.exists() and not self.out.is_dir():
            problems.append(f"--out {self.out}: it is a file; name a folder")
        if problems:
            raise ForwardbookError("\n".join(problems))


def run_steps(
    request: Request,
    wanted: Mapping[str, bool],
    outputs: Outputs,
    *,
    file: Path | None = None,
    jobs: int = 0,
    timeout: float | None = None,
) -> None:
    """The steps asked for, or all of them; `jobs` below 0 lists missing classes without analysing them."""
    outputs.check()
    try:
        _run_steps(request, wanted, outputs, file, jobs, timeout)
    finally:
        show_spent(request.chosen)


def _run_steps(
    request: Request,
    wanted: Mapping[str, bool],
    outputs: Outputs,
    file: Path | None,
    jobs: int,
    timeout: float | None,
) -> None:
    every = not any(wanted.values())
    workspace = Workspace.find()
    kept = ModelFiles(workspace.root)
    with progress() as told:
        asked = checked(request, kept, told, need_sizes=wanted["analyze"] or every)
        steps = Steps(asked.model, kept, request.model, workspace)
        analysis = _analysed(asked, steps, every, file) if wanted["analyze"] or every else None
    content: dict[str, object] = {}
    if wanted["arch"]:
        content["architecture"] = _wrote(steps.write_architecture())
    ensured = _ensure(steps, jobs, timeout, workspace) if wanted["modules"] else None
    if ensured is not None:
        content["modules"] = [vars(one) for one in ensured]
    if wanted["populate"]:
        with progress() as told:
            told("reading parameters")
            content["populated"] = _wrote(steps.write_populated(_populated(steps, request)))
    if analysis is not None:
        _give(analysis, outputs, bool(request.devices), content)
    elif outputs.as_json:
        put(json.dumps(content, indent=1))
    elif ensured is not None:
        _show(ensured)
    if jobs >= 0 and ensured and any(one.state == "unresolved" for one in ensured):
        raise typer.Exit(REFUSED)


def _analysed(asked: Checked, steps: Steps, every: bool, file: Path | None) -> Analysis:
    """The analysis, beside what the module database says; what was found out for it is kept."""
    analysis = analyse(asked)
    found = steps.fresh(file)
    if every and (found is None or _is_open(found, asked.request)):
        found = _populated(steps, asked.request)
        steps.write_populated(found)
        if not steps.kept_architecture():
            steps.write_architecture()
    told = agreement(found, asked.request.phases)
    notes = list(analysis.notes)
    if missing := [one for one in known(asked.model.architecture, steps.database) if one.state == "missing"]:
        names = ", ".join(one.class_name.rpartition(".")[2] for one in missing)
        notes.append(f"not in the module database: {names}; --ensure-modules analyses them")
    return replace(analysis, agreement=told, notes=tuple(notes))


def _populated(steps: Steps, request: Request) -> Populated:
    """The parameters; those that nothing gives come from whoever was chosen, if the proof confirms them."""
    if request.chosen is None:
        return steps.populate()
    from forwardbook.pipeline.agent.parameters import filled

    for phase in steps.model.phases() if steps.model.costs is None else ():
        steps.model.derive(phase)  # what is proposed is held against the formulas of the model's own run
    found = steps.populate()
    made = filled(steps, found, request.chosen)
    for line in made.notes:
        say(line)
    return made.populated


def _is_open(found: Populated, request: Request) -> bool:
    """Whether somebody was chosen who could fill a parameter."""
    if request.chosen is None:
        return False
    from forwardbook.pipeline.agent.parameters import open_parameters

    return bool(open_parameters(found))


def show_prompt(request: Request) -> None:
    """What an analyst would be sent about a model, and its worst cost; nothing is sent or written."""
    from forwardbook.pipeline.agent.parameters import previewed as of_parameters
    from forwardbook.pipeline.agent.structure import previewed as of_structure
    from forwardbook.pipeline.model.source import ModelUnknown

    assert request.chosen is not None
    workspace = Workspace.find()
    kept = ModelFiles(workspace.root)
    try:
        with progress() as told:
            asked = checked(replace(request, chosen=None), kept, told, need_sizes=False)
            steps = Steps(asked.model, kept, request.model, workspace)
            seen = of_parameters(steps, steps.populate(), request.chosen)
    except ModelUnknown:
        file = config_file(request.model)
        if file is None:
            raise
        seen = of_structure(file, request.chosen)
    show_preview(seen)


def _ensure(steps: Steps, jobs: int, timeout: float | None, workspace: Workspace) -> list[Ensured]:
    """Every class of the model, those that were missing analysed."""
    found = known(steps.model.architecture, steps.database)
    missing = [one.class_name for one in found if one.state == "missing"]
    if jobs < 0 or not missing:
        return found
    done: dict[str, Ensured] = {}
    doing = TextColumn("{task.description}", markup=False)
    columns = (SpinnerColumn(), doing, BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console(stderr=True)) as shown:
        task = shown.add_task("analysing classes", total=len(missing))

        def started(name: str) -> None:
            shown.update(task, description=f"analysing {name.rpartition('.')[2]}")

        for one in analysed(missing, workspace.root, jobs, Limits.given(None, timeout), started):
            done[one.class_name] = one
            shown.advance(task)
    return [done.get(one.class_name, one) for one in found]


def _show(ensured: Sequence[Ensured]) -> None:
    from forwardbook.cli.model_view import classes_view
    console().print(classes_view(ensured))


def _give(analysis: Analysis, outputs: Outputs, chosen: bool, content: Mapping[str, object]) -> None:
    """Files first, then the result on standard output."""
    whole = analysis if chosen else replace(analysis, devices=tuple(devices()))
    files = _files(whole, outputs)
    for path, text in files.items():
        write(path, text)
    if outputs.as_json:
        put(json.dumps(report(whole) | dict(content), indent=1))
    else:
        from forwardbook.cli.model_view import analysis_view

        console().print(analysis_view(whole))
    for path in files:
        say(f"wrote {path}")


def _files(analysis: Analysis, outputs: Outputs) -> dict[Path, str | bytes]:
    """What to write, by path."""
    found: dict[Path, str | bytes] = {}
    if outputs.csv is not None:
        found[outputs.csv] = analysis_csv(analysis)
    if outputs.markdown is not None:
        found[outputs.markdown] = analysis_page(analysis)
    if outputs.out is not None:
        found[outputs.out / "analysis.json"] = json.dumps(report(analysis), indent=1) + "\n"
        found[outputs.out / "layers.csv"] = analysis_csv(analysis)
    pictures = _pictures(analysis, outputs)
    if outputs.out is not None:
        names = tuple(path.name for path in pictures if path.parent == outputs.out)
        found[outputs.out / "analysis.md"] = analysis_page(analysis, names)
    return found | pictures


def _pictures(analysis: Analysis, outputs: Outputs) -> dict[Path, str | bytes]:
    if outputs.plot is None and outputs.out is None:
        return {}
    from forwardbook.book.model_pictures import analysis_picture, cost_picture, roofline_picture

    found: dict[Path, str | bytes] = {}
    if outputs.plot is not None:
        found[outputs.plot] = analysis_picture(analysis, outputs.plot.suffix)
    if outputs.out is not None:
        found[outputs.out / "cost.svg"] = cost_picture(analysis, ".svg")
        found[outputs.out / "roofline.svg"] = roofline_picture(analysis, ".svg")
    return found


def write(path: Path, content: str | bytes) -> None:
    """A file, whole or not at all."""
    write_atomically(path, content)


def _wrote(path: Path) -> str:
    here = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    say(f"wrote {here}")
    return str(here)


class progress:  # noqa: N801 - used as a function
    """Takes what is going on and shows it with a spinner, on the terminal of standard error only."""

    def __init__(self) -> None:
        self._status = console(stderr=True).status("reading the model")

    def __enter__(self) -> Callable[[str], None]:
        from rich.text import Text

        self._status.__enter__()
        return lambda doing: self._status.update(Text(doing))

    def __exit__(self, *exc: object) -> None:
        self._status.stop()
