"""An exception of the analysed code in, the problem out as a person reads it: what, where, what to do."""

from __future__ import annotations

import linecache
import sys
import sysconfig
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Final

from pydantic import JsonValue

from forwardbook.analyzers.instances.recipe import NoRecipe
from forwardbook.errors import ForwardbookError, in_full, message_of
from forwardbook.pipeline.child.request import ProblemKind, Request, Response
from forwardbook.printable import printable
from forwardbook.profiling.raised import OURS, is_of_engines, raised

if TYPE_CHECKING:
    from forwardbook.pipeline.child.torch_parts import TorchParts
    from forwardbook.pipeline.derivation.derived import Derived
    from forwardbook.pipeline.derivation.found import Found

_PYTHON: Final = sysconfig.get_path("stdlib")
_LINES: Final = 12  # of a message; some libraries raise with pages of text
_LONGEST: Final = 20_000  # characters of a message that are looked at
_NOTE: Final = 500  # of a remark beside it
_FRAMES: Final = ("\nException raised from ", "\nTraceback of TorchScript")
_OUT_OF_MEMORY: Final = (
    "can't allocate memory",
    "Cannot allocate memory",
    "not enough memory",
    "bad_alloc",
    "failed to map",
)
_shown_from: Path | None = None


@dataclass(frozen=True, slots=True)
class Spot:
    """A line of code that was running."""

    file: str
    line: int
    function: str

    @property
    def text(self) -> str:
        """`file:line in function: code`."""
        code = linecache.getline(self.file, self.line).strip()
        return f"{_short(self.file)}:{self.line} in {self.function}" + (f": {code}" if code else "")


def described(request: Request, error: BaseException, parts: TorchParts | None = None) -> Response:
    """The response that says what the code of a class raised, and where; all of it can be printed.

    `parts` are those of torch from before it ran.
    """
    found = _described(request, error, parts.replaced() if parts else [])
    said = {name: printable(getattr(found, name) or "") for name in ("problem", "told")}
    return found.model_copy(update=said)


def _described(request: Request, error: BaseException, replaced: Sequence[str]) -> Response:
    if isinstance(error, NoRecipe):
        return _no_recipe(request, error)
    if isinstance(error, ForwardbookError):
        said = in_full(error, _LONGEST)
        told = message_of(error, _LONGEST) if is_of_engines(error) else ""
        return Response(problem=said, told=told, problem_kind="unsupported")
    if is_memory(error):
        place = spot(request, error)
        return out_of_memory(request, f"at {place.text}" if place else "")
    kind = _stage(error)
    place = spot(request, error)
    if place is None:
        return _own_fault(request, error, replaced)
    doing, advice = _STAGES[kind]
    raised = f"{type(error).__name__}: {_message(error)}".rstrip(": ")
    if isinstance(error, SystemExit):
        raised = f"it ended the process with sys.exit({_shown(error.code)})"
    if kind == "forward" and request.inputs:
        advice = _OF_INPUTS
    advice = next((told for text, told in _OF_NUMBERS.items() if text in message_of(error, _LONGEST)), advice)
    notes = "".join(f"\n  {note[:_NOTE]}" for note in _notes(error))
    return Response(
        problem=f"{doing} {request.target}: {raised}\n  raised at {place.text}{notes}\n  {advice}",
        told=_plainly(request, f"{doing} {request.target}", error),
        problem_kind=kind,
    )


_STAGES: Final[dict[ProblemKind, tuple[str, str]]] = {
    "import": ("importing the module of", "install what is missing, or correct the file"),
    "constructor": (
        "building",
        "give other constructor arguments: --init name=value, or --config file.json",
    ),
    "forward": ("running forward() of", "give other inputs: --input name=batch_size,seq_len,hidden_size"),
}


