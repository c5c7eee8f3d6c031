"""`forwardbook check` and `diff`: states of code or databases in; what changed in cost out."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from forwardbook.cli.analyze import interruptible
from forwardbook.cli.exit_codes import REFUSED
from forwardbook.cli.output_files import check_files
from forwardbook.cli.printing import put, say
from forwardbook.cli.spread_options import Cluster, Jobs, spread_of

if TYPE_CHECKING:
    from forwardbook.guard.findings import Findings

Format = Literal["text", "json", "markdown", "sarif"]
Form = Annotated[Format, typer.Option("--format", help="What is printed.")]
Report = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE", help="Also write a report: .json, .md or .sarif; repeatable."),
]
Tolerance = Annotated[
    str | None,
    typer.Option(metavar="SHARE", help="A change up to this share is none, such as 2%; by default 0."),
]
Timeout = Annotated[float | None, typer.Option(help="Seconds for the code of each class; by default 600.")]
Memory = Annotated[
    float | None, typer.Option(help="GB for the code of each class, beyond torch itself; by default 12.")
]
KINDS: Final[Mapping[str, Format]] = {".json": "json", ".md": "markdown", ".sarif": "sarif", ".txt": "text"}
"""What a report is, by the ending of its file."""


def check(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="CLASS...", help="By default all of this workspace.")
    ] = None,
    against: Annotated[
        str,
        typer.Option(
            metavar="REV|FILE",
            help="The database of a git revision, or another file; by default "
            "module_db.json as it is on disk.",
        ),
    ] = "",
    tolerance: Tolerance = None,
    form: Form = "text",
    report: Report = None,
    jobs: Jobs = 1,
    cluster: Cluster = "",
    timeout: Timeout = None,
    memory: Memory = None,
) -> None:
    """Exit 1 if a call of any module costs more than the database says, or breaks its budget."""
    from forwardbook.cli.regenerate import class_progress
    from forwardbook.guard.findings import summary
    from forwardbook.pipeline.check import Asked, check
    from forwardbook.pipeline.child.job import Limits
    from forwardbook.workspace import Workspace

    asked = Asked(
        tuple(names or ()),
        against,
        _share(tolerance),
        spread_of(jobs, cluster),
        Limits.given(memory, timeout),
    )
    workspace, reports = Workspace.find(), _writable(report or [])
    with class_progress() as told, interruptible("nothing was changed"):
        found = check(workspace, asked, told)
    _tell(found, form, reports, workspace.root)
    say(summary(found))
    if found.beyond:
        say("if that is meant: forwardbook regenerate, and commit module_db.json")
    elif found.improved:
        say("so that what improved is guarded, too: forwardbook regenerate, and commit module_db.json")
    if found.has_failed:
        raise typer.Exit(REFUSED)


def diff(
    first: Annotated[
        str, typer.Argument(metavar="A", help="A database, a git revision, an environment, or `now`.")
    ],
    second: Annotated[str, typer.Argument(metavar="B", help="The other.")] = "now",
    names: Annotated[
        list[str] | None, typer.Option("--class", metavar="CLASS", help="Only this class; repeatable.")
    ] = None,
    library: Annotated[str, typer.Option(help="Only classes of this library, shipped ones too.")] = "",
    stored: Annotated[
        bool, typer.Option("--stored", help="Of revisions, compare the databases; derive nothing.")
    ] = False,
    tolerance: Tolerance = None,
    form: Form = "text",
    report: Report = None,
    jobs: Jobs = 1,
    cluster: Cluster = "",
    timeout: Timeout = None,
    memory: Memory = None,
) -> None:
    """Show what changed in cost between two databases, git revisions or installations."""
    from forwardbook.cli.regenerate import class_progress
    from forwardbook.guard.findings import summary
    from forwardbook.pipeline.child.job import Limits
    from forwardbook.pipeline.diff import Asked, diff
    from forwardbook.workspace import Workspace

    asked = Asked(
        tuple(names or ()),
        library,
        stored,
        _share(tolerance),
        spread_of(jobs, cluster),
        Limits.given(memory, timeout),
    )
    workspace, reports = Workspace.find(), _writable(report or [])
    with class_progress() as told, interruptible("nothing was changed"):
        found = diff(workspace, first, second, asked, told)
    _tell(found, form, reports, workspace.root)
    say(summary(found))


def _share(text: str | None) -> Fraction | None:
    from forwardbook.guard.settings import SettingsError, parse_tolerance

    try:
        return None if text is None else parse_tolerance(text)
    except SettingsError as error:
        raise typer.BadParameter(str(error), param_hint="'--tolerance'") from None


def _writable(reports: list[Path]) -> list[Path]:
    """The reports, if all can be written; asked before anything is derived."""
    wrong = [str(path) for path in reports if path.suffix not in KINDS]
    if wrong:
        raise typer.BadParameter(
            f"{', '.join(wrong)}: the ending says what is written; known are {', '.join(KINDS)}",
            param_hint="'--report'",
        )
    check_files("--report", reports)
    return reports


def _tell(found: Findings, form: Format, reports: list[Path], root: Path) -> None:
    """Print the findings in the form that was asked for, and write the reports."""
    from forwardbook.workspace import write_atomically

    if form == "text":
        from forwardbook.cli.check_view import findings_view
        from forwardbook.cli.terminal import console

        if found.changed or found.unchanged or found.budgets or found.troubles or any(found.only):
            console().print(findings_view(found))
    else:
        put(_text(found, form, root), end="")
    for path in reports:
        write_atomically(path, _text(found, KINDS[path.suffix], root))


def _text(found: Findings, form: Format, root: Path) -> str:
    """The findings as the text of a file."""
    import json

    if form == "markdown":
        from forwardbook.guard.as_markdown import findings_markdown

        return findings_markdown(found)
    if form == "text":

        from forwardbook.cli.check_view import findings_view
        from forwardbook.cli.console import EscapingConsole
        from forwardbook.cli.terminal import PIPE_WIDTH

        page = EscapingConsole(width=PIPE_WIDTH, no_color=True, highlight=False, markup=False, emoji=False)
        with page.capture() as captured:
            page.print(findings_view(found))
        return captured.get()
    if form == "json":
        from forwardbook.guard.as_json import findings_json

        return json.dumps(findings_json(found), indent=1, ensure_ascii=False) + "\n"
    import forwardbook
    from forwardbook.guard.as_sarif import findings_sarif
    from forwardbook.workspace.checkout import find_checkout

    checkout = find_checkout(root.resolve())
    prefix = f"{checkout.prefix}/" if checkout is not None and checkout.prefix else ""
    log = findings_sarif(found, forwardbook.__version__, prefix)
    return json.dumps(log, indent=1, ensure_ascii=False) + "\n"
