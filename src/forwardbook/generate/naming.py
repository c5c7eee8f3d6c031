"""Names of generated things: keys, symbols and regimes in, file, class and Python names out."""

from __future__ import annotations

import keyword
import re
from collections.abc import Container, Iterable, Mapping
from typing import Final

from forwardbook.schema import Entry, snake_case

_CLASSES = ("LineCost", "Own", "Call", "Definition")
_RESERVED = frozenset({"greatest", "least", "int", "bool", "tuple", "_", *_CLASSES})
_LONGEST: Final = 180  # characters of a module's name, its number aside


def with_generated_names(key: str, entry: Entry, others: Mapping[str, Entry]) -> Entry:
    """The entry with the names of its file and class, other than those of the other entries."""
    files = (other.generated_file_name for name, other in others.items() if name != key)
    module = module_name(key, {file.removesuffix(".py") for file in files})
    names = {
        "generated_file_name": f"{module}.py",
        "generated_class_name": calculator_class(entry.class_name),
    }
    return entry.model_copy(update=names)


def module_name(key: str, taken: Container[str]) -> str:
    """A name for the module of a key's calculator, with a number where others have it already."""
    stem = re.sub(r"[^a-z0-9_]", "_", snake_case(key))[:_LONGEST]
    name, number = stem, 2
    while name in taken:
        name, number = f"{stem}_{number}", number + 1
    return name


def calculator_name(entry: Entry) -> str:
    """The name of the class of the entry's calculator: the one it has, else that which it would get."""
    return entry.generated_class_name or calculator_class(entry.class_name)


def calculator_class(class_name: str) -> str:
    """The name of the calculator of a class, in ASCII."""
    return f"{re.sub('[^A-Za-z0-9_]', '_', class_name)}Calculator"


def python_names(symbols: Iterable[str]) -> dict[str, str]:
    """A Python name for each symbol, different for different symbols; most are their own."""
    found: dict[str, str] = {}
    for symbol in sorted(symbols, key=lambda name: ("." in name, name)):
        name = symbol.replace(".", "_")
        while keyword.iskeyword(name) or name in _RESERVED or name in found.values():
            name += "_"
        found[symbol] = name
    return found


def regime_class_names(regimes: Iterable[str]) -> list[str]:
    """A class name for each regime: `low precision` becomes `LowPrecisionRegime`."""
    found: list[str] = []
    for regime in regimes:
        words = re.findall(r"[A-Za-z0-9]+", regime)
        stem = "".join(word[:1].upper() + word[1:] for word in words)
        name = f"{'' if stem[:1].isalpha() else 'The'}{stem}Regime"
        number = 2
        while name in found:
            name, number = f"{name.removesuffix(str(number - 1))}{number}", number + 1
        found.append(name)
    return found
