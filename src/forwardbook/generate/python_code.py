"""Formulas as Python: text of the formula language in, an expression of plain integer arithmetic out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from forwardbook.errors import FormulaError
from forwardbook.formula.limits import MAX_DIGITS

_TOKEN: Final = re.compile(
    r"\s*(?:\{(?P<symbol>[A-Za-z_][A-Za-z0-9_.]*)\}|(?P<number>[0-9]+)|(?P<function>ceil|floor|min|max)\b"
    r"|(?P<sign>//|==|!=|<=|>=|[-+*/%(),<>]))",
    re.ASCII,
)
_COMPARISONS: Final = frozenset({"==", "!=", "<", "<=", ">", ">="})
# min and max of Python do not work on arrays
_EXTREMES: Final = {"min": "least", "max": "greatest"}


def python_expression(formula: str, names: Mapping[str, str]) -> str:
    """The formula as Python; a name stands under its Python name, and `ceil(a / b)` becomes `-(-a // b)`."""
    with _within_limits(formula):
        translation = _Translation(formula, names)
        text = translation.sum()
        translation.finish()
    return text


def python_condition(condition: str, names: Mapping[str, str]) -> str:
    """The condition as a Python comparison."""
    with _within_limits(condition):
        translation = _Translation(condition, names)
        left = translation.sum()
        comparison = translation.take()
        if comparison not in _COMPARISONS:
            raise translation.error("a comparison")
        text = f"{left} {comparison} {translation.sum()}"
        translation.finish()
    return text


@contextmanager
def _within_limits(text: str) -> Iterator[None]:
    """What is nested deeper than Python takes is refused."""
    try:
        yield
    except RecursionError:
        raise FormulaError(f"writing {text[:80]!r} as Python: it is nested too deep") from None


class _Translation:
    """A recursive descent over the tokens; whatever is no formula is refused, so no other Python comes out.

    Python's precedences are those of the formula language, so only names, functions and numbers change.
    """

    def __init__(self, text: str, names: Mapping[str, str]) -> None:
        self._text = text
        self._names = names
        self._tokens = _tokens(text)
        self._next = 0

    def peek(self) -> str:
        """The next token, empty at the end."""
        return self._tokens[self._next]

    def take(self) -> str:
        """The next token, passed over."""
        token = self.peek()
        self._next = min(self._next + 1, len(self._tokens) - 1)
        return token

    def error(self, expected: str) -> FormulaError:
        """What was expected after what was read."""
        read = " ".join(self._tokens[: self._next])
        return FormulaError(
            f"writing {self._text[:80]!r} as Python: {expected} was expected, found {read[-40:]!r}"
        )

    def finish(self) -> None:
        """Refuse anything left over."""
        if self.peek():
            self.take()
            raise self.error("the end")

    def sum(self) -> str:
        """Products, added and subtracted."""
        text = self._product()
        while self.peek() in ("+", "-"):
            text = f"{text} {self.take()} {self._product()}"
        return text

    def _product(self) -> str:
        text = self._signed()
        while self.peek() in ("*", "//", "%"):
            text = f"{text} {self.take()} {self._signed()}"
        return text

    def _signed(self) -> str:
        if self.peek() in ("+", "-"):
            sign = self.take()
            value = self._signed()
            return value if sign == "+" else f"-({value})" if value.startswith("-") else f"-{value}"
        return self._unit()

    def _unit(self) -> str:
        token = self.take()
        if token.startswith("{"):
            return self._names[token[1:-1]]
        if token.isdigit():
            if len(token) > MAX_DIGITS:
                raise FormulaError(f"writing {self._text[:80]!r} as Python: a number of {len(token)} digits")
            return str(int(token))
        if token == "(":
            text = f"({self.sum()})"
            self._expect(")")
            return text
        if token in ("ceil", "floor"):
            return self._rounded(token)
        if token in _EXTREMES:
            return self._extreme(token)
        raise self.error("a number, a {name}, a function or a parenthesis")

    def _rounded(self, function: str) -> str:
        self._expect("(")
        value = self.sum()
        if self.peek() == "/":
            self.take()
            divisor = self._signed()
            # a minus binds tighter than * and //: of a product of plain factors it may stand before the first
            plain = "//" not in value and "%" not in value and "+" not in value and "-" not in value
            inner = value if plain else f"({value})"
            value = f"-(-{inner} // {divisor})" if function == "ceil" else f"{inner} // {divisor}"
        self._expect(")")
        return f"({value})"

    def _extreme(self, function: str) -> str:
        self._expect("(")
        values = [self.sum()]
        while self.peek() == ",":
            self.take()
            values.append(self.sum())
        self._expect(")")
        return f"{_EXTREMES[function]}({', '.join(values)})" if len(values) > 1 else f"({values[0]})"

    def _expect(self, token: str) -> None:
        if self.take() != token:
            raise self.error(repr(token))


def _tokens(text: str) -> list[str]:
    found: list[str] = []
    place, end = 0, len(text.rstrip())
    while place < end:
        match = _TOKEN.match(text, place)
        if match is None:
            raise FormulaError(
                f"{text[place]!r} at character {place} of {text[:80]!r} is not part of a formula"
            )
        found.append(match[0].strip())
        place = match.end()
    return [*found, ""]
