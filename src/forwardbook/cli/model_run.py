"""The steps of `analyze-model`: a request in; files written and the result printed, all or nothing of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from forwardbook.book.model_tables import analysis_csv, analysis_page
from forwardbook.errors import ForwardbookError
from forwardbook.models.analysis import Analysis, report
from forwardbook.pipeline.model_analysis import Request, analyse, checked
from forwardbook.profiling.peaks import devices
from forwardbook.workspace import Workspace
from forwardbook.workspace.model_files import ModelFiles
from forwardbook.workspace.storage import write_atomically


def run_steps(
    request: Request,
    steps: Mapping[str, bool],
    *,
    as_json: bool,
    csv: Path | None,
    markdown: Path | None,
    plot: Path | None,
    out: Path | None,
) -> None:
    """The steps asked for, or all of them; files are written when everything has been computed."""
    every = not any(steps.values())
    kept = ModelFiles(Workspace.find().root)
    computes = steps["analyze"] or every
    with progress() as told:
        asked = checked(request, kept, told, need_sizes=computes)
        analysis = analyse(asked) if computes else None
    if analysis is not None:
        files = _files(analysis, csv, markdown, plot, out)
        for path, text in files.items():
            write(path, text)
        _print(analysis, as_json, bool(request.devices))
        for path in files:
            _say(f"wrote {path}")


def _files(
    analysis: Analysis, csv: Path | None, markdown: Path | None, plot: Path | None, out: Path | None
) -> dict[Path, str | bytes]:
    """What to write, by path."""
    found: dict[Path, str | bytes] = {}
    whole = analysis if analysis.devices else replace(analysis, devices=tuple(devices()))
    if csv is not None:
        found[csv] = analysis_csv(whole)
    if markdown is not None:
        found[markdown] = analysis_page(whole)
    if out is not None:
        found[out / "analysis.json"] = json.dumps(report(whole), indent=1) + "\n"
        found[out / "layers.csv"] = analysis_csv(whole)
        found[out / "analysis.md"] = analysis_page(whole)
    return found


def write(path: Path, content: str | bytes) -> None:
    """A file, whole or not at all."""
    if path.is_dir():
        raise ForwardbookError(f"writing {path}: it is a folder; name a file")
    write_atomically(path, content)


def _print(analysis: Analysis, as_json: bool, chosen: bool) -> None:
    from forwardbook.cli.model_view import analysis_view
    from forwardbook.cli.terminal import console

    whole = analysis if chosen else replace(analysis, devices=tuple(devices()))
    if as_json:
        print(json.dumps(report(whole), indent=1))
        return
    console().print(analysis_view(whole))


class progress:  # noqa: N801 - used as a function
    """Takes what is going on and shows it with a spinner, on the terminal of standard error only."""

    def __init__(self) -> None:
        from rich.console import Console

        self._status = Console(stderr=True).status("reading the model")

    def __enter__(self) -> Callable[[str], None]:
        self._status.__enter__()
        return self._status.update

    def __exit__(self, *exc: object) -> None:
        self._status.stop()


def _say(text: str) -> None:
    print(text, file=sys.stderr)
