"""Turns an expression into text of the formula language, factored and ordered for people."""

from __future__ import annotations

from dataclasses import dataclass

from forwardbook.errors import FormulaError
from forwardbook.formula.atoms import UNIT, Atom, Extreme, Floor, Monomial, Shown, Symbol
from forwardbook.formula.expr import ONE, Expr
from forwardbook.formula.factoring import factors
from forwardbook.formula.limits import MAX_TEXT
from forwardbook.formula.quotient import term_quotient
from forwardbook.formula.rounding import with_remainders
from forwardbook.formula.terms import Coefficient
from forwardbook.formula.work import spend

# sizes of the call first, in the order in which shapes name them; bytes of an element last
_FIRST = (
    "batch_size",
    "batch",
    "seq_len",
    "q_len",
    "query_len",
    "kv_len",
    "num_heads",
    "num_attention_heads",
)
_BRIEF = 200  # characters of a formula in a message
_PRINTED_ROOM = 1 << 14
_PRINTED: dict[tuple[tuple[Monomial, Coefficient], ...], Piece] = {}


@dataclass(frozen=True, slots=True)
class Piece:
    """A text and whether it is a single unit, a product, or a sum."""

    text: str
    is_unit: bool = False
    is_sum: bool = False

    @property
    def as_unit(self) -> str:
        """The text in parentheses unless it binds tighter than any operator."""
        return self.text if self.is_unit else f"({self.text})"

    @property
    def as_factor(self) -> str:
        """The text in parentheses if it is a sum."""
        return f"({self.text})" if self.is_sum else self.text


def expression_piece(value: Expr) -> Piece:
    """The expression as a formula; FormulaError when the text would be too long to read back."""
    if value.printed is None:
        terms = tuple(value.terms.items())  # in their order: of equally short texts the first is taken
        known = _PRINTED.get(terms)
        if known is None:
            if len(_PRINTED) >= _PRINTED_ROOM:
                _PRINTED.clear()
            known = _PRINTED[terms] = _short_enough(_piece(value))
        value.printed = known
    return value.printed


def _short_enough(piece: Piece) -> Piece:
    length = len(piece.text)
    if length > MAX_TEXT:
        raise FormulaError(f"a formula of {length} characters exceeds the limit of {MAX_TEXT}")
    return piece


def brief(value: Expr) -> str:
    """The formula for a message, cut short where it is long."""
    try:
        text = value.text()
    except FormulaError:
        return f"a sum of {len(value.terms)} terms"
    return text if len(text) <= _BRIEF else f"{text[:_BRIEF]}..."


def _piece(value: Expr) -> Piece:
    value = with_remainders(value)
    numerator, denominator = value.fraction()
    if denominator is ONE:
        return _whole(value)
    options = [_divided(numerator, denominator)]
    whole = Expr({m: c for m, c in value.terms.items() if type(c) is int and m.is_whole})
    if whole:
        # integer terms apart: the rest is an integer exactly when the whole value is one
        rest = value - whole
        text = f"{_whole(whole).text}{_signed(_divided(*rest.fraction()).text)}"
        options.append(Piece(text, is_sum=True))
    return min(options, key=lambda piece: len(piece.text))


def _divided(numerator: Expr, denominator: Expr) -> Piece:
    """One division for the whole value, so that rounding it down changes nothing when it is an integer."""
    return Piece(f"{_whole(numerator).as_factor} // {_whole(denominator).as_unit}")


def _whole(value: Expr) -> Piece:
    """A polynomial with integer coefficients: common factors, then the sums that are left."""
    if not value:
        return Piece("0", is_unit=True)
    number, shared = value.content()
    ordered = _ordered(value)
    if value.terms[ordered[0]] < 0:
        number = -number
    primitive = term_quotient(value, Expr.term(number, shared))
    sums = [] if primitive == ONE else factors(primitive)
    if number == 1 and shared is UNIT and len(sums) == 1:
        return Piece(_sum_text(sums[0]), is_sum=True)
    if not sums and _is_remainder(number, shared):
        return Piece(_atom_text(shared.powers[0][0])[1:-1])
    units = [_atom_text(atom) for atom in _expanded(shared)] + [f"({_sum_text(part)})" for part in sums]
    return _joined(number, units)


def _is_remainder(coefficient: Coefficient, monomial: Monomial) -> bool:
    """Whether the term is `a % b` alone, which needs no parentheses in front of a product or within a sum."""
    if coefficient != 1 or len(monomial.powers) != 1:
        return False
    [(atom, power)] = monomial.powers
    return power == 1 and isinstance(atom, Shown) and atom.name == "%"


def _joined(number: int, units: list[str]) -> Piece:
    if abs(number) != 1 or not units:
        units = [str(abs(number)), *units]
    text = " * ".join(units)
    if number < 0:
        return Piece(f"-{text}", is_sum=True)
    return Piece(text, is_unit=len(units) == 1)


def _sum_text(value: Expr) -> str:
    texts = [_term_text(int(value.terms[monomial]), monomial) for monomial in _ordered(value)]
    return texts[0] + "".join(_signed(text) for text in texts[1:])


def _term_text(coefficient: int, monomial: Monomial) -> str:
    texts = [_atom_text(atom) for atom in _expanded(monomial)]
    if _is_remainder(coefficient, monomial):
        return texts[0][1:-1]
    return _joined(coefficient, texts).text


def _signed(text: str) -> str:
    return f" - {text[1:]}" if text.startswith("-") else f" + {text}"


def _ordered(value: Expr) -> list[Monomial]:
    """Higher degrees first, among equals what is added before what is taken away, then by names.

    A positive term leads when there is one.
    """
    spend(20 * len(value.terms))
    ordered = sorted(value.terms, key=lambda own: (-own.degree, value.terms[own] < 0, _names(own)))
    first = next((monomial for monomial in ordered if value.terms[monomial] > 0), ordered[0])
    ordered.remove(first)
    return [first, *ordered]


def _names(monomial: Monomial) -> list[tuple[int, str]]:
    return [_rank(atom) for atom in _expanded(monomial)]


def _expanded(monomial: Monomial) -> list[Atom]:
    """The atoms in printing order, each as often as its exponent says."""
    powers = sorted(monomial.powers, key=lambda own: _rank(own[0]))
    return [atom for atom, power in powers for _ in range(power)]


def _rank(atom: Atom) -> tuple[int, str]:
    if not isinstance(atom, Symbol):
        return len(_FIRST) + 1, _atom_text(atom)
    if atom.name in _FIRST:
        return _FIRST.index(atom.name), atom.name
    return len(_FIRST) + (2 if atom.name.endswith("_bytes") else 0), atom.name


def _atom_text(atom: Atom) -> str:
    match atom:
        case Symbol():
            return f"{{{atom.name}}}"
        case Shown():
            return _rounded(atom.name, atom.numerator, atom.denominator)
        case Floor():
            return _rounded("floor", atom.numerator, atom.denominator)
        case Extreme():
            name = "max" if atom.largest else "min"
            return f"{name}({', '.join(sorted(argument.text() for argument in atom.arguments))})"
    raise FormulaError(f"{atom.key} cannot be printed")


def _rounded(name: str, above: Expr, below: Expr) -> str:
    """A division under its name: `floor(a / b)`, `ceil(a / b)`, or a remainder in parentheses."""
    dividend, divisor = expression_piece(above), expression_piece(below)
    if name == "%":
        return f"({dividend.as_unit} % {divisor.as_unit})"
    return f"{name}({dividend.as_factor} / {divisor.as_unit})"
