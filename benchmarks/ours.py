"""The name of a class in; its calculator out, from the database or derived now, and how long that took."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forwardbook.calculator import Calculator
    from forwardbook.schema import Entry

SEED = 20240229


@dataclass(frozen=True)
class Ours:
    """A calculator with its formula, where it came from, and the seconds of getting it."""

    calculator: Calculator
    entry: Entry
    origin: str
    seconds: float

    def needed(self, sizes: dict[str, int], scenario: str = "default") -> dict[str, int]:
        """The given sizes that the first regime of a scenario needs."""
        first = next(name for name in self.calculator.regime_names() if name.startswith(scenario))
        return {name: sizes[name] for name in self.calculator.get_required_parameters(first)}


def ours(name: str) -> Ours:
    """The stored calculator, else one made now: both dtypes, every scenario, no further regimes."""
    from forwardbook import registry
    from forwardbook.pipeline.child.request import Request
    from forwardbook.pipeline.child.work import work
    from forwardbook.schema import Entry
    from forwardbook.workspace import Workspace

    begin = time.perf_counter()
    database = Workspace.find().load()
    key = database.key_of(name)
    if key is not None:
        calculator = registry.load(name)
        return Ours(calculator, database[key], "from the database", time.perf_counter() - begin)
    response = work(Request(target=name, seed=SEED, explore=False))
    if response.entry is None or response.problem is not None:
        raise SystemExit(f"deriving {name}: {response.problem}")
    entry = Entry.model_validate(response.entry)
    return Ours(registry.from_entry(entry), entry, "derived and proved now", time.perf_counter() - begin)
