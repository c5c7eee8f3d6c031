"""Names of classes in; out each with the response of its child process, run among many or on a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forwardbook.errors import ForwardbookError
from forwardbook.pipeline.analysis.one import Options, Run, known_key, request_for
from forwardbook.pipeline.analysis.subject import subject
from forwardbook.pipeline.child.job import Limits
from forwardbook.pipeline.child.process import run_child
from forwardbook.pipeline.child.request import Request, Response
from forwardbook.pipeline.spread import HERE, Spread
from forwardbook.profiling.raised import first_line_kept
from forwardbook.workspace import Workspace

Question = tuple[str, Request, Limits]


def answer(question: Question) -> tuple[str, Response]:
    """The response of a child process; what keeps it from running is a problem in it."""
    name, request, limits = question
    try:
        return name, run_child(request, limits)
    except Exception as error:  # noqa: BLE001 - on a cluster whoever waits would wait for ever
        problem = f"analysing {request.target}: {first_line_kept(error)}"
        return name, Response(problem=problem, problem_kind="internal")


def answered(
    names: Sequence[str], options: Options, workspace: Workspace, limits: Limits, spread: Spread, force: bool
) -> Iterator[tuple[str, Run]]:
    """Each name, as soon as it is, with what gives the response that came; known ones and bad ones first."""
    if spread == HERE:
        yield from ((name, run_child) for name in names)
        return
    questions: list[Question] = []
    database = workspace.load()
    given = options.given()
    for name in names:
        try:
            wanted = subject(name)
            known = None if force else known_key(wanted, options.derive, given, database)
        except ForwardbookError:  # it is told by whoever asks again
            known = name
        if known is None:
            questions.append((name, request_for(wanted, options), limits))
        else:
            yield name, run_child
    for name, response in spread(answer, questions):
        yield name, _given(response)


def run_on(spread: Spread) -> Run:
    """Runs a request where the work is spread to: here, or on a cluster."""
    if not spread.cluster:
        return run_child

    def run(request: Request, limits: Limits) -> Response:
        [(_, response)] = spread(answer, [("", request, limits)])
        return response

    return run


def _given(response: Response) -> Run:
    return lambda request, limits: response