_OF_NUMBERS: Final = {  # by what torch says where its code takes no symbolic sizes, whichever they are
    "TorchScript": (
        "code compiled by torch.jit.script takes no symbolic sizes: analyse it uncompiled, "
        "or count one call with forwardbook.cost(module, *inputs)"
    ),
    "is not a valid constant": (
        "torch.jit.script takes no module whose sizes stay free: analyse it uncompiled, "
        "or count one call with forwardbook.cost(module, *inputs)"
    ),
    "symbolic sizes/strides": (
        "torch runs this line with numbers alone, not with sizes that stay free: analyse a class without it, "
        "or count one call with forwardbook.cost(module, *inputs)"
    ),
}
_OF_INPUTS: Final = (
    "give other inputs: a dimension that is a size of the constructor bears its name (x=batch_size,dim),\n"
    "  one that must be divisible is a product (4*height); without a comma a value is a number (start=4),\n"
    "  a tensor of whole numbers bears its type (ids=batch_size,seq_len:int64),\n"
    "  and a list is written in brackets: --input 'maps=[batch_size,16,height,width; batch_size,32,h2,w2]'"
)


def refutation(request: Request, refuted: Sequence[Found]) -> Response:
    """The response for formulas that measurement refuted: the first number that differs, and all of them."""
    differences = [d for one in refuted for run in (*one.also, one.derived) for d in run.proof.differences]
    first = differences[0]
    problem = (
        f"proving {request.target}: measurement refuted the formula: {first.quantity} of {first.where}: "
        f"predicted {first.predicted}, measured {first.measured} ({len(differences)} numbers differ)"
    )
    regimes: list[JsonValue] = [
        {"regime": one.label, "conditions": [c.text() for c in one.conditions], "points": _points(run)}
        for one in refuted
        for run in (*one.also, one.derived)
    ]
    return Response(problem=problem, told=problem, problem_kind="wrong", diagnostics={"regimes": regimes})


def _points(run: Derived) -> list[JsonValue]:
    """Every point of a proof with its sizes, totals, and the numbers that differ."""
    return [
        {
            "dtype": str(run.dtype),
            "sizes": dict(point.sizes),
            "predicted": dict(point.predicted),
            "measured": dict(point.measured),
            "differences": [
                {"quantity": d.quantity, "where": d.where, "predicted": d.predicted, "measured": d.measured}
                for d in point.differences
            ],
        }
        for point in run.proof.points
    ]


def is_memory(error: BaseException) -> bool:
    """Whether an exception says that memory ran out."""
    said = message_of(error, _LONGEST)
    return isinstance(error, MemoryError) or any(text in said for text in _OUT_OF_MEMORY)


def out_of_memory(request: Request, place: str, limit: str = "the limit") -> Response:
    """The response for code that asked for more memory than it was allowed."""
    problem = (
        f"running {request.target}: it needs more memory than {limit} allows{place and f', {place}'}; "
        "nothing was stored\n  allow more: --memory GB, or give smaller sizes: --init name=value"
    )
    return Response(problem=problem, told=problem.partition("\n")[0], problem_kind="memory")


def _no_recipe(request: Request, error: NoRecipe) -> Response:
    cause = error.__cause__
    if cause is None:
        return Response(problem=message_of(error, _LONGEST), problem_kind="needs")
    place = spot(request, cause)
    where = f"\n  raised at {place.text}" if place else ""
    doing = f"importing the module of {request.target}"
    problem = f"{doing}: {type(cause).__name__}: {_message(cause)}{where}\n  {_STAGES['import'][1]}"
    return Response(problem=problem, told=_plainly(request, doing, cause), problem_kind="import")


def _plainly(request: Request, doing: str, error: BaseException) -> str:
    """What was going on, and type and line of an error; no word of the error itself."""
    files = {s.file for s in _spots(error) if _is_of(request, s.file)}
    return f"{doing}: {raised(error, files | ({request.file} if request.file else set()))}"


def spot(request: Request, error: BaseException) -> Spot | None:
    """The innermost line of the analysed code, else of any code but ours; None where all was ours."""
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return Spot(error.filename, error.lineno, "the module")
    return chosen(request, _spots(error))


def kept_place(request: Request, error: BaseException) -> str:
    """The text of that line, where it is one of a source file; code can give itself any name of a file."""
    place = spot(request, error)
    if place is None or not place.file.endswith(".py") or not Path(place.file).is_file():
        return ""
    return place.text if _is_of(request, place.file) or "-packages" in place.file else ""


