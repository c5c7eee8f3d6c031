"""What a person chose in, an analyst out; a key that happens to be set chooses nothing."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from forwardbook.agents.analyst import Analyst, Task, TaskLimits
from forwardbook.agents.ledger import Ledger, Price, price
from forwardbook.agents.recordings import Recorded, Replay
from forwardbook.agents.requests import Preview, preview
from forwardbook.agents.settings import Backend, Settings, SettingsError, api_key, load_settings
from forwardbook.agents.static import StaticAnalyst

SECONDS = {"module_generator": 300.0, "parameter_analyst": 300.0}
"""Per role where it is not 600."""


@dataclass(frozen=True)
class Chosen:
    """An analyst, the settings behind it, and the ledger that it books in."""

    backend: Backend
    analyst: Analyst
    settings: Settings
    ledger: Ledger
    dry_run: bool = False
    batch: bool = False

    @property
    def price(self) -> Price:
        """The price of the model."""
        return price(self.settings.model)

    def preview(self, task: Task) -> Preview:
        """What would be sent first, and the most that it could cost."""
        return preview(task, self.price, batch=self.batch)

    def limits(self, role: str) -> TaskLimits:
        """The limits of a role's tasks."""
        seconds = self.settings.seconds.get(role, SECONDS.get(role, 600.0))
        return TaskLimits(seconds, self.settings.turns, self.settings.max_tokens)


def choose(
    backend: Backend | None = None,
    max_cost: float | None = None,
    *,
    model: str = "",
    dry_run: bool = False,
    batch: bool = False,
    settings: Settings | None = None,
    recordings: Path | None = None,
) -> Chosen:
    """The analyst that a command, else the user's configuration, names; `static` otherwise.

    Raises:
        SettingsError: a live analyst was chosen and there is no key, or batches of one that sends none.
        UnknownPrice: the price of the model is not known.
    """
    settings = settings or load_settings()
    settings = settings.model_copy(update={"model": model} if model else {})
    backend = backend or settings.analyst
    ledger = Ledger.of_usd(settings.max_cost if max_cost is None else max_cost)
    folder = recordings or recordings_folder()
    analyst: Analyst = StaticAnalyst()
    if backend == "replay":
        analyst = Replay(folder, settings.model)
    elif backend != "static":
        cost = price(settings.model)
        if batch and backend != "api":
            raise SettingsError(f"asking {backend} in batches: only --analyst api sends Message Batches")
        if not dry_run:
            analyst = _live(backend, settings, api_key(), ledger, cost, batch)
            analyst = Recorded(analyst, folder) if settings.record else analyst
    return Chosen(backend, analyst, settings, ledger, dry_run, batch)


def _live(
    backend: Backend, settings: Settings, key: str, ledger: Ledger, cost: Price, batch: bool
) -> Analyst:
    if backend == "api":
        from forwardbook.agents.api import ApiAnalyst

        plain = ApiAnalyst(settings, key, ledger, cost)
        if not batch:
            return plain
        from forwardbook.agents.batches import BatchAnalyst

        return BatchAnalyst(plain, settings.batch_poll)
    from forwardbook.agents.sdk import SdkAnalyst

    return SdkAnalyst(settings, key, ledger, cost)


def recordings_folder() -> Path:
    """Where recordings are kept: the user's own, never in the analysed repository."""
    base = os.environ.get("XDG_DATA_HOME", "")
    return (Path(base) if base else Path.home() / ".local" / "share") / "forwardbook" / "recordings"
