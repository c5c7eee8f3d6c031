"""The nn.Modules of a file: each with its forward(), and the formula page where the database has one."""

from __future__ import annotations

from forwardbook.analyzers.detail.facts import ModuleClass
from forwardbook.book.blocks import Block, Paragraph
from forwardbook.book.inline import code, codes, link
from forwardbook.book.pages.section import SectionFacts, section, table


def costs(facts: SectionFacts) -> tuple[Block, ...]:
    """A table of modules; nothing in a file without any."""
    modules = facts.detail.modules
    rows = [
        (
            code(f"{each.qualname}.forward" if each.forward else each.qualname),
            facts.over(each.forward) if each.forward else "inherited",
            _formulas(facts, each),
        )
        for each in modules
    ]
    if not rows:
        return ()
    known = any(database_key(facts, each) for each in modules)
    text = (
        "What one call of forward() costs, as formulas that were proved by measurement:"
        if known
        else "No formulas of these classes are in the database; `forwardbook analyze-module` adds them."
    )
    return section("Cost", (Paragraph(text), *table(("Module", "Lines of forward()", "Formulas"), rows)))


def database_key(facts: SectionFacts, one: ModuleClass) -> str:
    """The key of a class in the module database, empty where it holds none."""
    library = facts.facts.module.partition(".")[0]
    key = f"{library}_{one.qualname}"
    return key if key in facts.context.costs else ""


def _formulas(facts: SectionFacts, one: ModuleClass) -> str:
    key = database_key(facts, one)
    if key and key not in facts.context.formula_pages:
        return code(f"forwardbook show {key}")
    if key:
        return link(f"formulas of {one.qualname}", f"{facts.context.modules_folder}/{key}.md")
    return f"none; through {codes(list(one.through[:2]))}" if one.through else "none"
