"""A class name in; its entry out: from the database if nothing changed, else derived, proved and stored."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from pydantic import JsonValue, ValidationError

from forwardbook.analyzers.ops import RULES_VERSION
from forwardbook.errors import ForwardbookError
from forwardbook.pipeline.child import run_child
from forwardbook.pipeline.job import Limits
from forwardbook.pipeline.request import Derive, ProblemKind, Request, Response
from forwardbook.pipeline.store import check_writable, remove_diagnostics, store, write_diagnostics
from forwardbook.pipeline.subject import Subject, subject
from forwardbook.pipeline.versions import current_versions, differing
from forwardbook.schema import Entry, Given
from forwardbook.workspace import Database, DatabaseError, Workspace

if TYPE_CHECKING:
    from forwardbook.agents.choose import Chosen
    from forwardbook.agents.requests import Preview

Run = Callable[[Request, Limits], Response]
SEED: Final = 20240229  # any number: the same class gives the same proof on every machine


class AnalysisError(ForwardbookError):
    """A class could not be analysed: `kind` says what went wrong, `output` what its code printed last."""

    def __init__(self, message: str, kind: ProblemKind, output: tuple[str, ...] = ()) -> None:
        super().__init__("\n".join([message, *_quoted(output)]))
        self.kind, self.output = kind, output


@dataclass(frozen=True, slots=True)
class Options:
    """How to build and call the class, and how to derive its formulas."""

    config_file: Path | None = None
    init: dict[str, str] = field(default_factory=dict)
    inputs: dict[str, str] = field(default_factory=dict)
    derive: Derive = "both"
    points: int = 3
    seed: int = SEED
    explore: bool = True

    def given(self) -> Given | None:
        """What is kept of them in the entry, so that it can be proved again."""
        if not (self.config_file or self.init or self.inputs):
            return None
        return Given(config=_config(self.config_file), init=self.init, inputs=self.inputs)


@dataclass(frozen=True, slots=True)
class Analysis:
    """What came of it: the entry, its key, whether it was known before, how long it took."""

    key: str
    entry: Entry
    cached: bool
    seconds: float
    spent: tuple[str, ...] = ()
    """What asking a model cost, in lines."""


def analyze(
    typed: str,
    options: Options | None = None,
    *,
    workspace: Workspace | None = None,
    limits: Limits | None = None,
    force: bool = False,
    run: Run = run_child,
    started: Callable[[str], None] = lambda name: None,
    chosen: Chosen | None = None,
) -> Analysis:
    """The entry of a class, by name or `file.py:Class`; `started` is told when its code begins to run.

    `chosen` is whoever is asked about lines that no engine settles; by default nobody is.

    Raises:
        ForwardbookError: with a message for a person; the database is then as it was.
    """
    begin = time.monotonic()
    options = options or Options()
    _refuse_nesting()
    workspace = workspace or Workspace.find()
    database = workspace.load()
    wanted = subject(typed)
    given = options.given()
    key = None if force else _known(wanted, options.derive, given, database)
    if key is not None and not (chosen is not None and is_open(database[key])):
        return Analysis(key, database[key], True, time.monotonic() - begin)
    check_writable(workspace)
    started(wanted.full_class_name)
    limits = limits or Limits.given()
    entry, spent = _settled(wanted, options, workspace, database, limits, run, chosen)
    key, entry = store(dated(entry, wanted, given), workspace, RULES_VERSION, force=force)
    remove_diagnostics(key, workspace)
    return Analysis(key, entry, False, time.monotonic() - begin, spent)


def dated(entry: Entry, wanted: Subject, given: Given | None) -> Entry:
    """The entry with all that decides later whether it still says what an analysis would say."""
    return entry.model_copy(
        update={
            "versions": dict(entry.versions) | current_versions(entry.library),
            "source_hash": wanted.source_hash,
            "code_hash": wanted.code_hash(),
            "given": given,
        }
    )


def is_open(entry: Entry) -> bool:
    """Whether a model could add to what the engines found."""
    from forwardbook.pipeline.agent_module import open_points

    return bool(open_points(entry))


def previewed(
    typed: str, options: Options, chosen: Chosen, *, limits: Limits | None = None, run: Run = run_child
) -> Preview | None:
    """What an analyst would be sent about a class, and its worst cost; None if he would not be asked."""
    from forwardbook.pipeline import agent_module

    workspace = Workspace.find()
    wanted, limits = subject(typed), limits or Limits.given()
    entry, problem = _attempt(wanted, options, workspace, workspace.load(), limits, run)
    points = agent_module.open_points(entry, str(problem or ""), problem.kind if problem else "")
    if not points:
        if problem is not None:
            raise problem
        return None
    return agent_module.previewed(wanted, _request(wanted, options), points, entry, chosen, limits)


def _attempt(
    wanted: Subject, options: Options, workspace: Workspace, database: Database, limits: Limits, run: Run
) -> tuple[Entry | None, AnalysisError | None]:
    """What the engines say, or their problem."""
    try:
        return _derived(wanted, options, workspace, database, limits, run), None
    except AnalysisError as error:
        return None, error


def _settled(
    wanted: Subject,
    options: Options,
    workspace: Workspace,
    database: Database,
    limits: Limits,
    run: Run,
    chosen: Chosen | None,
) -> tuple[Entry, tuple[str, ...]]:
    """The engines' entry; where they leave something open, the one that whoever was chosen proposed."""
    entry, problem = _attempt(wanted, options, workspace, database, limits, run)
    if chosen is not None:
        from forwardbook.pipeline import agent_module

        if options.derive == "static":
            raise ForwardbookError(
                "asking an analyst with --derive static: what he proposes is measured, which runs the class; "
                "leave --derive static out"
            )
        points = agent_module.open_points(entry, str(problem or ""), problem.kind if problem else "")
        if points:
            request = _request(wanted, options)
            made = agent_module.propose(wanted, request, points, entry, chosen, limits)
            if made.entry is not None:
                return made.entry, made.spent
            key = database.key_for(wanted.library, wanted.full_class_name)
            path = write_diagnostics(key, made.diagnostics or {}, workspace)
            failure = made.failure
            assert failure is not None
            raise AnalysisError(
                f"asking {chosen.analyst.model} about {wanted.full_class_name}: unresolved ({failure.kind}): "
                f"{failure.detail}\n  nothing was stored; all that was said is in {_near(path)}"
                + "".join(f"\n  spent: {line}" for line in made.spent),
                "unsupported",
            )
    if problem is not None:
        raise problem
    assert entry is not None
    return entry, ()


