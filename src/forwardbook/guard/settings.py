"""The text of a pyproject.toml in; out what its `[tool.forwardbook]` says: tolerance, sizes, budgets."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from forwardbook.errors import ForwardbookError
from forwardbook.guard.budget import Budget, parse_budget

_KNOWN = {"tolerance", "sizes", "budgets"}


class SettingsError(ForwardbookError):
    """The table `[tool.forwardbook]` says something that is not understood; every problem is listed."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a project asks of its guard."""

    tolerance: Fraction = Fraction(0)
    sizes: Mapping[str, int] = field(default_factory=dict)
    class_sizes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    budgets: tuple[Budget, ...] = ()

    def sizes_of(self, full_class_name: str, key: str = "") -> dict[str, int]:
        """The reference sizes of a class: those for all, and over them those under its name."""
        found = dict(self.sizes)
        for name, sizes in self.class_sizes.items():
            if is_named(full_class_name, name) or name == key:
                found |= sizes
        return found


def is_named(full_class_name: str, name: str) -> bool:
    """Whether a name means a class: its own, its full one, or package and class without what is between."""
    package, _, class_name = name.rpartition(".")
    own_package, _, own = full_class_name.rpartition(".")
    if own != class_name:
        return False
    return not package or own_package == package or own_package.startswith(f"{package}.")


def read_settings(folder: Path) -> Settings:
    """The settings in the nearest pyproject.toml upward; the defaults where there is none.

    Raises:
        SettingsError: with every problem of the table.
    """
    for place in (folder.resolve(), *folder.resolve().parents):
        path = place / "pyproject.toml"
        if path.is_file():
            try:
                return settings_of(path.read_text(encoding="utf-8-sig"), str(path))
            except (OSError, UnicodeDecodeError) as error:
                raise SettingsError(f"reading {path}: {error}") from error
    return Settings()


def settings_of(text: str, origin: str) -> Settings:
    """The settings in the text of a pyproject.toml."""
    try:
        table = tomllib.loads(text).get("tool", {}).get("forwardbook", {})
    except (tomllib.TOMLDecodeError, AttributeError) as error:
        raise SettingsError(f"reading {origin}: it is not TOML as a pyproject.toml is: {error}") from error
    problems: list[str] = []
    if not isinstance(table, dict):
        raise SettingsError(f"reading {origin}: [tool.forwardbook] must be a table, found {table!r}")
    problems += [
        f"{name}: not known; known are {', '.join(sorted(_KNOWN))}" for name in table if name not in _KNOWN
    ]
    tolerance = _tolerance(table.get("tolerance", 0), problems)
    sizes, class_sizes = _sizes(table.get("sizes", {}), problems)
    budgets = _budgets(table.get("budgets", {}), problems)
    if problems:
        lines = "".join(f"\n  {line}" for line in problems)
        raise SettingsError(f"reading [tool.forwardbook] of {origin}:{lines}")
    return Settings(tolerance, sizes, class_sizes, budgets)


def parse_tolerance(text: str) -> Fraction:
    """`2%`, `2 %` or `0.02` as an exact fraction of the cost before.

    Raises:
        SettingsError: for anything else, and below 0.
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?|\.\d+)\s*(%?)\s*", text)
    if not found:
        raise SettingsError(f"the tolerance {text!r}: a share of the cost was expected, such as 2% or 0.02")
    return Fraction(found[1]) / (100 if found[2] else 1)


def _tolerance(value: object, problems: list[str]) -> Fraction:
    try:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise SettingsError(f"the tolerance {value!r}: a share was expected, such as '2%' or 0.02")
        return parse_tolerance(str(value))
    except SettingsError as error:
        problems.append(str(error))
        return Fraction(0)


def _sizes(value: object, problems: list[str]) -> tuple[dict[str, int], dict[str, dict[str, int]]]:
    general: dict[str, int] = {}
    by_class: dict[str, dict[str, int]] = {}
    if not isinstance(value, dict):
        problems.append(f"sizes: a table of names and whole numbers was expected, found {value!r}")
        return general, by_class
    for name, size in value.items():
        if isinstance(size, dict):
            by_class[name] = {}
            for inner, number in size.items():
                _size(by_class[name], f"{name}.{inner}", inner, number, problems)
        else:
            _size(general, name, name, size, problems)
    return general, by_class


def _size(into: dict[str, int], place: str, name: str, value: object, problems: list[str]) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        problems.append(f"sizes.{place}: a whole number from 0 on was expected, found {value!r}")
    else:
        into[name] = value


def _budgets(value: object, problems: list[str]) -> tuple[Budget, ...]:
    if not isinstance(value, dict):
        problems.append(f"budgets: a table of classes was expected, found {value!r}")
        return ()
    found: list[Budget] = []
    for name, limits in value.items():
        if not isinstance(limits, dict):
            problems.append(
                f'budgets."{name}": {{quantity = "< number @ sizes"}} was expected, found {limits!r}'
            )
            continue
        for quantity, texts in limits.items():
            for text in texts if isinstance(texts, list) else [texts]:
                try:
                    found.append(parse_budget(name, quantity, text))
                except ForwardbookError as error:
                    problems.append(str(error))
    return tuple(found)
