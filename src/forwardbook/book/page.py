"""A page: its name, front matter and blocks in, the text of the file with its checksum out."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from forwardbook.book.blocks import Block, markdown

Value = str | int | bool | Mapping[str, str]
_PLAIN_KEY = re.compile(r"[a-z_]+")
_HEAD = re.compile(r"\A---\nchecksum: \"sha256:([0-9a-f]{64})\"\n")


@dataclass(frozen=True, slots=True)
class Page:
    """One file of the book; `front_matter` gets `checksum` as its first key."""

    name: str
    front_matter: Mapping[str, Value] = field(default_factory=dict)
    blocks: tuple[Block, ...] = ()

    def markdown(self) -> str:
        """The whole file."""
        rest = f"{_front_matter(self.front_matter)}---\n\n{markdown(self.blocks)}\n"
        return f'---\nchecksum: "sha256:{_digest(rest)}"\n{rest}'


def is_untouched(text: str) -> bool | None:
    """Whether a page is as it was written; None where it has no checksum, thus is none of ours."""
    found = _HEAD.match(text)
    return None if found is None else found[1] == _digest(text[found.end() :])


def page_name(path: str) -> str:
    """The file name of a source file's page: `trt_cnclip_min.py` becomes `trt-cnclip-min.md`.

    >>> page_name("experiments/trt_CNClip_min.py"), page_name("pkg/__init__.py"), page_name("conf/a.b.yaml")
    ('trt-cnclip-min.md', 'init.md', 'a-b-yaml.md')
    """
    stem, dot, suffix = path.rpartition("/")[2].rpartition(".")
    stem = stem if dot and suffix in _SOURCE_SUFFIXES and stem else path.rpartition("/")[2]
    return f"{hyphenated(stem) or 'file'}.md"


def hyphenated(name: str) -> str:
    """The name in lowercase with hyphens between its words."""
    return re.sub(r"[\W_]+", "-", name.lower()).strip("-")


_SOURCE_SUFFIXES = frozenset({"py", "pyi", "c", "cc", "cpp", "cxx", "cu", "cuh", "h", "hpp", "hh", "ipynb"})


def _digest(rest: str) -> str:
    return hashlib.sha256(rest.encode("utf-8", "surrogatepass")).hexdigest()


def _front_matter(values: Mapping[str, Value]) -> str:
    lines: list[str] = []
    for key, value in values.items():
        if isinstance(value, Mapping):
            lines.append(f"{_key(key)}:" + ("" if value else " {}"))
            lines += [f"  {json.dumps(inner)}: {json.dumps(text)}" for inner, text in value.items()]
        else:
            lines.append(f"{_key(key)}: {json.dumps(value)}")
    return "".join(f"{line}\n" for line in lines)


def _key(key: str) -> str:
    return key if _PLAIN_KEY.fullmatch(key) else json.dumps(key)
