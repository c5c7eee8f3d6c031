"""Money: a worst case is reserved before each request and settled after it, for all analysts together."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Final

from forwardbook.agents.analyst import Spent
from forwardbook.errors import ForwardbookError

NANO: Final = 1_000_000_000
_TABLE: Final = Path(__file__).with_name("prices.json")


class UnknownPrice(ForwardbookError):
    """A model whose price nobody stated: what it would cost cannot be bounded."""


class OverBudget(ForwardbookError):
    """The next request could cost more than is left."""


@dataclass(frozen=True, slots=True)
class Price:
    """Billionths of a dollar per token; a prompt above `largest_prompt` tokens has another price."""

    input: int
    output: int
    cache_read: int
    cache_write: int
    largest_prompt: int = 0

    def of(self, spent: Spent) -> int:
        """What tokens cost."""
        return (
            spent.input_tokens * self.input
            + spent.output_tokens * self.output
            + spent.cache_read * self.cache_read
            + spent.cache_write * self.cache_write
        )

    def worst(self, size: int, max_tokens: int) -> int:
        """The most that one request can cost: two bytes to a token, written to the cache, a full answer."""
        tokens = -(-size // 2)
        if self.largest_prompt and tokens > self.largest_prompt:
            raise OverBudget(
                f"a prompt of up to {tokens:,} tokens: no price is stated above {self.largest_prompt:,}; "
                "choose another model"
            )
        return tokens * max(self.input, self.cache_write) + max_tokens * self.output


@cache
def prices() -> Mapping[str, Price]:
    """The table of prices by name of model."""
    table = json.loads(_TABLE.read_text(encoding="utf-8"))["models"]
    return {name: price_of(stated) for name, stated in table.items()}


def price_of(stated: Mapping[str, str | int]) -> Price:
    """A price as it is stated: dollars per million tokens as decimal text."""
    keys = ("input", "output", "cache_read", "cache_write")
    nano = {key: Decimal(str(stated[key])) * 1000 for key in keys}
    if any(value != int(value) or value < 0 for value in nano.values()):
        raise UnknownPrice(f"reading the price {dict(stated)}: no multiples of $0.001 per million tokens")
    largest = int(stated.get("largest_prompt", 0))
    return Price(**{key: int(value) for key, value in nano.items()}, largest_prompt=largest)


def price(model: str, table: Mapping[str, Price] | None = None) -> Price:
    """The price of a model.

    Raises:
        UnknownPrice: the model is not in the table.
    """
    known = prices() if table is None else table
    if model not in known:
        raise UnknownPrice(
            f"asking the model {model}: its price is unknown, so its cost cannot be bounded; "
            f"choose one of {', '.join(sorted(known))}"
        )
    return known[model]


@dataclass(frozen=True, slots=True)
class Reservation:
    """Money set aside for one request."""

    number: int
    role: str
    nano_usd: int


@dataclass
class Ledger:
    """`cap` in billionths of a dollar, None without limit. One event loop at a time uses it."""

    cap: int | None = None
    by_role: dict[str, Spent] = field(default_factory=dict)
    _held: dict[int, Reservation] = field(default_factory=dict)
    _waiting: deque[asyncio.Future[None]] = field(default_factory=deque)
    _count: int = 0

    @classmethod
    def of_usd(cls, usd: float | None) -> Ledger:
        """A ledger with a cap in dollars."""
        if usd is not None and not 0 <= usd < 1e6:
            raise OverBudget(f"limiting the cost to {usd} dollars: give a number from 0 to a million")
        return cls(None if usd is None else int(Decimal(str(usd)) * NANO))

    @property
    def spent(self) -> Spent:
        """What all roles together spent."""
        return sum(self.by_role.values(), Spent())

    @property
    def held(self) -> int:
        """What is set aside for requests under way."""
        return sum(one.nano_usd for one in self._held.values())

    @property
    def left(self) -> int | None:
        """What is neither spent nor set aside; None without a cap."""
        return None if self.cap is None else max(self.cap - self.spent.nano_usd - self.held, 0)

    async def reserve(self, role: str, worst: int, *, wait: bool = True) -> Reservation:
        """Set the worst case aside; waits, if it may, while requests under way may still leave enough.

        Raises:
            OverBudget: what was spent and this worst case exceed the cap.
        """
        while True:
            spent = self.spent.nano_usd
            if self.cap is None or spent + self.held + worst <= self.cap:
                self._count += 1
                made = Reservation(self._count, role, worst)
                self._held[made.number] = made
                return made
            if spent + worst > self.cap or not self._held or not wait:
                raise OverBudget(
                    f"the next request of the {role} could cost ${worst / NANO:.4f}; of "
                    f"${self.cap / NANO:.4f} ${spent / NANO:.4f} are spent and ${self.held / NANO:.4f} "
                    "are set aside. Allow more with --max-cost"
                )
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            await waiter

    def settle(self, reservation: Reservation, spent: Spent) -> None:
        """Book what a request really cost and give the rest back; a second settlement changes nothing."""
        if self._held.pop(reservation.number, None) is None:
            return
        role = reservation.role
        self.by_role[role] = self.by_role.get(role, Spent()) + spent
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)

    def forfeit(self, reservation: Reservation) -> Spent:
        """Book the worst case: nobody knows what a request cost that was never answered."""
        lost = Spent(requests=1, nano_usd=reservation.nano_usd)
        self.settle(reservation, lost)
        return lost

    def report(self) -> list[str]:
        """What was spent per role, a line each, and in total."""
        rows = [*sorted(self.by_role.items())]
        rows += [("all", self.spent)] if len(rows) != 1 else []
        return [
            f"{role}: ${one.usd:.4f}, {one.requests} requests, {one.tokens_in:,} tokens in "
            f"({one.cache_read:,} from the cache), {one.output_tokens:,} out"
            for role, one in rows
        ]
