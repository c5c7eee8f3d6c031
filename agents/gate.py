"""How many conversations run at once: a number in, a gate for whichever event loop runs out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass


@dataclass
class Gate:
    """Lets `at_once` in; a semaphore belongs to one event loop, and a command may run several in turn."""

    at_once: int
    _loop: asyncio.AbstractEventLoop | None = None
    _inside: asyncio.Semaphore | None = None

    @asynccontextmanager
    async def pass_(self) -> AsyncIterator[None]:
        """Wait for a place, and give it back."""
        loop = asyncio.get_running_loop()
        if self._inside is None or self._loop is not loop:
            self._loop, self._inside = loop, asyncio.Semaphore(self.at_once)
        async with self._inside:
            yield
