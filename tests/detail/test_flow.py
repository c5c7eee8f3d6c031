"""The tree of a function's calls, loops and branches, against hand-written trees and a plain walk."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from forwardbook.analyzers.detail.facts import Detail, FunctionDetail
from forwardbook.analyzers.detail.read import detail
from forwardbook.analyzers.detail.steps import (
    Arm,
    BranchStep,
    CallStep,
    EndStep,
    LoopStep,
    ParallelStep,
    Step,
    TryStep,
    WithStep,
)
from forwardbook.analyzers.index.python import index_python

Read = Callable[..., Detail]


FILES = sorted((Path(__file__).resolve().parents[2] / "analyzers" / "static").glob("*.py"))


def sketch(steps: tuple[Step, ...]) -> list[object]:
    """A flow as nested lists, short enough to write by hand."""
    return [one(step) for step in steps]


def one(step: Step) -> object:
    """A step as a word, a list or a mapping."""
    if isinstance(step, CallStep):
        started = f">{step.starts}" if step.starts else ""
        return step.target + ("!" if step.awaited else "") + started
    if isinstance(step, LoopStep):
        return [step.header, *sketch(step.body)]
    if isinstance(step, BranchStep | ParallelStep):
        return {arm.condition: sketch(arm.body) for arm in step.arms}
    if isinstance(step, TryStep):
        handlers = {f"except {arm.condition}": sketch(arm.body) for arm in step.handlers}
        parts = {"try": sketch(step.body), **handlers, "else": sketch(step.otherwise)}
        parts["finally"] = sketch(step.finally_)
        return {key: value for key, value in parts.items() if value}
    if isinstance(step, WithStep):
        return ["with " + ", ".join(step.items), sketch(step.setup), *sketch(step.body)]
    return f"{step.kind} {step.value}".strip()


def test_calls_stand_in_running_order(read: Read) -> None:
    """Arguments before their call, receivers before their methods, tests before their branches."""
    found = read("""
        def f(x):
            y = a(b(x), k=c()).d(e)
            if g(y):
                h()
            elif i():
                pass
            else:
                return j(y)
            for z in l(y):
                m(z)
            while n():
                o()
                break
            return p() if q() else r()
        """).functions[0]
    assert [
        "b",
        "c",
        "a",
        "a().d",
        "g",
        "i",
        {"g(y)": ["h"], "i()": [], "else": ["j", "return j(y)"]},
        "l",
        ["for z in l(y)", "m"],
        ["while n()", "n", "o", "break"],
        "q",
        {"q()": ["p"], "else": ["r"]},
        "return p() if q() else r()",
    ] == sketch(found.flow)
    call = next(each for each in found.flow if isinstance(each, CallStep) and each.target == "a().d")
    assert ("y", ("e",)) == (call.result, call.arguments)


def test_try_with_match_and_comprehensions(read: Read) -> None:
    """Handlers, managers, cases and short circuits keep what is called in them; empty ones vanish."""
    found = read("""
        def f(x):
            try:
                a()
            except (B, C) as e:
                raise D(e) from e
            else:
                b()
            finally:
                c()
            with open(x) as g, h():
                i()
            match j():
                case 1 if k():
                    l()
                case _:
                    yield m()
            n = [o(p) for p in q() if r(p)]
            s = t() and u()
            v = lambda: w()
            if x:
                y = 1
        """).functions[0]
    assert [
        {"try": ["a"], "except (B, C)": ["D", "raise D(e)"], "else": ["b"], "finally": ["c"]},
        ["with open(x), h()", ["open", "h"], "i"],
        "j",
        {"case 1 if k()": ["k", "l"], "case _": ["m", "yield m()"]},
        "q",
        ["for p in q()", "r", "o"],
        "t",
        {"t()": ["u"]},
    ] == sketch(found.flow)


def test_things_at_the_same_time(read: Read) -> None:
    """Gathered calls are arms of their own; what a pool, thread or task is given is named."""
    found = read("""
        import asyncio, threading
        async def f(pool):
            await asyncio.gather(a(1), b(2))
            threading.Thread(target=self.c).start()
            pool.submit(d, 1)
            asyncio.create_task(e())
            async with g() as h:
                async for i in j():
                    await k(i)
        """).functions[0]
    assert [
        {"a(1)": ["a"], "b(2)": ["b"]},
        "asyncio.gather!",
        "threading.Thread>self.c",
        "threading.Thread().start",
        "pool.submit>d",
        "e",
        "asyncio.create_task>e",
        ["with g()", ["g"], "j", ["async for i in j()", "k!"]],
    ] == sketch(found.flow)


def calls(steps: tuple[Step, ...]) -> Iterator[tuple[int, int]]:
    """Where every call of a flow stands."""
    for step in steps:
        if isinstance(step, CallStep):
            yield step.line, step.column
        elif isinstance(step, LoopStep):
            yield from calls(step.body)
        elif isinstance(step, BranchStep | ParallelStep):
            yield from (place for arm in step.arms for place in calls(arm.body))
        elif isinstance(step, TryStep):
            arms = (step.body, *(arm.body for arm in step.handlers), step.otherwise, step.finally_)
            yield from (place for arm in arms for place in calls(arm))
        elif isinstance(step, WithStep):
            yield from calls((*step.setup, *step.body))


def walked(node: ast.AST) -> Iterator[tuple[int, int]]:
    """Where every call below a node stands, inner definitions and lambdas left out."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for mark in child.decorator_list:
                yield from walked(ast.Expr(mark))
        elif not isinstance(child, ast.Lambda):
            if isinstance(child, ast.Call):
                yield child.lineno, child.col_offset
            yield from walked(child)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_call_of_a_function_is_in_its_flow_once(file: Path) -> None:
    """The flow holds exactly the calls that a plain walk over the tree finds."""
    data = file.read_bytes()
    found = detail(file.name, data, index_python(file.name, data, file.stem))
    nodes = {each.lineno: each for each in ast.walk(ast.parse(data)) if isinstance(each, ast.FunctionDef)}
    for each in found.functions:
        body = ast.Module(nodes[each.span.start].body, [])
        assert sorted(walked(body)) == sorted(calls(each.flow)), each.qualname


def test_steps_are_values() -> None:
    """Flows compare by what they say."""
    assert BranchStep(1, (Arm(2, "x", (EndStep(2, "break"),)),)) == BranchStep(
        1, (Arm(2, "x", (EndStep(2, "break"),)),)
    )
    assert FunctionDetail.__dataclass_params__.frozen  # type: ignore[attr-defined]
