"""The agent backend: a task in, a session of the Claude Agent SDK with our tools alone, an answer out."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from forwardbook.agents import tools as toolbox
from forwardbook.agents.analyst import Answer, Failure, Spent, Task
from forwardbook.agents.box import Box, box, environment
from forwardbook.agents.faults import kind_of, kind_of_text, shown
from forwardbook.agents.gate import Gate
from forwardbook.agents.ledger import Ledger, OverBudget, Price
from forwardbook.agents.submission import Submission
from forwardbook.agents.worst_case import last_of, worst_of
from forwardbook.errors import own_type

if TYPE_CHECKING:
    from claude_agent_sdk import ClaudeAgentOptions, McpServerConfig, ResultMessage, SdkMcpTool

    from forwardbook.agents.settings import Documentation, Settings

SERVER: Final = "facts"
OUTPUT: Final = "StructuredOutput"


class Unsafe(Exception):
    """A session that did not start as it was told to."""


@dataclass
class SdkAnalyst:
    """A session per task, each with a process and a box of its own."""

    settings: Settings
    key: str
    ledger: Ledger
    price: Price
    _gate: Gate = field(init=False)

    def __post_init__(self) -> None:
        self._gate = Gate(min(2, os.cpu_count() or 1, self.settings.at_once))

    @property
    def model(self) -> str:
        """The name of the model."""
        return self.settings.model

    def _share(self, task: Task) -> int:
        """What to set aside: the worst case, else half of what is left, but two responses at least."""
        worst, left = worst_of(task, self.price), self.ledger.left
        return worst if left is None else min(worst, max(left // 2, 2 * last_of(task, self.price)))

    async def ask(self, task: Task) -> Answer | Failure:
        """The answer that passed the checker, or why there is none."""
        async with self._gate.pass_():
            try:
                held = await self.ledger.reserve(task.role, self._share(task))
            except OverBudget as error:
                return Failure("budget", str(error))
            session = _Session(self, task, held.nano_usd - last_of(task, self.price))
            billed = False
            try:
                async with asyncio.timeout(task.limits.seconds):
                    await session.run()
                billed = True
            except TimeoutError:
                late = f"no accepted answer after {task.limits.seconds:g} s"
                session.failure = Failure("timeout", late)
            except Unsafe as error:
                session.failure = Failure("internal", str(error))
                billed = True
            except Exception as error:  # noqa: BLE001 - a fault of ours must not end the other tasks
                session.failure = Failure("internal", own_type(error))
            finally:
                spent = session.spent
                if billed and spent is not None:
                    self.ledger.settle(held, spent)
                else:  # nobody said what it cost
                    spent = self.ledger.forfeit(held)
            return session.outcome(spent)


@dataclass
class _Session:
    """One run of the program: what it submitted, what it cost, how it ended."""

    analyst: SdkAnalyst
    task: Task
    cap: int
    """What it may have spent, in billionths of a dollar, when it asks for one more response."""
    submission: Submission = field(init=False)
    failure: Failure | None = None
    spent: Spent | None = None
    stderr: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.submission = Submission(self.task)

    def outcome(self, spent: Spent) -> Answer | Failure:
        """What the caller gets."""
        if self.failure is None and self.submission.accepted is not None:
            return self.submission.answer(self.analyst.model, spent)
        if self.submission.exhausted:
            return self.submission.invalid(spent, "")
        if self.failure is None:
            return self.submission.invalid(spent, "the model submitted nothing")
        return self.submission.failure(self.failure, spent)

    async def run(self) -> None:
        import claude_agent_sdk as sdk

        with box() as made:
            options = self._options(made)
            result: ResultMessage | None = None
            heard: set[str] = set()  # responses; each comes in as many messages as it has blocks
            try:
                talking = sdk.query(prompt=self.task.prompt.text, options=options)
                assert isinstance(talking, AsyncGenerator)
                async with contextlib.aclosing(talking) as talk:
                    async for message in talk:
                        if isinstance(message, sdk.SystemMessage) and message.subtype == "init":
                            self._check(message.data)
                        if isinstance(message, sdk.AssistantMessage):
                            heard.add(message.message_id or message.uuid or "")
                        if isinstance(message, sdk.ResultMessage):
                            result = message
            except sdk.ClaudeSDKError as error:
                if result is None:  # an error result is given first, then raised
                    words = shown(" ".join([str(error), *self.stderr[-5:]]))
                    self.failure = Failure("internal", f"the program of the SDK: {words}")
                    return
            if result is None:
                self.failure = Failure("internal", "the program of the SDK ended without a result")
                return
            self.spent = used(result, self.analyst.price, max(len(heard), 1))
            self.failure = self._failure(result)

    def _failure(self, result: ResultMessage) -> Failure | None:
        """Why a session failed; None where what it submitted was accepted, or never was."""
        words = shown(result.result or " ".join(result.errors or ()))
        if result.stop_reason == "refusal":
            return Failure("refused", "the model declined to answer")
        if result.subtype == "error_max_turns":
            return Failure("turns", f"no accepted answer after {self.task.limits.turns} turns")
        if result.subtype == "error_max_budget_usd":
            return Failure("budget", "the session reached what was reserved for it")
        if result.subtype == "error_max_structured_output_retries":
            return self.submission.invalid(Spent(), "what was submitted never followed the schema")
        if result.is_error or result.subtype != "success":
            if "output token maximum" in words:
                return Failure("cut", "a response reached the limit (max_tokens)")
            if result.terminal_reason == "prompt_too_long":
                return Failure("too_long", words)
            if result.api_error_status is not None:
                return Failure(kind_of(result.api_error_status, words), f"{result.api_error_status} {words}")
            return Failure(kind_of_text(words), words or result.subtype)
        if self.submission.accepted is not None:
            if result.structured_output is None:
                return Failure("invalid", "the session ended without the output that was accepted")
            return None
        if result.stop_reason == "max_tokens":
            return Failure("cut", "a response reached the limit (max_tokens)")
        return None

    def _options(self, made: Box) -> ClaudeAgentOptions:
        import claude_agent_sdk as sdk

        settings, limits = self.analyst.settings, self.task.limits
        own = sdk.create_sdk_mcp_server(SERVER, tools=[self._tool(tool) for tool in self.task.tools])
        return sdk.ClaudeAgentOptions(
            tools=[],
            allowed_tools=sorted(self._allowed()),
            system_prompt=self.task.prompt.system,
            mcp_servers={**({SERVER: own} if self.task.tools else {}), **self._consulted()},
            strict_mcp_config=True,
            setting_sources=[],
            skills=[],
            permission_mode="dontAsk",
            verbatim_prompts=True,
            max_turns=limits.turns,
            max_budget_usd=self.cap / 1e9,
            model=self.analyst.model,
            cwd=made.work,
            env=environment(made, settings, self.analyst.key, limits.max_tokens)
            | {
                "MAX_STRUCTURED_OUTPUT_RETRIES": str(limits.attempts),
                "MCP_TOOL_TIMEOUT": str(int(1000 * (limits.seconds + 10))),
            },
            extra_args={"restricted": None, "no-session-persistence": None, "disable-slash-commands": None},
            output_format={"type": "json_schema", "schema": self.task.schema},
            hooks={
                "PreToolUse": [
                    sdk.HookMatcher(
                        matcher=OUTPUT, hooks=[self._judge], timeout=limits.seconds + 10, on_failure="block"
                    )
                ]
            },
            stderr=self._note,
            max_buffer_size=4_000_000,
        )

    def _allowed(self) -> set[str]:
        """Every tool that the session may have, that for its output apart."""
        found = {f"mcp__{SERVER}__{tool.name}" for tool in self.task.tools}
        for name, server in self._documentation.items():
            found |= {f"mcp__{name}__{tool}" for tool in server.tools}
        return found

    @property
    def _documentation(self) -> Mapping[str, Documentation]:
        return self.analyst.settings.documentation if self.task.consults else {}

    def _consulted(self) -> dict[str, McpServerConfig]:
        """The servers that the user names in his own configuration."""
        found: dict[str, McpServerConfig] = {}
        for name, server in self._documentation.items():
            if server.url:
                found[name] = {"type": "http", "url": server.url}
            else:
                found[name] = {"command": server.command, "args": [*server.args], "env": {**server.env}}
        return found

    def _note(self, line: str) -> None:
        if len(self.stderr) < 50:
            self.stderr.append(line[:300])

    def _check(self, data: dict[str, Any]) -> None:
        """Refuse a session with tools, servers or rights that we did not give it."""
        served = {SERVER, *self._documentation}
        found = {tool for tool in data.get("tools", ()) if not _is_of(tool, self._documentation)}
        wanted = {OUTPUT, *self._allowed()}
        servers = {str(each.get("name")) for each in data.get("mcp_servers", ())}
        if found - wanted or servers - served:
            raise Unsafe(f"the session has tools that were not given to it: {sorted(found - wanted)}")
        if data.get("permissionMode") != "dontAsk":
            raise Unsafe(f"the session has the permission mode {data.get('permissionMode')}")

    async def _judge(self, given: Any, tool_use_id: str | None, context: Any) -> Any:
        """Hold what is submitted against the checker, before the session may end with it."""
        submitted = given.get("tool_input") if isinstance(given, dict) else None
        reason = await self.submission.judge(submitted)
        result = toolbox.Result(reason or "accepted", bool(reason))
        self.submission.calls.append(result.call("submit", submitted))
        if not reason:
            return {}
        over = {"continue_": False, "stopReason": "too many answers failed"}
        return {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": reason,
            },
            **(over if self.submission.exhausted else {}),
        }

    def _tool(self, tool: toolbox.Tool) -> SdkMcpTool[Any]:
        import claude_agent_sdk as sdk

        served = {tool.name: tool}

        async def handle(arguments: dict[str, Any]) -> dict[str, Any]:
            result = await toolbox.call(served, tool.name, arguments)
            self.submission.calls.append(result.call(tool.name, arguments))
            return {"content": [{"type": "text", "text": result.text}], "is_error": result.is_error}

        made: Callable[..., SdkMcpTool[Any]] = sdk.tool(
            tool.name, tool.description, tool.schema, annotations=sdk.ToolAnnotations(readOnlyHint=True)
        )
        return made(handle)


def _is_of(tool: str, servers: Mapping[str, Documentation]) -> bool:
    """Whether a tool is one of a server that the user named; only those allowed by name can be called."""
    return any(tool.startswith(f"mcp__{name}__") for name in servers)


def used(result: ResultMessage, price: Price, requests: int) -> Spent:
    """What a session of so many requests cost: its tokens at our own prices."""
    total = Spent()
    for usage in (result.model_usage or {}).values():
        counted = dict(usage)
        total += Spent(
            0,
            int(str(counted.get("inputTokens", 0))),
            int(str(counted.get("outputTokens", 0))),
            int(str(counted.get("cacheReadInputTokens", 0))),
            int(str(counted.get("cacheCreationInputTokens", 0))),
        )
    return total + Spent(requests=requests, nano_usd=price.of(total))
