"""The nouns of this room: an adapter knows one library, a way builds a module that calls classes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from forwardbook.analyzers.instances.recipe import Recipe

Called = Callable[[Recipe], list[str]]
"""Runs a recipe at its hints; the full names of the classes that were called. Raises what that raises."""


@dataclass(frozen=True)
class Way:
    """One attempt: a recipe and the wanted classes in its tree, or the problem that kept it from that."""

    name: str
    holds: frozenset[str]
    recipe: Recipe | None = None
    problem: BaseException | None = field(default=None, compare=False)
    kind: str = ""
    """What the library calls a model of this sort (a model type); empty where it has no such word."""


class Adapter(Protocol):
    """What the catalogue must know of a library."""

    @property
    def exceptions(self) -> dict[str, str]:
        """Classes that cannot be called by themselves or at all, by full name, each with its reason."""
        ...

    def reads(self, module: str) -> bool:
        """Whether a module's classes belong to the catalogue."""
        ...

    def unit(self, module: str) -> str:
        """The modules that are worked on together, as the name of what they have in common."""
        ...

    def models(self, modules: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """The models of the modules, full names, by the library's word for their sort, if it has one."""
        ...

    def ways(self, modules: Sequence[str], missing: Collection[str]) -> Iterator[Way]:
        """Ways to reach classes of the modules, likeliest first.

        `missing` is a live view: what a way reached is no longer in it when the next is asked for.
        """
        ...
