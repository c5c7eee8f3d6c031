"""Where the program of the SDK runs: a temporary folder for all it writes, and a clean environment."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from forwardbook.agents.settings import Settings

KEPT: Final = frozenset({"PATH", "LANG", "LC_ALL", "TZ"})
"""All that is inherited; everything else in the environment may change what is sent, or to whom."""


@dataclass(frozen=True, slots=True)
class Box:
    """A folder with an empty working directory in it."""

    root: Path

    @property
    def work(self) -> Path:
        """The working directory: no source, no settings, no instructions lie there."""
        return self.root / "work"


@contextmanager
def box() -> Iterator[Box]:
    """A fresh box, gone afterwards with all that was written into it."""
    with tempfile.TemporaryDirectory(prefix="forwardbook-agent-", ignore_cleanup_errors=True) as name:
        made = Box(Path(name))
        for folder in ("work", "home", "config", "cache", "data", "state", "tmp"):
            (made.root / folder).mkdir(mode=0o700)
        yield made


def environment(
    made: Box, settings: Settings, key: str, max_tokens: int, inherited: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The variables of the program: an inherited one counts as unset, because options can only add."""
    inherited = os.environ if inherited is None else inherited
    root = made.root
    own = {
        "HOME": str(root / "home"),
        "CLAUDE_CONFIG_DIR": str(root / "config"),
        "XDG_CONFIG_HOME": str(root / "config"),
        "XDG_CACHE_HOME": str(root / "cache"),
        "XDG_DATA_HOME": str(root / "data"),
        "XDG_STATE_HOME": str(root / "state"),
        "TMPDIR": str(root / "tmp"),
        "ANTHROPIC_API_KEY": key,
        "ANTHROPIC_BASE_URL": settings.base_url,
        "API_TIMEOUT_MS": str(int(settings.request_seconds * 1000)),
        "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(max_tokens),
        "CLAUDE_CODE_MAX_RETRIES": str(settings.retries),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK": "1",  # a cut stream would be asked and paid for twice
        "CLAUDE_CODE_DISABLE_REFUSAL_RETRY": "1",
        "CLAUDE_CODE_DISABLE_REFUSAL_FALLBACK": "1",
        "DISABLE_AUTO_COMPACT": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_AUTOUPDATER": "1",
    }
    if settings.proxy:
        own |= {"HTTPS_PROXY": settings.proxy, "HTTP_PROXY": settings.proxy}
    if settings.ca_file:
        own["NODE_EXTRA_CA_CERTS"] = settings.ca_file
    blank = {name: "" for name in inherited if name not in KEPT}
    return blank | own