def _spots(error: BaseException) -> list[Spot]:
    return [Spot(code.co_filename, line, code.co_name) for code, line in _frames(error)]


def chosen(request: Request, spots: list[Spot]) -> Spot | None:
    """Of lines from outermost to innermost, the innermost that a person would look at."""
    foreign = [s for s in spots if not s.file.startswith((OURS, "<frozen"))]
    own = [s for s in foreign if _is_of(request, s.file)]
    others = [s for s in foreign if not s.file.startswith("<") and not _is_python(s.file)]
    return next(reversed(own or others), None)


def _frames(error: BaseException) -> Iterator[tuple[CodeType, int]]:
    return ((frame.f_code, line) for frame, line in traceback.walk_tb(error.__traceback__))


def _is_python(file: str) -> bool:
    return file.startswith(_PYTHON) and "-packages" not in file


def _is_of(request: Request, file: str) -> bool:
    """Whether a file is part of what is analysed: the class's own package, or the user's folders."""
    if request.file is not None and Path(file).resolve() == Path(request.file).resolve():
        return True
    parts = request.target.split(".")
    module = sys.modules.get(".".join(parts[:-1]))
    if module is not None and getattr(module, "__file__", None) == file:
        return True
    top = sys.modules.get(parts[0])
    folders = [str(folder) for folder in getattr(top, "__path__", ())]
    return any(file.startswith(folder) for folder in (*folders, *request.roots)) and not _is_installed(
        file, folders
    )


def _is_installed(file: str, folders: list[str]) -> bool:
    """Whether a file belongs to another installed package that happens to lie beneath a user's folder."""
    return "-packages" in file and not any(file.startswith(folder) for folder in folders)


def _stage(error: BaseException) -> ProblemKind:
    """What was going on, by the functions that ran: forward() may build, and building may import."""
    names = [code.co_name for code, _ in _frames(error)]
    if "forward" in names:
        return "forward"
    if "__init__" in names:
        return "constructor"
    if isinstance(error, ImportError | SyntaxError) or "_call_with_frames_removed" in names:
        return "import"
    return "constructor" if "_build" in names else "forward"


def _own_fault(request: Request, error: BaseException, replaced: Sequence[str]) -> Response:
    *_, (code, line) = _frames(error)
    place = Spot(code.co_filename, line, code.co_name)
    if replaced:
        problem = (
            f"running {request.target}: its code put something else in place of {', '.join(replaced[:3])}; "
            f"with that: {type(error).__name__}: {_message(error)}\n"
            "  leave torch as it is, or read the class without running it: --derive static"
        )
        return Response(problem=problem, problem_kind="unsupported")
    problem = (
        f"analysing {request.target}: {type(error).__name__}: {_message(error)}\n"
        f"  raised at {place.text}\n"
        "  this is a fault of forwardbook, not of the class; please report it with these lines"
    )
    trace = printable("".join(traceback.format_exception(error)))
    return Response(problem=problem, problem_kind="internal", diagnostics={"traceback": trace})


def _notes(error: BaseException) -> list[str]:
    try:
        return [one for one in error.__notes__ if isinstance(one, str)][:_LINES]
    except Exception:  # there are none, or they are no list
        return []


def _shown(value: object) -> str:
    return repr(value)[:_NOTE] if isinstance(value, int | str | None) else type(value).__name__


def _message(error: BaseException) -> str:
    text = message_of(error, _LONGEST)
    for frames in _FRAMES:  # torch adds those of its C++ and of its interpreter
        text = text.partition(frames)[0]
    lines = text.strip().splitlines()
    return "\n    ".join(lines[:_LINES] + (["..."] if len(lines) > _LINES else []))


def _short(file: str) -> str:
    """A file as a person knows it: from its package on, or from the current folder."""
    for marker in ("site-packages/", "dist-packages/"):
        if marker in file:
            return file.partition(marker)[2]
    path, here = Path(file), _shown_from or Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else file


def show_from(folder: Path) -> None:
    """From here on name files from this folder, which is not the current one of a child process."""
    global _shown_from
    _shown_from = folder
