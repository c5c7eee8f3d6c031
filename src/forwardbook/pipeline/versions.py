"""A library in, the versions out that a formula of it depends on, without importing anything."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

from forwardbook.analyzers.ops import RULES_VERSION


def current_versions(library: str) -> dict[str, str]:
    """Of Python, torch, the library if it is a distribution, and our cost rules."""
    names = dict.fromkeys(("python", "torch", library, "rules"))
    found = ((name, _version(name)) for name in names)
    return {name: text for name, text in found if text}


def differing(recorded: Mapping[str, str], rules: str) -> list[str]:
    """What is another version now; `rules` stands in for an entry that names no version of the rules."""
    recorded = {"rules": rules} | dict(recorded)
    return [name for name, text in recorded.items() if text and not _same(text, _version(name))]


def _version(name: str) -> str:
    if name == "python":
        return f"{sys.version_info.major}.{sys.version_info.minor}"
    if name == "rules":
        return RULES_VERSION
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _same(recorded: str, now: str) -> bool:
    """Equal, a build label (`2.13.0+cpu`) and the patch level of Python apart."""
    recorded, now = recorded.partition("+")[0], now.partition("+")[0]
    return recorded == now or recorded.startswith(f"{now}.")
