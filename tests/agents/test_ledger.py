"""Money: what is reserved, waited for, settled and refused."""

import asyncio
import random

import pytest

from forwardbook.agents.analyst import Spent
from forwardbook.agents.ledger import Ledger, OverBudget, UnknownPrice, price, price_of, prices


def test_prices_are_those_of_the_table() -> None:
    """A million tokens cost what the table says."""
    spent = Spent(0, 1_000_000, 1_000_000, 1_000_000, 1_000_000)

    assert 2_000_000_000 + 10_000_000_000 + 100_000_000 + 2_500_000_000 == price("claude-sonnet-5-5").of(
        spent
    )


def test_unknown_model_is_refused() -> None:
    """A model without a price is refused, and the message lists those that have one."""
    with pytest.raises(UnknownPrice, match="claude-sonnet-5-5"):
        price("claude-unheard-of")


def test_prompt_above_the_priced_size_is_refused() -> None:
    """Where a longer prompt has another price, it is not sent at the wrong one."""
    with pytest.raises(OverBudget, match="100,000"):
        price("claude-haiku-5-5").worst(200_002, 100)
    with pytest.raises(UnknownPrice):
        price_of({"input": "0.0001", "output": "1", "cache_read": "1", "cache_write": "1"})


@pytest.mark.parametrize("model", prices())
def test_worst_case_is_never_exceeded(model: str) -> None:
    """No split of a request into kinds of tokens costs more than its worst case."""
    rng = random.Random(model)
    cost = price(model)
    for _ in range(200):
        size, limit = rng.randint(2, 190_000), rng.randint(1, 8000)
        read = rng.randint(0, size // 2)
        written = rng.randint(0, size // 2 - read)
        spent = Spent(1, size // 2 - read - written, rng.randint(0, limit), read, written)

        assert cost.of(spent) <= cost.worst(size, limit)


def test_cap_holds_whatever_runs_at_once() -> None:
    """Of requests at once none starts that could exceed the cap; those that fit in the end all run."""
    ledger = Ledger(1000)
    peak: list[int] = []

    async def one(number: int) -> bool:
        try:
            held = await ledger.reserve("r", 300)
        except OverBudget:
            return False
        peak.append(ledger.spent.nano_usd + ledger.held)
        await asyncio.sleep(0.001 * (number % 3))
        ledger.settle(held, Spent(1, nano_usd=40))
        return True

    async def run() -> list[bool]:
        return list(await asyncio.gather(*map(one, range(30))))

    done = asyncio.run(run())
    assert 18 == sum(done)  # after 18 times 40, 280 are left: less than the worst case of one more
    assert max(peak) <= 1000
    assert 18 * 40 == ledger.spent.nano_usd
    assert 0 == ledger.held


def test_settled_once() -> None:
    """A second settlement changes nothing; what was never answered costs its worst case."""

    async def run() -> Ledger:
        ledger = Ledger()
        first, second = await ledger.reserve("a", 100), await ledger.reserve("b", 70)
        ledger.settle(first, Spent(1, nano_usd=10))
        ledger.forfeit(first)
        ledger.forfeit(second)
        return ledger

    ledger = asyncio.run(run())
    assert {"a": 10, "b": 70} == {role: one.nano_usd for role, one in ledger.by_role.items()}
    assert 3 == len(ledger.report())


@pytest.mark.parametrize("usd", [-1.0, float("nan"), float("inf"), 2e6])
def test_cap_is_a_number_of_dollars(usd: float) -> None:
    """A cap that is no sensible number of dollars is refused."""
    with pytest.raises(OverBudget):
        Ledger.of_usd(usd)
