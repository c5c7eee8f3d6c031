"""Names that the database holds and that become Python source or a path: what each may be, as types.

A database may come from anybody. A value of these types is harmless wherever it is put, so nobody who uses
one checks it again.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Annotated, Final

from pydantic import AfterValidator

_LONGEST: Final = 500  # characters of a name
_LONGEST_FILE: Final = 200  # of a file name; file systems take 255 bytes, a temporary file needs some
_CLASS: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*Calculator", re.ASCII)
_FILE: Final = re.compile(r"[a-z0-9_]+\.py", re.ASCII)
_OF_PACKAGES: Final = ("__init__.py", "__main__.py")
_SYMBOL: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)*", re.ASCII)
_PLAIN: Final = re.compile(r"[A-Za-z0-9_.-]+", re.ASCII)
_REFUSED: Final = frozenset("/\\\"'`<>|*?:$;{}\t\r\n")  # of paths, of shells, of quoted text


def is_key(text: str) -> bool:
    """Whether a text may be the key of an entry, which becomes the name of a page or of diagnostics."""
    return _is_name(text) and not text.startswith(".")


def is_symbol(text: str) -> bool:
    """Whether a text may be a name of the formula language."""
    return len(text) <= _LONGEST and _SYMBOL.fullmatch(text) is not None


def _is_name(text: str) -> bool:
    return 0 < len(text) <= _LONGEST and (
        _PLAIN.fullmatch(text) is not None
        or not any(one in _REFUSED or unicodedata.category(one)[0] in "CZ" and one != " " for one in text)
    )


def _key(text: str) -> str:
    if not is_key(text):
        raise ValueError("not a key: neither a path, nor quotes, nor control characters may be in it")
    return text


def _plain(text: str) -> str:
    if not _is_name(text) or "." in text:
        raise ValueError("not the name of a package or module")
    return text


def _dotted(text: str) -> str:
    *modules, name = text.split(".")
    if not (_is_name(text) and modules and all(part.strip() for part in modules) and name.isidentifier()):
        raise ValueError("not a dotted name, such as package.module.Class")
    return text


def _class(text: str) -> str:
    if text and not (len(text) <= _LONGEST and _CLASS.fullmatch(text)):
        raise ValueError("not an ASCII name that ends with Calculator")
    return text


def _file(text: str) -> str:
    plain = len(text) <= _LONGEST_FILE and _FILE.fullmatch(text) and text not in _OF_PACKAGES
    if text and not plain:
        raise ValueError("not the bare name of a Python file, such as package_class.py")
    return text


def _symbol(text: str) -> str:
    if not is_symbol(text):
        raise ValueError("not a name of the formula language, such as hidden_size or text_config.hidden_size")
    return text


def _source(text: str) -> str:
    parts = text.split("/")
    odd = any(one == "\\" or unicodedata.category(one) in ("Cc", "Cs") for one in text)
    if odd or ".." in parts or not parts[0] or parts[0].endswith(":"):
        raise ValueError("not a path below a folder, with / between its parts")
    return text


ClassName = Annotated[str, AfterValidator(_class)]
"""Of a generated class: an ASCII identifier that ends with `Calculator`; empty where there is none."""
FileName = Annotated[str, AfterValidator(_file)]
"""Of a generated file: bare, `[a-z0-9_]+` and `.py`; empty where there is none."""
DottedName = Annotated[str, AfterValidator(_dotted)]
"""Of a class: its module path and its name."""
PlainName = Annotated[str, AfterValidator(_plain)]
"""Of a package or module, without a dot."""
Key = Annotated[str, AfterValidator(_key)]
"""Of an entry."""
SourceFile = Annotated[str, AfterValidator(_source)]
"""Of a source: a path that stays below the folder that it is relative to."""
Symbol = Annotated[str, AfterValidator(_symbol)]
"""Of the formulas."""
