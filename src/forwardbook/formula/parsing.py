"""Turns text of the formula language into an expression, in bounded time and size, running no code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from forwardbook.errors import FormulaError
from forwardbook.formula.expr import Expr
from forwardbook.formula.limits import (
    MAX_ARGUMENTS,
    MAX_DEPTH,
    MAX_LITERAL,
    MAX_PARSED_WORK,
    MAX_TEXT,
    SHORT_TEXT,
)
from forwardbook.formula.work import WorkError, at_most, spend

_TOKEN = re.compile(
    r"\{[A-Za-z_][A-Za-z0-9_.]*\}|[0-9]+|ceil\b|floor\b|min\b|max\b|//|==|!=|<=|>=|[-+*/%(),<>]", re.ASCII
)
_SPACE = re.compile(r"[ \t\r\n]*")
_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})


def parse(text: str, exact: bool = False) -> Expr:
    """The expression that the text denotes; FormulaError says where it stops being a formula.

    With `exact`, `//` is a division without remainder, as `Expr.text` prints it; `floor(a / b)` still rounds.
    """
    parser = _Parser(text, exact)
    with _bounded(text):
        value = parser.sum()
        parser.finish()
    return value


def parse_comparison(text: str) -> tuple[Expr, str, Expr]:
    """The two expressions around the one comparison in the text."""
    parser = _Parser(text, exact=False)
    with _bounded(text):
        left = parser.sum()
        op = parser.take()
        if op not in _COMPARISONS:
            raise parser.error("a comparison")
        right = parser.sum()
        parser.finish()
    return left, op, right


@contextmanager
def _bounded(text: str) -> Iterator[None]:
    """What needs more steps than a text of this length may take is refused."""
    steps = MAX_PARSED_WORK * max(SHORT_TEXT, len(text)) // SHORT_TEXT
    try:
        with at_most(steps):
            yield
    except WorkError:
        raise FormulaError(f"{_brief(text)} needs more than {steps} steps to expand and simplify") from None


class _Parser:
    """A recursive descent over the tokens that counts depth."""

    def __init__(self, text: str, exact: bool) -> None:
        if not isinstance(text, str):
            raise FormulaError(f"a formula must be text, found {type(text).__name__}")
        if len(text) > MAX_TEXT:
            raise FormulaError(f"a formula of {len(text)} characters exceeds the limit of {MAX_TEXT}")
        self._text = text
        self._exact = exact
        self._tokens = _tokens(text)
        self._ends = _ends(self._tokens)
        self._known: dict[str, Expr] = {}
        self._next = 0
        self._depth = 0

    def peek(self) -> str:
        """The next token, empty at the end."""
        return self._tokens[self._next][0]

    def take(self) -> str:
        """The next token, passed over."""
        token = self.peek()
        self._next = min(self._next + 1, len(self._tokens) - 1)
        return token

    def error(self, expected: str) -> FormulaError:
        """What was expected where, for the token just taken."""
        token, place = self._tokens[max(self._next - 1, 0)]
        found = repr(token) if token else "the end"
        where = f"character {place} of {_brief(self._text)}"
        return FormulaError(f"{expected} was expected at {where}, found {found}")

    def finish(self) -> None:
        """Refuses anything left over."""
        if self.take():
            raise self.error("an operator or the end")

    def sum(self) -> Expr:
        """product (("+" | "-") product)*"""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise FormulaError(f"more than {MAX_DEPTH} parentheses are nested in {_brief(self._text)}")
        parts = [self._product()]
        while self.peek() in ("+", "-"):
            sign = self.take()
            part = self._product()
            parts.append(part if sign == "+" else -part)
        self._depth -= 1
        return parts[0] if len(parts) == 1 else Expr.sum(parts)

    def _product(self) -> Expr:
        value = self._signed()
        while self.peek() in ("*", "//", "%"):
            value = self._combine(value, self.take(), self._signed())
        return value

    def _combine(self, left: Expr, op: str, right: Expr) -> Expr:
        if op == "*":
            return left * right
        if op == "%":
            return left.mod(right)
        return left.exact_div(right) if self._exact else left.floordiv(right)

    def _signed(self) -> Expr:
        negative = False
        while self.peek() in ("+", "-"):
            negative ^= self.take() == "-"
        value = self._unit()
        return -value if negative else value

    def _unit(self) -> Expr:
        token = self.take()
        spend(8)
        if token.startswith("{"):
            return Expr.symbol(token[1:-1])
        if token.isdigit():
            if len(token) > MAX_LITERAL:
                raise FormulaError(f"an integer of {len(token)} digits exceeds the limit of {MAX_LITERAL}")
            return Expr.const(int(token))
        if token in ("(", "ceil", "floor", "min", "max"):
            return self._enclosed(token)
        raise self.error("a number, a {name}, a function or a parenthesis")

    def _enclosed(self, token: str) -> Expr:
        """What ends with a parenthesis; where the same was read before, that."""
        start = self._next - 1
        end = self._ends.get(start if token == "(" else self._next)
        if end is None:
            return self._read(token)
        text = self._text[self._tokens[start][1] : self._tokens[end][1]]
        if text in self._known:
            self._next = end + 1
        else:
            self._known[text] = self._read(token)
        return self._known[text]

    def _read(self, token: str) -> Expr:
        if token == "(":
            value = self.sum()
            self._expect(")")
            return value
        return self._rounded(token) if token in ("ceil", "floor") else self._extreme(token)

    def _rounded(self, name: str) -> Expr:
        self._expect("(")
        value = self.sum()
        if self.peek() == "/":
            # everything before the slash must be one product, as a sum there would read as a + (b / c)
            if self._is_open_sum():
                self.take()
                raise self.error("a parenthesis around the sum before '/'")
            self.take()
            divisor = self._signed()
            value = value.floordiv(divisor) if name == "floor" else value.ceildiv(divisor)
        self._expect(")")
        return value

    def _is_open_sum(self) -> bool:
        """Whether a plus or minus stands between the operands since the innermost open parenthesis."""
        depth = 0
        for place in range(self._next - 1, -1, -1):
            spend(1)
            token = self._tokens[place][0]
            if token == ")":
                depth += 1
            elif token == "(":
                if depth == 0:
                    return False
                depth -= 1
            elif depth == 0 and token in ("+", "-"):
                before = self._tokens[place - 1][0]
                if before == ")" or before.startswith("{") or before.isdigit():
                    return True
        return False

    def _extreme(self, name: str) -> Expr:
        self._expect("(")
        values = [self.sum()]
        while self.peek() == ",":
            self.take()
            values.append(self.sum())
            if len(values) > MAX_ARGUMENTS:
                raise FormulaError(f"{name} of more than {MAX_ARGUMENTS} arguments in {_brief(self._text)}")
        self._expect(")")
        return Expr.minimum(*values) if name == "min" else Expr.maximum(*values)

    def _expect(self, token: str) -> None:
        if self.take() != token:
            raise self.error(repr(token))


def _tokens(text: str) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    place = _after_space(text, 0)
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            found_there = f"{text[place]!r} at character {place} of {_brief(text)}"
            raise FormulaError(f"{found_there} is not part of a formula")
        found.append((match.group(), place))
        place = _after_space(text, match.end())
    found.append(("", len(text)))
    return found


def _ends(tokens: list[tuple[str, int]]) -> dict[int, int]:
    """The place of the parenthesis that closes each that is opened."""
    found: dict[int, int] = {}
    waiting: list[int] = []
    for place, (token, _) in enumerate(tokens):
        if token == "(":
            waiting.append(place)
        elif token == ")" and waiting:
            found[waiting.pop()] = place
    return found


def _after_space(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    return match.end() if match else place


def _brief(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:80]}...")
