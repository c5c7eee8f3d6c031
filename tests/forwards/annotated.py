"""An annotated file in; its case out: how to build and call the module, and what each line should cost."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from forwardbook.formula import Expr

CASES = Path(__file__).parent / "cases"
WIDTHS = {"w": "w_dtype_bytes", "a": "a_dtype_bytes", "kv": "kv_dtype_bytes"}
QUANTITIES = {"flops": "flops", "ops": "pointwise_ops", "reads": "reads", "writes": "writes"}
TOTALS = ("weights", "boundary", "intermediates", "peak")
KEYS = (
    "group", "class", "root", "executed", "calls", "sizes", "let", "where", "init", "input", "dtype", "mode",
    "assumes", "condition", "unresolved", "static", "wrong", *TOTALS,
)  # fmt: skip
_HEADER = re.compile(rf"# ({'|'.join(KEYS)})(?: (\w+))?: (.*)")
_LABEL = re.compile(r"(\w+): (.*)")
_COST = re.compile(rf"(?:\w+: )?(?:nothing$|(?:{'|'.join(QUANTITIES)}) )")


class BadAnnotation(ValueError):
    """A comment that the language does not have: file, line and what was found."""


@dataclass(frozen=True)
class Annotation:
    """One comment: the lines whose costs it states, the call it is about ("" for all), the quantities."""

    first: int
    last: int
    call: str
    costs: Mapping[str, Expr]


@dataclass
class Case:
    """One annotated file."""

    path: Path
    text: str
    header: dict[str, list[tuple[str, str]]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.path.stem

    def values(self, key: str) -> list[str]:
        """Every value given for a key of the header."""
        return [value for _, value in self.header.get(key, [])]

    def value(self, key: str, default: str = "") -> str:
        """The one value of a key."""
        found = self.values(key)
        if len(found) > 1:
            raise BadAnnotation(f"{self.path.name}: {key} is given {len(found)} times")
        return found[0] if found else default

    @property
    def groups(self) -> list[int]:
        return [int(value.split()[0]) for value in self.values("group")]

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def target(self) -> str:
        """The annotated class: the named one, else the last of the file."""
        return self.value("class", [n.name for n in self.tree.body if isinstance(n, ast.ClassDef)][-1])

    @property
    def root(self) -> str:
        """The class that is built and called, in which the annotated one runs."""
        return self.value("root", self.target)

    @property
    def calls(self) -> list[str]:
        """Names for the call patterns, in the order in which they first run."""
        return [name.strip() for name in self.value("calls", "only").split(",")]

    @cached_property
    def sizes(self) -> dict[str, tuple[str, int]]:
        """Of every short name the full one and its hint."""
        found = {}
        for part in " ".join(self.values("sizes")).split():
            short, full, hint = re.fullmatch(r"(\w+)=([\w.]+):(\d+)", part).groups()  # type: ignore[union-attr]
            found[short] = (full, int(hint))
        return found

    @cached_property
    def names(self) -> dict[str, Expr]:
        """What a short name stands for in a cost."""
        known = {short: Expr.symbol(full) for short, (full, _) in self.sizes.items()}
        known |= {short: Expr.symbol(full) for short, full in WIDTHS.items()}
        for text in self.values("let"):
            short, _, meaning = text.partition("=")
            known[short.strip()] = expression(meaning, known)
        return known

    @cached_property
    def totals(self) -> dict[str, Expr]:
        """The quantities of the whole call that the header states."""
        return {key: expression(self.value(key), self.names) for key in TOTALS if key in self.header}

    @cached_property
    def annotations(self) -> list[Annotation]:
        """Every cost comment of the file."""
        found: list[Annotation] = []
        pending: list[tuple[int, str]] = []
        for line, text, alone in comments(self.text):
            if alone and _COST.match(text):
                pending.append((line, text))
            elif not alone and _COST.match(text):
                found.append(self._annotation(line, line, *self._addressed(text)))
        above: dict[tuple[int, int, str], list[str]] = {}
        for line, text in pending:
            span = next(span for span in self.spans if span[0] > line)
            call, text = self._addressed(text)
            above.setdefault((*span, call), []).append(text)
        found += [self._annotation(*key, "; ".join(texts)) for key, texts in above.items()]
        return found

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """First and last line of every statement; of a compound one, of its header."""
        return sorted(_spans(self.tree))

    def end_of(self, line: int, end_line: int) -> int:
        """Where an expression ends; of an `if` that asks a tensor for its truth, Python reports all of it."""
        within = [last for first, last in self.spans if first <= line <= last]
        return min(end_line, min(within, default=end_line))

    def _addressed(self, text: str) -> tuple[str, str]:
        """The call that a comment names, "" where it speaks of all, and the rest."""
        label = _LABEL.fullmatch(text)
        return (label[1], label[2]) if label and label[1] in self.calls else ("", text)

    def _annotation(self, first: int, last: int, call: str, text: str) -> Annotation:
        costs: dict[str, Expr] = {}
        for part in [] if text == "nothing" else text.split(";"):
            word, _, meaning = part.strip().partition(" ")
            if word not in QUANTITIES or QUANTITIES[word] in costs:
                raise BadAnnotation(f"{self.path.name}:{first}: no quantity, or the same again: {part!r}")
            costs[QUANTITIES[word]] = expression(meaning, self.names)
        return Annotation(first, last, call, costs)


def read_case(path: Path) -> Case:
    """The case of one file; BadAnnotation where its header says something unknown."""
    case = Case(path, path.read_text(encoding="utf-8"))
    start = case.tree.body[1].lineno
    for line, text, alone in comments(case.text):
        if line >= start or not alone:
            continue
        match = _HEADER.fullmatch(f"# {text}")
        if match is None:
            raise BadAnnotation(f"{path.name}:{line}: the header has no {text!r}")
        case.header.setdefault(match[1], []).append((match[2] or "", match[3].strip()))
    return case


def all_cases() -> list[Case]:
    """Every file of the folder, by name."""
    return [read_case(path) for path in sorted(CASES.glob("*.py"))]


def comments(text: str) -> Iterator[tuple[int, str, bool]]:
    """Line, text and whether it stands alone, of every comment."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            before = token.line[: token.start[1]].strip()
            yield token.start[0], token.string.removeprefix("#").strip(), not before


