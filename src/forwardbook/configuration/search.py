"""Folders in order of precedence in; the configuration files that they hold, read once, out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from forwardbook.configuration.overrides import ConfigurationError

if TYPE_CHECKING:
    from pydantic import JsonValue

SHIPPED = Path(__file__).resolve().parent.parent / "conf"
HEADER = re.compile(r"#\s*@package\s+(?P<package>[\w.]*)\s*")


@dataclass(frozen=True)
class ConfigFile:
    """One file: where it is, the package of its header, its defaults list, and the rest."""

    path: Path
    package: str | None
    defaults: tuple[JsonValue, ...] | None
    content: dict[str, JsonValue]


@dataclass
class SearchPath:
    """Folders with the same layout; the first that has a file wins, options of a group are those of all."""

    roots: Sequence[Path]
    known: dict[str, ConfigFile | None] = field(default_factory=dict)

    def load(self, name: str) -> ConfigFile | None:
        """The file of `group/option`; None where no folder has it.

        Raises:
            ConfigurationError: for a file that is no YAML mapping.
        """
        if name not in self.known:
            paths = (root / f"{name}.yaml" for root in self.roots)
            found = next((path for path in paths if path.is_file()), None)
            self.known[name] = read_config(found) if found is not None else None
        return self.known[name]

    def is_group(self, name: str) -> bool:
        """Whether some folder has a folder of that name."""
        return bool(name) and any((root / name).is_dir() for root in self.roots)

    def options(self, group: str) -> list[str]:
        """Names of the files of a group."""
        found = {path.stem for root in self.roots for path in (root / group).glob("*.yaml")}
        return sorted(found)

    def groups(self) -> list[str]:
        """Every folder below the roots that holds a file."""
        found = {
            path.parent.relative_to(root).as_posix() for root in self.roots for path in root.rglob("*.yaml")
        }
        return sorted(found - {"."})

    def unknown_option(self, group: str, option: str) -> ConfigurationError:
        """What to say where a group has no such option."""
        options = self.options(group)
        near = get_close_matches(option, options, 1, 0.5)
        meant = f"; did you mean {group}={near[0]}?" if near else ""
        told = ", ".join(options) or "none"
        return ConfigurationError(
            f"choosing {group}={option}: there is no such option{meant} There are: {told}"
        )


def read_config(path: Path) -> ConfigFile:
    """One file, by OmegaConf's reading of YAML: keys of a mapping are told twice by nobody.

    Raises:
        ConfigurationError: where it cannot be read, is no YAML, or no mapping.
    """
    import yaml  # type: ignore[import-untyped]

    from forwardbook.configuration.yaml_text import read_yaml

    try:
        text = path.read_text(encoding="utf-8-sig")
        values = read_yaml(text)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        told = " ".join(str(error).split())
        raise ConfigurationError(f"reading {path}: {told}") from None
    values = {} if values is None else values
    if not isinstance(values, dict) or not all(isinstance(key, str) for key in values):
        raise ConfigurationError(f"reading {path}: expected names with values, found {type(values).__name__}")
    defaults = values.pop("defaults", None)
    if defaults is not None and not isinstance(defaults, list):
        raise ConfigurationError(f"reading {path}: `defaults` must be a list of `- group: option`")
    return ConfigFile(path, _header(text), None if defaults is None else tuple(defaults), values)


def _header(text: str) -> str | None:
    """The package named in comments at the very top, absolute; a comment of words ends them, as in Hydra."""
    for line in filter(None, (line.strip() for line in text.splitlines())):
        if found := HEADER.fullmatch(line):
            return found["package"]
        if not re.match(r"#\s*@", line):
            return None
    return None
