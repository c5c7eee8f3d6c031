"""Turns text of the formula language into an expression, in bounded time and size, running no code."""

from __future__ import annotations

import re
import time

from forwardbook.errors import FormulaError
from forwardbook.formula.expr import Expr
from forwardbook.formula.limits import (
    EXPANSION_OF_TEXT,
    MAX_ARGUMENTS,
    MAX_COMPARED_ARGUMENTS,
    MAX_DEPTH,
    MAX_EXPANSION,
    MAX_LITERAL,
    MAX_PARSED_SECONDS,
    MAX_PARSED_WORK,
    MAX_TEXT,
    SHORT_TEXT,
)

_TOKEN = re.compile(
    r"\{[A-Za-z_][A-Za-z0-9_.]*\}|[0-9]+|ceil\b|floor\b|min\b|max\b|//|==|!=|<=|>=|[-+*/%(),<>]", re.ASCII
)
_SPACE = re.compile(r"[ \t\r\n]*")
_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
_DIVISION_WORK = 200  # a division costs about as much as so many term products
_COMPARISON_WORK = 50  # of two arguments, for each of their terms; the same measure


def parse(text: str, exact: bool = False) -> Expr:
    """The expression that the text denotes; FormulaError says where it stops being a formula.

    With `exact`, `//` is a division without remainder, as `Expr.text` prints it; `floor(a / b)` still rounds.
    """
    parser = _Parser(text, exact)
    value = parser.sum()
    parser.finish()
    return value


def parse_comparison(text: str) -> tuple[Expr, str, Expr]:
    """The two expressions around the one comparison in the text."""
    parser = _Parser(text, exact=False)
    left = parser.sum()
    op = parser.take()
    if op not in _COMPARISONS:
        raise parser.error("a comparison")
    right = parser.sum()
    parser.finish()
    return left, op, right


class _Parser:
    """A recursive descent over the tokens that counts depth and work."""

    def __init__(self, text: str, exact: bool) -> None:
        if not isinstance(text, str):
            raise FormulaError(f"a formula must be text, found {type(text).__name__}")
        if len(text) > MAX_TEXT:
            raise FormulaError(f"a formula of {len(text)} characters exceeds the limit of {MAX_TEXT}")
        self._text = text
        self._exact = exact
        self._tokens = _tokens(text)
        self._next = 0
        self._depth = 0
        self._work = 0
        self._expansion = MAX_EXPANSION + EXPANSION_OF_TEXT * len(text)
        longer = max(1.0, len(text) / SHORT_TEXT)
        self._until = time.thread_time() + MAX_PARSED_SECONDS * longer

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
        self._spend(sum(len(part.terms) for part in parts))
        return parts[0] if len(parts) == 1 else Expr.sum(parts)

    def _product(self) -> Expr:
        value = self._signed()
        while self.peek() in ("*", "//", "%"):
            value = self._combine(value, self.take(), self._signed())
        return value

    def _combine(self, left: Expr, op: str, right: Expr) -> Expr:
        size = max(1, len(left.terms)) * max(1, len(right.terms))
        if op == "*":
            self._spend(size)
            self._expand(size, left, right)
            return left * right
        self._spend(size + _DIVISION_WORK * (len(left.terms) + len(right.terms)))
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
        if token.startswith("{"):
            return Expr.symbol(token[1:-1])
        if token.isdigit():
            if len(token) > MAX_LITERAL:
                raise FormulaError(f"an integer of {len(token)} digits exceeds the limit of {MAX_LITERAL}")
            return Expr.const(int(token))
        if token == "(":
            value = self.sum()
            self._expect(")")
            return value
        if token in ("ceil", "floor"):
            return self._rounded(token)
        if token in ("min", "max"):
            return self._extreme(token)
        raise self.error("a number, a {name}, a function or a parenthesis")

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
            self._spend(_DIVISION_WORK * (len(value.terms) + len(divisor.terms)))
            value = value.floordiv(divisor) if name == "floor" else value.ceildiv(divisor)
        self._expect(")")
        return value

    def _is_open_sum(self) -> bool:
        """Whether a plus or minus stands between the operands since the innermost open parenthesis."""
        depth = 0
        for place in range(self._next - 1, -1, -1):
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
        different = len(set(values))
        each = _COMPARISON_WORK * different if different <= MAX_COMPARED_ARGUMENTS else 1
        self._spend(each * sum(max(1, len(value.terms)) for value in values))
        return Expr.minimum(*values) if name == "min" else Expr.maximum(*values)

    def _expect(self, token: str) -> None:
        if self.take() != token:
            raise self.error(repr(token))

    def _expand(self, size: int, left: Expr, right: Expr) -> None:
        """Refuses a product, before it is made, that is too large with all before it."""
        if min(len(left.terms), len(right.terms)) > 1:
            self._expansion -= size * (1 + _factors(left) + _factors(right))
        if self._expansion < 0:
            raise FormulaError(f"{_brief(self._text)} has products of sums that are too long to expand")

    def _spend(self, work: int) -> None:
        self._work += work
        if self._work > MAX_PARSED_WORK:
            raise FormulaError(f"{_brief(self._text)} needs more than {MAX_PARSED_WORK} steps to expand")
        if time.thread_time() > self._until:
            raise FormulaError(f"{_brief(self._text)} takes too long to simplify")


def _factors(value: Expr) -> int:
    """The factors of its first term: those of a product of sums have about as many each."""
    return len(next(iter(value.terms)).powers) if value.terms else 0


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


def _after_space(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    return match.end() if match else place


def _brief(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:80]}...")
