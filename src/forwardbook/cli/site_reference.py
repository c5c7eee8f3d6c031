"""The commands and the public modules of this package in, the pages that describe them out."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from forwardbook.book.page import Page
    from forwardbook.book.site.commands_page import CommandHelp

PUBLIC: Final = (
    ("forwardbook", "analyze cost", ("pipeline.analysis.objects", "pipeline.derivation.concrete")),
    ("forwardbook.registry", "load names Registry", ("registry",)),
    (
        "forwardbook.calculator",
        "Calculator Costs LineCost CalculatorError OutsideRegimesError",
        ("calculator.evaluation", "calculator.formulas", "calculator.choice"),
    ),
    ("forwardbook.workspace", "Workspace Database", ("workspace.folder", "workspace.database")),
    (
        "forwardbook.schema",
        "Entry Regime FlopAnalysis MemoryAnalysis Parameter Proof ProofPoint Unresolved Validation",
        ("schema",),
    ),
    ("forwardbook.formula", "Condition parse", ("formula.condition", "formula.parsing")),
    ("forwardbook.errors", "ForwardbookError FormulaError", ("errors",)),
)
"""What users import, the names in it, and the modules that define these."""


def reference_pages() -> list[Page]:
    """The pages `commands.md` and `python.md`."""
    from forwardbook.book.site.commands_page import commands_page
    from forwardbook.book.site.python_page import PublicModule, python_page

    modules = [
        PublicModule(name, tuple(names.split()), tuple(_source(f"forwardbook.{part}") for part in parts))
        for name, names, parts in PUBLIC
    ]
    return [commands_page(list(commands())), python_page(modules)]


def commands() -> Iterator[CommandHelp]:
    """Every command, those of groups by their full name, as typer describes them."""
    from typer.main import get_command

    from forwardbook.cli.app import build_app

    root = get_command(build_app())
    yield from _described(root, root.context_class(root, info_name="forwardbook"), "")


def _described(command: Any, context: Any, name: str) -> Iterator[CommandHelp]:
    """`Any`: typer brings a click of its own, whose types are private, or uses the one installed."""
    from forwardbook.book.site.commands_page import CommandHelp

    if hasattr(command, "list_commands"):
        for key in command.list_commands(context):
            inner = command.get_command(context, key)
            inside = inner.context_class(inner, info_name=key, parent=context)
            yield from _described(inner, inside, f"{name} {key}".strip())
        return
    options = [found for each in command.get_params(context) if (found := _option(each, context))]
    usage = " ".join(command.get_usage(context).split()).removeprefix("Usage: ")
    yield CommandHelp(name, usage, command.help or "", tuple(options))


def _option(parameter: Any, context: Any) -> tuple[str, str] | None:
    if parameter.param_type_name == "argument":
        return " ".join(parameter.get_usage_pieces(context)), parameter.help or ""
    record: tuple[str, str] | None = parameter.get_help_record(context)
    return record


def _source(module: str) -> str:
    spec = find_spec(module)
    return Path(spec.origin).read_text(encoding="utf-8") if spec and spec.origin else ""
