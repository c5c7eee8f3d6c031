"""The plain backend: a task in, a conversation over the Messages API in our own loop, an answer out."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from forwardbook.agents import tools as toolbox
from forwardbook.agents.analyst import RETRIED, Answer, Failure, Spent, Task
from forwardbook.agents.api_faults import UNHEARD, Told, stopped, told_of, whole
from forwardbook.agents.gate import Gate
from forwardbook.agents.ledger import Ledger, OverBudget, Price
from forwardbook.agents.requests import SUBMIT, Json, request_body
from forwardbook.agents.submission import Submission
from forwardbook.errors import own_type

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.types import Message, ToolUseBlock

    from forwardbook.agents.settings import Settings

NUDGE: Final = "Nothing was submitted. Call the tool `submit` with your answer; text alone is not read."
LONGEST_WAIT: Final = 60.0  # seconds that a service may ask us to wait


class Fault(Exception):
    """One request failed for good."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.detail)
        self.failure = failure


@dataclass
class ApiAnalyst:
    """Many tasks at once over one client. `backoff` is the first wait before a request is repeated."""

    settings: Settings
    key: str
    ledger: Ledger
    price: Price
    backoff: float = 0.5
    _client: AsyncAnthropic | None = None
    _gate: Gate = field(init=False)

    def __post_init__(self) -> None:
        self._gate = Gate(self.settings.at_once)

    @property
    def model(self) -> str:
        """The name of the model."""
        return self.settings.model

    async def ask(self, task: Task) -> Answer | Failure:
        """The answer that passed the checker, or why there is none."""
        async with self._gate.pass_():
            talk = _Conversation(self, task)
            try:
                async with asyncio.timeout(task.limits.seconds):
                    return await talk.run()
            except TimeoutError:
                late = Failure("timeout", f"no accepted answer after {task.limits.seconds:g} s")
                return talk.submission.failure(late, talk.spent)
            except Fault as fault:
                return talk.submission.failure(fault.failure, talk.spent)
            except Exception as error:  # noqa: BLE001 - a fault of ours must not end the other tasks
                return talk.submission.failure(Failure("internal", own_type(error)), talk.spent)

    async def close(self) -> None:
        """Give connections back."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    def client(self) -> AsyncAnthropic:
        """The client: our key, address and proxy, nothing of the environment; it never repeats by itself."""
        if self._client is None:
            import httpx2
            from anthropic import AsyncAnthropic

            settings = self.settings
            wait = httpx2.Timeout(settings.request_seconds, connect=min(20.0, settings.request_seconds))
            http = httpx2.AsyncClient(
                trust_env=False,
                proxy=settings.proxy or None,
                verify=_trusted(settings.ca_file),
                timeout=wait,
                limits=httpx2.Limits(max_connections=settings.at_once * 2),
            )
            client = AsyncAnthropic(
                api_key=self.key,
                base_url=settings.base_url,
                max_retries=0,
                timeout=wait,
                http_client=http,
                open_telemetry=False,
            )
            client._custom_headers = {}  # those of ANTHROPIC_CUSTOM_HEADERS
            self._client = client
        return self._client


def _trusted(ca_file: str) -> bool | ssl.SSLContext:
    return ssl.create_default_context(cafile=ca_file) if ca_file else True


class _Conversation:
    """One task: messages so far, money spent, answers refused."""

    def __init__(self, analyst: ApiAnalyst, task: Task) -> None:
        self.analyst, self.task = analyst, task
        self.submission = Submission(task)
        self.spent = Spent()
        self.tools = {tool.name: tool for tool in task.tools}
        self.messages: list[Json] = [{"role": "user", "content": task.prompt.text}]

    async def run(self) -> Answer | Failure:
        nudged = False
        for _ in range(self.task.limits.turns):
            message = await self._request()
            if (failure := stopped(message)) is not None:
                raise Fault(failure)
            uses = [block for block in message.content if block.type == "tool_use"]
            self.messages.append({"role": "assistant", "content": [*map(_sent_back, message.content)]})
            if not uses:
                if nudged:
                    return self.submission.invalid(self.spent, "the model submitted nothing")
                nudged = True
                self.messages.append({"role": "user", "content": NUDGE})
                continue
            results = await asyncio.gather(*map(self._result, uses))
            if self.submission.accepted is not None:
                return self.submission.answer(self.analyst.model, self.spent)
            if self.submission.exhausted:
                return self.submission.invalid(self.spent, "")
            self.messages.append({"role": "user", "content": results})
        raise Fault(Failure("turns", f"no accepted answer after {self.task.limits.turns} turns"))

    async def _result(self, use: ToolUseBlock) -> Json:
        if use.name == SUBMIT:
            reason = await self.submission.judge(use.input)
            result = toolbox.Result(reason or "accepted", bool(reason))
        else:
            result = await toolbox.call(self.tools, use.name, use.input)
        self.submission.calls.append(result.call(use.name, use.input))
        return {
            "type": "tool_result",
            "tool_use_id": use.id,
            "content": result.text,
            "is_error": result.is_error,
        }

    async def _request(self) -> Message:
        """One response; kinds that may pass are tried again, each try with money of its own."""
        wait = self.analyst.backoff
        for attempt in range(self.analyst.settings.retries + 1):
            try:
                return await self._try()
            except Told as told:
                if told.failure.kind not in RETRIED or attempt == self.analyst.settings.retries:
                    raise Fault(told.failure) from told
                await asyncio.sleep(min(max(told.after, wait), LONGEST_WAIT))
                wait *= 2
        raise AssertionError

    async def _try(self) -> Message:
        analyst, limits = self.analyst, self.task.limits
        body = request_body(self.task, self.messages)
        size = len(json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        try:
            held = await analyst.ledger.reserve(self.task.role, analyst.price.worst(size, limits.max_tokens))
        except OverBudget as error:
            raise Fault(Failure("budget", str(error))) from error
        billed = Spent(requests=1)
        known = False
        try:
            message = await _message(analyst, body)
            billed = used(message, analyst.price)
            known = True
            return message
        except Told as told:
            known = told.failure.kind not in UNHEARD
            raise
        finally:
            if known:
                analyst.ledger.settle(held, billed)
            else:  # whoever did not hear the answer may pay for it all the same
                billed = analyst.ledger.forfeit(held)
            self.spent += billed


async def _message(analyst: ApiAnalyst, body: Mapping[str, object]) -> Message:
    """One response of the service.

    Raises:
        Told: with the kind of whatever went wrong.
    """
    try:
        async with analyst.client().messages.stream(model=analyst.model, **body) as stream:  # type: ignore[arg-type]
            message = await stream.get_final_message()
    except Exception as error:
        raise told_of(error) from error
    return whole(message)


def used(message: Message, price: Price) -> Spent:
    """What a response cost by its own account."""
    usage = message.usage
    spent = Spent(
        1,
        usage.input_tokens or 0,
        usage.output_tokens or 0,
        usage.cache_read_input_tokens or 0,
        usage.cache_creation_input_tokens or 0,
    )
    return spent + Spent(nano_usd=price.of(spent))


def _sent_back(block: object) -> Json:
    """A block of a response as the next request repeats it."""
    import anthropic

    assert isinstance(block, anthropic.BaseModel)
    kept = block.model_dump(mode="json", exclude_none=True)
    return {name: value for name, value in kept.items() if not name.startswith(("parsed", "_"))}
