"""How analysts reach a model: the user's own configuration file in, checked settings out."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from forwardbook.agents.tools import problems
from forwardbook.errors import ForwardbookError

Backend = Literal["static", "api", "sdk", "replay"]
KEY: Final = "ANTHROPIC_API_KEY"
MODEL: Final = "claude-sonnet-5-5"


class SettingsError(ForwardbookError):
    """A configuration that cannot be followed; the message says where it is and what was expected."""


class Documentation(BaseModel):
    """A server of the Model Context Protocol that the page writer may ask; never one of the analysed code."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    command: str = ""
    args: tuple[str, ...] = ()
    url: str = ""
    env: dict[str, str] = Field(default_factory=dict)
    tools: tuple[str, ...] = Field(min_length=1)


class Settings(BaseModel):
    """The table `[agents]` of the configuration; what the environment says counts for the key alone."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    analyst: Backend = "static"
    model: str = MODEL
    max_cost: float | None = Field(default=5.0, ge=0)
    base_url: str = "https://api.anthropic.com"
    proxy: str = ""
    ca_file: str = ""
    at_once: int = Field(default=8, ge=1, le=64)
    max_tokens: int = Field(default=8000, ge=256, le=64_000)
    turns: int = Field(default=16, ge=2, le=64)
    retries: int = Field(default=3, ge=0, le=8)
    seconds: dict[str, float] = Field(default_factory=dict)
    """Per role; what is not said is 600 for analysis and architecture, 300 for what is generated."""
    request_seconds: float = Field(default=300.0, gt=0)
    batch_poll: float = Field(default=30.0, gt=0)
    """Seconds between two looks at a batch."""
    record: bool = True
    documentation: dict[str, Documentation] = Field(default_factory=dict)


def config_path() -> Path:
    """The user's own configuration file, beside which nothing of an analysed repository lies."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    return (Path(base) if base else Path.home() / ".config") / "forwardbook" / "config.toml"


def load_settings(path: Path | None = None) -> Settings:
    """The settings of the user; the defaults where there is no file.

    Raises:
        SettingsError: the file is no TOML or says what is not understood.
    """
    path = path or config_path()
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8-sig")).get("agents", {})
    except FileNotFoundError:
        return Settings()
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"reading the configuration {path}: {error}") from error
    try:
        return Settings.model_validate(table)
    except ValidationError as error:
        raise SettingsError(f"reading [agents] in {path}: {problems(error)}") from error


def api_key() -> str:
    """The key of the environment; asking for it is what the user did who chose a live analyst.

    Raises:
        SettingsError: there is none.
    """
    key = os.environ.get(KEY, "").strip()
    if not key:
        raise SettingsError(f"asking a model: no key is set. Put it into the environment as {KEY}")
    return key
