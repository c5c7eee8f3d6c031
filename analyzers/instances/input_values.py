"""What a person wrote after `--input` in; out what it says: a tensor's shape, a number, a word, a list.

`batch_size,seq_len:int64` is a tensor, and so is `tokens,` of one dimension. `4`, `0.5`, `True`, `None` and
`'mean'` are these values. `start_pos`, without a comma, is a whole number that stays a size. `[a; b]` is a
list of such values and `(a; b)` a tuple.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

CONSTANTS: Final[dict[str, object]] = {"None": None, "True": True, "False": False}
DTYPES: Final = (
    *("float16", "bfloat16", "float32", "float64", "complex64"),
    *("int8", "int16", "int32", "int64", "uint8", "bool"),
)
_OPEN, _CLOSE = "[(", "])"
_ARITHMETIC = (ast.Expression, ast.BinOp, ast.Name, ast.Constant, ast.Load)
_SIGNS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.UnaryOp, ast.USub)


@dataclass(frozen=True)
class Shape:
    """A tensor: an expression of sizes for each dimension, and its dtype where that is said."""

    dims: tuple[str, ...]
    dtype: str = ""


@dataclass(frozen=True)
class Size:
    """A whole number that is made of names: `start_pos`, `seq_len - 1`."""

    text: str


@dataclass(frozen=True)
class Plain:
    """A number, a word, True, False or None."""

    value: object


@dataclass(frozen=True)
class Items:
    """A list, or a tuple, of values."""

    items: tuple[Value, ...]
    is_tuple: bool = False


Value = Shape | Size | Plain | Items


def read_value(text: str, words: bool = False) -> Value:
    """What a text says; with `words` a single name is itself, a string.

    Raises:
        ValueError: says what of the text cannot be read.
    """
    text = text.strip()
    if text in CONSTANTS:
        return Plain(CONSTANTS[text])
    if text[:1] in ("'", '"'):
        try:
            return Plain(ast.literal_eval(text))
        except SyntaxError:
            raise ValueError(f"{text} is no string") from None
    inside = _bracketed(text)
    if inside is not None and (items := _items(text, inside)) is not None:
        return Items(tuple(read_value(item, words) for item in items), text[0] == "(")
    dims, colon, dtype = text.partition(":")
    parts = _parts(dims, ",")
    if colon or len(parts) > 1:
        return _shape(parts, dtype.strip())
    if words and text.isidentifier():
        return Plain(text)
    number = _number(text)
    return Size(_arithmetic(text)) if number is None else Plain(number)


def names_in(value: Value) -> Iterator[str]:
    """The names of the sizes that a value is made of, in order."""
    for text in _texts(value):
        names = [node for node in ast.walk(ast.parse(text, mode="eval")) if isinstance(node, ast.Name)]
        yield from (node.id for node in sorted(names, key=lambda node: node.col_offset))


def dimension_names(value: Value) -> Iterator[str]:
    """Those of its tensors."""
    if isinstance(value, Shape):
        yield from names_in(value)
    elif isinstance(value, Items):
        for item in value.items:
            yield from dimension_names(item)


def fixed_by(
    values: Mapping[str, Value], texts: Mapping[str, str], known: Collection[str] = ()
) -> tuple[str, ...]:
    """What a formula does not tell of its call: numbers, lists, and sizes that are no names of their own.

    `known` are the sizes of the constructor."""
    every = [name for value in values.values() for name in names_in(value)]

    def is_told(value: Value) -> bool:
        if isinstance(value, Plain):
            return value.value is None or isinstance(value.value, bool | str)
        if isinstance(value, Size):
            return every.count(value.text) == 1 and value.text not in known
        return isinstance(value, Shape) and all(text.isidentifier() for text in value.dims)

    return tuple(f"{name}={texts[name]}" for name, value in values.items() if not is_told(value))


def _items(text: str, inside: str) -> list[str] | None:
    """The texts of the elements; None for an expression in brackets."""
    items = _parts(inside, ";")
    if len(items) == 1 and len(_parts(inside, ",")) > 1:
        a, b = text[0], text[-1]
        raise ValueError(
            f"elements of a list or tuple are separated by ;: {a}4; 4{b} is two numbers, "
            f"{a}{inside.rstrip(', ')};{b} one tensor of that shape"
        )
    if text[0] == "(" and len(items) == 1:
        return None
    return [item for item in items if item]


def _texts(value: Value) -> Iterator[str]:
    if isinstance(value, Size):
        yield value.text
    elif isinstance(value, Shape):
        yield from value.dims
    elif isinstance(value, Items):
        for item in value.items:
            yield from _texts(item)


def _shape(parts: list[str], dtype: str) -> Shape:
    if parts[-1] == "":  # a comma may follow the last dimension
        parts = parts[:-1]
    if "" in parts:
        raise ValueError("a dimension is missing between two commas")
    if dtype and dtype not in DTYPES:
        raise ValueError(f"{dtype!r} is no dtype; there are {', '.join(DTYPES)}")
    return Shape(tuple(map(_arithmetic, parts)), dtype)


def _arithmetic(text: str) -> str:
    """The text, where it is a whole number made of names, numbers, + - * and //."""
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError):
        tree = None
    if tree is None or not all(map(_is_arithmetic, ast.walk(tree))):
        raise ValueError(f"{text!r} is no whole number made of names, numbers, + - * and //")
    return text


def _is_arithmetic(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return type(node.value) is int
    return isinstance(node, (*_ARITHMETIC, *_SIGNS))


def _number(text: str) -> int | float | None:
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return None
    return value if type(value) in (int, float) else None


def _bracketed(text: str) -> str | None:
    """What is inside, where one pair of brackets holds the whole text."""
    if not (text and text[0] in _OPEN and text[-1] == _CLOSE[_OPEN.index(text[0])]):
        return None
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter in _OPEN) - (letter in _CLOSE)
        if depth == 0 and place < len(text) - 1:
            return None
    return text[1:-1]


def _parts(text: str, mark: str) -> list[str]:
    """The text split at a mark, brackets apart."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter in _OPEN) - (letter in _CLOSE)
        if letter == mark and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [one.strip() for one in found]
