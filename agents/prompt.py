"""A role and its facts in, the rendered prompt out; its version changes whenever its template does."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import forwardbook.prompts
from forwardbook.errors import ForwardbookError

FOLDER: Final = Path(forwardbook.prompts.__file__).parent
_SPLIT: Final = "=== the task ===\n"


class PromptError(ForwardbookError):
    """A template that is not there, or facts that it needs and did not get."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """`system` is the same for every task of a role, so that it can be cached; `text` holds the facts."""

    system: str
    text: str
    version: str

    @property
    def size(self) -> int:
        """Bytes on the wire."""
        return len(self.system.encode()) + len(self.text.encode())


def render(role: str, facts: Mapping[str, object]) -> Prompt:
    """The prompt of a role over facts; text of the facts is never read as a template."""
    from jinja2 import TemplateError

    try:
        whole = _template(role).render(**facts)
    except TemplateError as error:
        raise PromptError(f"rendering the prompt {role}: {error}; report this") from error
    system, found, text = whole.partition(_SPLIT)
    if not found:
        raise PromptError(f"rendering the prompt {role}: its template has no line {_SPLIT.strip()!r}")
    return Prompt(system.strip(), text.strip(), version(role))


@cache
def version(role: str) -> str:
    """The beginning of the digest of a template and of the parts that templates share."""
    shared = sorted(path for path in FOLDER.glob("_*.j2"))
    digest = hashlib.sha256()
    for path in (*shared, FOLDER / f"{role}.j2"):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def roles() -> tuple[str, ...]:
    """Every role that has a template."""
    return tuple(sorted(path.stem for path in FOLDER.glob("[!_]*.j2")))


@cache
def _template(role: str):  # type: ignore[no-untyped-def]
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        undefined=StrictUndefined,
        autoescape=False,  # the result is text for a model, not markup
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.policies["json.dumps_kwargs"] = {"sort_keys": True, "ensure_ascii": False}
    return environment.get_template(f"{role}.j2")
