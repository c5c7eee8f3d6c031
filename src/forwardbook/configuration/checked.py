"""A composed configuration in; the same as typed sections, or every problem with where it comes from, out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from pydantic import BaseModel, ValidationError

from forwardbook.configuration.composition import Composed, compose
from forwardbook.configuration.nearest import meant
from forwardbook.configuration.overrides import ConfigurationError, Override
from forwardbook.configuration.schema import FREE, Configuration
from forwardbook.configuration.search import SHIPPED

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

OWN = "conf"
NONE = "none"


def roots(folder: str | None, here: Path) -> list[Path]:
    """Where configurations are looked for: the user's folder, then the shipped one.

    Without a name `conf/` is taken where it is there; `none` takes the shipped one alone.

    Raises:
        ConfigurationError: for a folder that is not there.
    """
    if folder == NONE:
        return [SHIPPED]
    own = here / (folder or OWN)
    if own.is_dir():
        return [own, SHIPPED]
    if folder is not None:
        raise ConfigurationError(f"reading the configuration in {folder}: there is no such folder")
    return [SHIPPED]


def configured(
    searched: Sequence[Path], name: str = "config", overrides: Sequence[str | Override] = ()
) -> tuple[Composed, Configuration]:
    """The composed values and what they mean.

    Raises:
        ConfigurationError: for what cannot be composed, and for all that does not fit, with its origin.
    """
    composed = compose(searched, name, overrides, FREE, Configuration().model_dump(mode="json"))
    try:
        return composed, Configuration.model_validate(composed.resolved())
    except ValidationError as error:
        problems = [problem_line(one, composed) for one in error.errors()]
    aside = ""
    if len(searched) > 1 and any(str(searched[0]) in line for line in problems):
        aside = f"\n  {searched[0]} is read because it is there; --config-dir none leaves it aside"
    raise ConfigurationError("checking the configuration:\n  " + "\n  ".join(problems) + aside)


def problem_line(error: ErrorDetails, composed: Composed) -> str:
    """One line: the key, what is wrong, what was meant, and the file or override it comes from."""
    key = ".".join(str(part) for part in error["loc"])
    origin = composed.origin(key)
    if error["type"] == "extra_forbidden":
        return f"{key}: there is no such key{meant(key, keys_of(Configuration))} ({origin})"
    found = error["input"]
    context: dict[str, Any] = error.get("ctx", {})
    if error["type"] == "literal_error":
        options = [part.strip("'") for part in context["expected"].replace(" or ", ", ").split(", ")]
        near = meant(str(found), options)
        return f"{key}: {found!r} is none of {', '.join(options)}{near} ({origin})"
    if error["type"] == "tuple_type":
        return f"{key}: expected a list, such as [{found}], found {found!r} ({origin})"
    if error["type"] == "model_type":
        choice = f"; an option is {key.replace('.', '/')}={found}" if isinstance(found, str) else ""
        return f"{key}: expected a section, found {found!r}{choice} ({origin})"
    message = error["msg"].removeprefix("Input should be ").removeprefix("a ").removeprefix("valid ")
    return f"{key}: expected {message}, found {found!r} ({origin})"


def keys_of(kind: type[BaseModel], at: str = "") -> Iterator[str]:
    """Every dotted key of a section."""
    for name, field in kind.model_fields.items():
        key = f"{at}.{name}" if at else name
        yield key
        for part in (field.annotation, *get_args(field.annotation)):
            if isinstance(part, type) and issubclass(part, BaseModel):
                yield from keys_of(part, key)