def _spans(tree: ast.AST) -> Iterator[tuple[int, int]]:
    """First and last line of every statement; of a compound one, of its header."""
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            body, last = getattr(node, "body", None), node.end_lineno or node.lineno
            yield node.lineno, max(node.lineno, body[0].lineno - 1) if body else last


def expression(text: str, names: Mapping[str, Expr]) -> Expr:
    """A cost as written: `/` divides exactly, `//` rounds down, ceil(x / y) up; min and max."""
    return _value(ast.parse(text.strip(), mode="eval").body, names)


def _value(node: ast.expr, names: Mapping[str, Expr]) -> Expr:
    match node:
        case ast.Constant(value=int(number)):
            return Expr.const(number)
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, names)
        case ast.Call(func=ast.Name(id="ceil"), args=[ast.BinOp(left=left, op=ast.Div(), right=right)]):
            return _value(left, names).ceildiv(_value(right, names))
        case ast.Call(func=ast.Name(id="min"), args=items):
            return Expr.minimum(*(_value(item, names) for item in items))
        case ast.Call(func=ast.Name(id="max"), args=items):
            return Expr.maximum(*(_value(item, names) for item in items))
        case ast.BinOp(left=left, op=op, right=right):
            return _calculated(op, _value(left, names), _value(right, names))
    raise BadAnnotation(f"a cost has no {ast.unparse(node)!r}")


def _calculated(op: ast.operator, left: Expr, right: Expr) -> Expr:
    match op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.Div():
            return left.exact_div(right)
        case ast.FloorDiv():
            return left.floordiv(right)
        case ast.Mod():
            return left.mod(right)
    raise BadAnnotation(f"a cost has no operator {type(op).__name__}")
