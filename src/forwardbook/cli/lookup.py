"""The name of a class in; which of the two databases answers for it out.

Entries of own costs and calls answer wherever they have formulas; a class that only the older database has is
answered from there. Once that is gone, what is left of this file is `CostModel.find`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forwardbook.entries.cost_model import CostModel
    from forwardbook.workspace import Database, Workspace


@dataclass(frozen=True, slots=True)
class Composed:
    """A class of the entries of own costs and calls."""

    model: CostModel
    key: str


def composed_class(workspace: Workspace, name: str) -> Composed | None:
    """The class among the entries of own costs and calls; None where the older database alone has formulas.

    Raises:
        EntryError: no class has the name, or several of the two databases together have.
    """
    from forwardbook import registry
    from forwardbook.entries.refusal import several_classes, unknown_class
    from forwardbook.workspace.entry_store import entry_stores, model_of

    stores = entry_stores(workspace)
    model = model_of(stores)
    if name in model.entries and has_formulas(model, name):
        return Composed(model, name)
    database = workspace.load()
    old = {database.head(key).full_class_name: key for key in registry.matches(database, name)}
    new = {full: key for key, full in model.names.items() if full in old}
    new |= {model.names[key]: key for key in model.matches(name)}
    new = {full: key for full, key in new.items() if full not in old or has_formulas(model, key)}
    own = {full: key for full, key in new.items() if key in stores[0]}
    own |= {full: key for full, key in old.items() if full not in new and key in database.own}
    found = own or old | new
    if not found:
        names = {key: database.head(key).full_class_name for key in database}
        raise unknown_class(name, names | dict(model.names))
    if len(found) > 1:
        raise several_classes(name, [*found.values()])
    [full] = found
    return Composed(model, new[full]) if full in new else None


def older_alone(database: Database, classes: Collection[str]) -> Iterator[str]:
    """The keys of the older database whose classes are none of these."""
    return (key for key in database if database.head(key).full_class_name not in classes)


def has_formulas(model: CostModel, key: str) -> bool:
    """Whether a class has a regime, or is the same as one that has."""
    return bool(model.regimes.entry(model.regimes.holder(key)).regimes)
