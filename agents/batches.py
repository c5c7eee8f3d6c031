"""Many tasks in, one Message Batch at half the price, polled until it ended; the answers that hold out.

A batch has no conversation: each task is asked once, without tools to look things up. What fails its checker
is put to the plain backend afterwards, where it can be mended.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from forwardbook.agents.analyst import RETRIED, Answer, Failure, FailureKind, Spent, Task
from forwardbook.agents.api import ApiAnalyst, used
from forwardbook.agents.api_faults import UNHEARD, Told, stopped, told_of, whole
from forwardbook.agents.faults import kind_of, shown
from forwardbook.agents.ledger import OverBudget, Price, Reservation
from forwardbook.agents.requests import SUBMIT, batch_body, half
from forwardbook.agents.submission import Submission

if TYPE_CHECKING:
    from anthropic.types import Message
    from anthropic.types.messages import MessageBatch, MessageBatchIndividualResponse

LARGEST: Final = 1000
"""Requests of one batch; the service takes a hundred thousand, but this many are judged at once."""
SECONDS: Final = 26 * 3600.0  # a batch ends after 24 hours at the latest
ENDED: Final[Mapping[str, FailureKind]] = {"expired": "timeout", "canceled": "timeout"}
CANCEL_SECONDS: Final = 5.0


@dataclass(frozen=True)
class _Asked:
    """One task of a batch, and the money set aside for it."""

    task: Task
    held: Reservation


@dataclass
class BatchAnalyst:
    """Tasks through batches of the client of `plain`, which then takes those whose answer did not hold."""

    plain: ApiAnalyst
    poll: float = 30.0
    seconds: float = SECONDS

    @property
    def model(self) -> str:
        """The name of the model."""
        return self.plain.model

    async def close(self) -> None:
        """Give connections back."""
        await self.plain.close()

    async def ask(self, task: Task) -> Answer | Failure:
        """The answer to a single task, as a batch of one."""
        return (await self.ask_all([task]))[0]

    async def ask_all(self, tasks: Sequence[Task]) -> list[Answer | Failure]:
        """An answer or failure for each task, in their order."""
        found: list[Answer | Failure] = []
        for start in range(0, len(tasks), LARGEST):
            found += await self._batch(tasks[start : start + LARGEST])
        return list(await asyncio.gather(*map(self._mended, tasks, found)))

    async def _batch(self, tasks: Sequence[Task]) -> list[Answer | Failure]:
        """What one batch gives; a task that could exceed the cap is not part of it."""
        asked: dict[str, _Asked] = {}
        found: dict[str, Answer | Failure] = {}
        for number, task in enumerate(tasks):
            name = f"task-{number}"
            try:
                asked[name] = _Asked(task, await self._reserve(task))
            except OverBudget as error:
                found[name] = Failure("budget", str(error))
        if asked:
            found |= await self._results(asked)
        return [found[f"task-{number}"] for number in range(len(tasks))]

    async def _reserve(self, task: Task) -> Reservation:
        size = len(json.dumps(batch_body(task), ensure_ascii=False).encode("utf-8", "surrogatepass"))
        worst = half(self.plain.price.worst(size, task.limits.max_tokens))
        return await self.plain.ledger.reserve(task.role, worst, wait=False)

    async def _results(self, asked: Mapping[str, _Asked]) -> dict[str, Answer | Failure]:
        """Send, wait, and judge; whatever goes wrong, nothing stays reserved."""
        open_ = dict(asked)
        try:
            try:
                batch = await self._sent(asked)
            except Told as told:
                unheard = told.failure.kind in UNHEARD
                return {n: self._failed(open_.pop(n), told.failure, not unheard) for n in asked}
            try:
                async with asyncio.timeout(self.seconds):
                    await self._ended(batch)
                    heard = {one.custom_id: one async for one in self._lines(batch)}
            except TimeoutError:
                late = Failure("timeout", f"the batch {batch.id} had not ended after {self.seconds:g} s")
                return {n: self._failed(open_.pop(n), late, False) for n in asked}
            except Told as told:
                return {n: self._failed(open_.pop(n), told.failure, False) for n in asked}
            judged = [self._judged(open_.pop(name), heard.get(name)) for name in asked]
            return dict(zip(asked, await asyncio.gather(*judged), strict=True))
        finally:
            for one in open_.values():
                self.plain.ledger.forfeit(one.held)

    async def _sent(self, asked: Mapping[str, _Asked]) -> MessageBatch:
        requests = [
            {"custom_id": name, "params": {"model": self.model, **batch_body(one.task)}}
            for name, one in asked.items()
        ]
        batches = self.plain.client().messages.batches
        return await self._repeated(partial(batches.create, requests=requests), once=True)  # type: ignore[arg-type]

    async def _ended(self, batch: MessageBatch) -> None:
        """Poll until the batch has ended; if nobody waits any more, ask the service to stop it."""
        batches = self.plain.client().messages.batches
        try:
            while batch.processing_status != "ended":
                await asyncio.sleep(self.poll)
                batch = await self._repeated(partial(batches.retrieve, batch.id))
        except (asyncio.CancelledError, Told):
            with contextlib.suppress(Exception):
                await asyncio.wait_for(asyncio.shield(batches.cancel(batch.id)), CANCEL_SECONDS)
            raise

    async def _lines(self, batch: MessageBatch) -> AsyncIterator[MessageBatchIndividualResponse]:
        """The results, in any order, from the service that was asked and no other."""
        batches = self.plain.client().messages.batches
        ended = await self._repeated(partial(batches.retrieve, batch.id))
        ours, theirs = urlsplit(self.plain.settings.base_url), urlsplit(ended.results_url or "")
        if (ours.scheme, ours.netloc) != (theirs.scheme, theirs.netloc):
            raise Told(Failure("malformed", f"the results of the batch {batch.id} lie at another address"))
        try:
            async for one in await batches.results(batch.id):
                yield one
        except Told:
            raise
        except Exception as error:
            raise told_of(error) from error

    async def _repeated(
        self, request: Callable[[], Awaitable[MessageBatch]], *, once: bool = False
    ) -> MessageBatch:
        """The batch of a request; kinds that may pass are tried again, not where it may have been `once`."""
        wait = self.plain.backoff
        for attempt in range(self.plain.settings.retries + 1):
            try:
                found = await request()
                if getattr(found, "processing_status", None) is None:
                    raise Told(Failure("malformed", "the answer is no batch"))
                return found
            except Exception as error:
                told = error if isinstance(error, Told) else told_of(error)
                passes = told.failure.kind in RETRIED and not (once and told.failure.kind in UNHEARD)
                if not passes or attempt == self.plain.settings.retries:
                    raise told from error
                await asyncio.sleep(max(told.after, wait))
                wait *= 2
        raise AssertionError

    async def _judged(self, one: _Asked, heard: MessageBatchIndividualResponse | None) -> Answer | Failure:
        """What became of one request of a batch that ended."""
        result = heard.result if heard is not None else None
        if result is None:
            return self._failed(one, Failure("malformed", "the batch gave no result of this task"), False)
        if result.type != "succeeded":
            return self._failed(one, _errored(result), True)
        try:
            message = whole(result.message)
        except Told as told:
            return self._failed(one, told.failure, False)
        spent = at_half(used(message, self.plain.price), self.plain.price)
        self.plain.ledger.settle(one.held, spent)
        submission = Submission(one.task)
        if (failure := stopped(message)) is not None:
            return submission.failure(failure, spent)
        return await _submitted(submission, message, self.model, spent)

    def _failed(self, one: _Asked, failure: Failure, known: bool) -> Failure:
        """The failure of a request, booked: at nothing where the service said no, else at its worst."""
        if known:
            spent = Spent(requests=1)
            self.plain.ledger.settle(one.held, spent)
        else:
            spent = self.plain.ledger.forfeit(one.held)
        return replace(failure, spent=spent)

    async def _mended(self, task: Task, found: Answer | Failure) -> Answer | Failure:
        """The answer; where one did not hold, that of a conversation with tools and the checker's words."""
        if isinstance(found, Answer) or found.kind not in ("invalid", "cut"):
            return found
        again = await self.plain.ask(task)
        return replace(
            again,
            spent=found.spent + again.spent,
            calls=(*found.calls, *again.calls),
            attempts=(*found.attempts, *again.attempts),
        )


async def _submitted(submission: Submission, message: Message, model: str, spent: Spent) -> Answer | Failure:
    for block in message.content:
        if block.type == "tool_use" and block.name == SUBMIT:
            await submission.judge(block.input)
            if submission.accepted is not None:
                return submission.answer(model, spent)
    return submission.invalid(spent, "the model submitted nothing")


def _errored(result: object) -> Failure:
    """A request that the service did not answer: none of these is billed."""
    kind = str(getattr(result, "type", ""))
    if kind in ENDED:
        return Failure(ENDED[kind], f"the request {kind} in its batch")
    inner = getattr(getattr(result, "error", None), "error", None)
    type_, words = str(getattr(inner, "type", "")), shown(str(getattr(inner, "message", "")))
    return Failure(
        kind_of(400 if type_ == "invalid_request_error" else None, words, type_), f"{type_}: {words}"
    )


def at_half(spent: Spent, price: Price) -> Spent:
    """What was used, at the price of a batch."""
    return replace(spent, nano_usd=half(price.of(spent)))
