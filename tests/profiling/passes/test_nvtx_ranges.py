"""Ranges for Nsight tools: by what they are made, how they nest, and what is said where a tool drops them."""

import sys
from types import ModuleType

import pytest
import torch

from forwardbook.profiling.passes.nvtx_ranges import INJECTION, nvtx_ranges, pusher
from forwardbook.profiling.passes.workload import Workload


class DummyDomain:
    """What nvtx gives where the tool is too old for it."""


def fake_nvtx(seen: list[str], domain: object) -> ModuleType:
    """The package nvtx, as far as all of its versions agree."""

    def push_range(message: str, color: str = "blue", domain: str = "") -> None:
        seen.append(f"{message}@{domain}")

    def pop_range(domain: str = "") -> None:
        seen.append("pop")

    library = ModuleType("nvtx")
    library.__dict__.update(push_range=push_range, pop_range=pop_range, get_domain=lambda name: domain)
    return library


def workload() -> Workload:
    """Two linear layers, called once."""
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)).eval()
    return Workload(model, lambda: model(torch.ones(1, 2)), torch.device("cpu"), torch.float32, False)


def test_phases_and_modules_nest(monkeypatch: pytest.MonkeyPatch) -> None:
    """The phase is around its modules, each range ends, and all are in the project's domain."""
    seen: list[str] = []
    monkeypatch.setitem(sys.modules, "nvtx", fake_nvtx(seen, object()))
    work = workload()
    with nvtx_ranges(work, modules=True) as maker:
        work.run()
    work.run()

    ranges = ["forward@forwardbook", "0@forwardbook", "pop", "1@forwardbook", "pop", "pop"]
    assert ("nvtx", ranges) == (maker, seen)


def test_ranges_end_when_a_module_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error inside leaves as many ranges ended as were begun."""
    seen: list[str] = []
    monkeypatch.setitem(sys.modules, "nvtx", fake_nvtx(seen, object()))
    work = workload()
    with nvtx_ranges(work, modules=True), pytest.raises(RuntimeError):
        work.model(torch.ones(1, 5))

    assert seen.count("pop") == len(seen) - seen.count("pop") == 2


@pytest.mark.parametrize(
    ("library", "told"),
    [(fake_nvtx([], DummyDomain()), "pip install 'nvtx<0.2.12'"), (None, "nvtx is not installed")],
)
def test_dropped_ranges_are_told(
    library: ModuleType | None, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under a tool that would see no range, a message says so; without a tool there is none."""
    monkeypatch.setitem(sys.modules, "nvtx", library)
    monkeypatch.delenv(INJECTION, raising=False)
    said: list[str] = []
    pusher(said.append)
    assert [] == said
    monkeypatch.setenv(INJECTION, "/some/library.so")
    pusher(said.append)

    assert [True] == [told in one for one in said]


def test_without_a_tool_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nvtx is missing, pushing and popping do nothing."""
    monkeypatch.setitem(sys.modules, "nvtx", None)
    monkeypatch.delenv(INJECTION, raising=False)
    push, pop, maker = pusher()

    assert (None, None, "none") == (push("x"), pop(), maker)