def _known(wanted: Subject, derive: Derive, given: Given | None, database: Database) -> str | None:
    """The key of an entry that still says what an analysis would say now."""
    key = database.key_of(wanted.full_class_name)
    if key is None:
        return None
    try:
        entry = database[key]
    except DatabaseError:
        return None  # a damaged entry is replaced
    derived = set(entry.derived_by)
    enough = derived & {"symbolic", "agent"} if derive == "both" else derive in derived
    current = entry.source_hash == wanted.source_hash and entry.given == given
    fresh = current and not differing(entry.versions, database.rules_version)
    fresh = fresh and entry.code_hash == wanted.code_hash()
    return key if enough and fresh else None


def _derived(
    wanted: Subject, options: Options, workspace: Workspace, database: Database, limits: Limits, run: Run
) -> Entry:
    request = _request(wanted, options)
    response = run(request, limits)
    entry = read_entry(response, wanted.full_class_name)
    key = database.key_for(wanted.library, wanted.full_class_name)
    if response.problem_kind == "wrong" or (entry is not None and is_refuted(entry)):
        reason = response.problem or f"analysing {wanted.full_class_name}: measurement refuted the formula"
        content: dict[str, JsonValue] = {"problem": reason, "request": request.model_dump(mode="json")}
        content |= {"diagnostics": response.diagnostics, "entry": response.entry}
        path = write_diagnostics(key, content, workspace)
        message = f"{reason}\n  nothing was stored; sizes, lines, predicted and measured are in {_near(path)}"
        raise AnalysisError(message, "wrong")
    if response.problem is not None or entry is None:
        message = response.problem or f"analysing {wanted.full_class_name}: no entry came back; report this"
        raise AnalysisError(message, response.problem_kind or "internal", output_of(response))
    return entry


def _request(wanted: Subject, options: Options) -> Request:
    return Request(
        target=wanted.full_class_name,
        file=str(wanted.found.file),
        roots=wanted.roots,
        config_file=str(options.config_file.resolve()) if options.config_file else None,
        init=options.init,
        inputs=options.inputs,
        derive=options.derive,
        points=options.points,
        seed=options.seed,
        explore=options.explore,
    )


def is_refuted(entry: Entry) -> bool:
    """Whether a measurement differed from any formula of the entry."""
    verdicts = [regime.proof.verdict for regime in entry.regimes if regime.proof is not None]
    return "wrong" in (entry.validation.verdict, *verdicts)


def read_entry(response: Response, name: str) -> Entry | None:
    """The entry of a response, None where there is none."""
    if response.entry is None:
        return None
    try:
        return Entry.model_validate(response.entry)
    except ValidationError as error:
        raise ForwardbookError(
            f"analysing {name}: the entry that came back is not what the schema says; report this: {error}"
        ) from error


def output_of(response: Response) -> tuple[str, ...]:
    """The last lines that the analysed code printed."""
    lines = response.diagnostics.get("output")
    return tuple(str(line) for line in lines) if isinstance(lines, list) else ()


def _quoted(output: tuple[str, ...]) -> list[str]:
    if not output:
        return []
    return ["  the last that its code printed:", *(f"  | {line[:200]}" for line in output[-8:])]


def _config(path: Path | None) -> dict[str, JsonValue] | None:
    if path is None:
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ForwardbookError(
            f"reading --config {path}: {error.strerror or error}; give a JSON file of config fields"
        ) from error
    except ValueError as error:
        raise ForwardbookError(f"reading --config {path}: it is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise ForwardbookError(
            f"reading --config {path}: the whole is a {type(content).__name__}; an object of config fields "
            'was expected, such as {"hidden_size": 64}'
        )
    return cast("dict[str, JsonValue]", content)


def _near(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _refuse_nesting() -> None:
    if "FORWARDBOOK_CHILD" in os.environ:
        raise ForwardbookError(
            "analysing from within an analysis: importing the module of the class analyses again; "
            'put that call under if __name__ == "__main__":'
        )
