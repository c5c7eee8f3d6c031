"""Any package of modules in: each class built by what its package tells of it, inputs tried, ways out."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from forwardbook.analyzers.instances.adapters.adapter import Called, Way
from forwardbook.analyzers.instances.adapters.holders import holder_modules
from forwardbook.analyzers.instances.adapters.trials import Running, on_meta, search

if TYPE_CHECKING:
    from torch import nn

_TESTS = ("test", "tests", "testing", "conftest", "setup", "benchmarks", "examples", "scripts")
ELSEWHERE = 40.0
"""Seconds of processor time for looking at other modules on behalf of one unit."""
HOLDERS = 12
"""Classes of other modules that are tried on behalf of one unit."""


@dataclass(frozen=True)
class PlainAdapter:
    """The classes of a package about which nothing is known but what they say themselves."""

    library: str
    called: Called = on_meta
    """How trials are run."""
    exceptions: dict[str, str] = field(default_factory=dict)

    def reads(self, module: str) -> bool:
        """All modules, those of tests and scripts apart."""
        return not any(part in _TESTS or part.startswith("test_") for part in module.split(".")[1:])

    def unit(self, module: str) -> str:
        """The file."""
        return module

    def models(self, modules: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """None: there is no word for sorts of models."""
        return {}

    def ways(self, modules: Sequence[str], missing: Collection[str]) -> Iterator[Way]:
        """Each class by itself, in its own constructor's names, small ones first; then in what holds it."""
        mine = sorted(name for name in missing if name.rpartition(".")[0] in modules)
        running: list[tuple[str, Running]] = []
        for name in mine:
            try:
                one = search(_imported(name), self.library, self.called)
            except (Exception, SystemExit) as error:  # somebody else's constructor raises anything
                yield Way(_short(name), frozenset({name}), problem=error)
                continue
            running.append((name, one))
        running.sort(key=lambda one: len(one[1].called))
        for name, one in running:
            if name in missing and name in one.called:
                yield Way(_short(name), frozenset({name}), one.recipe)
        for name, one in running:
            held = one.called & frozenset(missing)
            if held:
                yield Way(_short(name), held, one.recipe)
        if missing:
            yield from self._elsewhere(missing)

    def _elsewhere(self, missing: Collection[str]) -> Iterator[Way]:
        """Classes of other modules that call some that are missing."""
        end = time.process_time() + ELSEWHERE
        tried = 0
        for _, classes in holder_modules(self.library, missing):
            for name in classes:
                if not missing or tried == HOLDERS or time.process_time() > end:
                    return
                try:
                    one = search(_imported(name), self.library, self.called)
                except (Exception, SystemExit):  # no holder, or one that nobody can build
                    continue
                tried += 1
                held = one.called & frozenset(missing)
                if held:
                    yield Way(_short(name), held, one.recipe)


def _short(name: str) -> str:
    return name.rpartition(".")[2]


def _imported(full_name: str) -> type[nn.Module]:
    from forwardbook.analyzers.instances.imports import import_class

    return import_class(full_name)
