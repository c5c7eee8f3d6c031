"""The facts of all ways to call a class in; what a person calls each of them out."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple, TypeGuard

from pydantic import JsonValue

from forwardbook.analyzers.derive.names import USUAL
from forwardbook.pipeline.composed.facts import Fact, Facts, Handover, Layout

DEFAULT: Final = "default"
DECODE: Final = "decode"
OTHER: Final = "another way"
"""What a way is called that nothing tells from others."""
FEW: Final = 3
"""Facts in a name; what more there is stands among the choices."""
LONGEST: Final = 60
"""Characters of a name."""
CHOICE: Final = 2
"""The rank of a fact that is a choice: a flag, a word."""
_SHOWN: Final = 28
"""Characters of one plain value in it."""
_ONE: Final[Mapping[str, str]] = {
    "batch_size": "one sample",
    "seq_len": "one position",
    "channels": "one channel",
    "frames": "one frame",
    "height": "one row",
    "width": "one column",
}

Shapes = Mapping[str, str]
"""Of each tensor its sizes, as people write them."""


class Phrase(NamedTuple):
    """One fact of a way: the words, and whether they follow `with` or `without`."""

    relation: str
    words: str


class Named(NamedTuple):
    """What a way is called, and what is chosen in it that is chosen otherwise elsewhere."""

    name: str
    choices: dict[str, JsonValue]


def names_of_ways(facts: Sequence[Facts], shapes: Sequence[Shapes] = ()) -> list[Named]:
    """For each way what it is called, and the choices that tell it from others.

    The one with the fewest arguments beside their defaults, and without a cache, is the default.
    """
    base = base_of(facts)
    order = (base, *(place for place in range(len(facts)) if place != base))
    names, said = dict[str, int](), dict[str, None]()
    for place in order:
        naming = _Naming(facts[place], facts[base], shapes[place] if shapes else {})
        rivals = {name: (facts[one], shapes[one] if shapes else {}) for name, one in names.items()}
        names[naming.name(rivals)] = place
        said |= dict.fromkeys(naming.choices)
    plain = [path for path in said if all(_is_choice(one.told.get(path)) for one in facts)]
    found = {place: Named(name, _choices(facts[place], plain)) for name, place in names.items()}
    return [found[place] for place in range(len(facts))]


def base_of(facts: Sequence[Facts]) -> int:
    """The place of the way that is the default: the plainest, of equal ones the first."""
    order = [(one.cache is not None, len(one.unusual), one.special) for one in facts]
    return order.index(min(order))


def _is_choice(value: Fact) -> bool:
    return _is_plain(value) or (isinstance(value, Handover) and value.cache)


def _is_plain(value: Fact) -> TypeGuard[JsonValue]:
    return not isinstance(value, Layout | Handover)


def _choices(one: Facts, paths: Iterable[str]) -> dict[str, JsonValue]:
    return {label_of(path): choice_of(one.told[path]) for path in paths if path in one.told}


def choice_of(fact: Fact) -> JsonValue:
    """A fact as it is stored among the choices of a way: plain, of a cache whether it is filled."""
    if isinstance(fact, Layout):
        return None
    return fact.choice if isinstance(fact, Handover) else fact


class _Naming:
    """One way on its way to a name."""

    def __init__(self, one: Facts, base: Facts, shapes: Shapes) -> None:
        self._one, self._base, self._shapes = one, base, shapes
        self._chosen: list[str] = []
        others = [path for path in self._differing(base) if _rank(path, one, base)[0] == CHOICE]
        self._plain = others[:FEW]

    @property
    def choices(self) -> list[str]:
        """The facts that are worth being stored beside the name."""
        cache = [self._one.cache] if self._one.decodes and self._one.cache else []
        return [*cache, *self._chosen, *self._plain]

    def name(self, rivals: Mapping[str, tuple[Facts, Shapes]]) -> str:
        """The shortest name that no other way has; the first way is the default."""
        if not rivals:
            return DECODE if self._one.decodes else DEFAULT
        name = DECODE if self._one.decodes else ""
        while (not name or name in rivals) and len(self._chosen) < FEW:
            other, _ = rivals.get(name, (self._base, {}))
            paths = [path for path in self._differing(other) if path not in self._chosen]
            if not paths:
                break
            self._chosen.append(paths[0])
            if len(words := self._words()) > LONGEST:
                break
            name = words
        if name and name not in rivals:
            return name
        return self._otherwise(name, rivals)

    def _otherwise(self, name: str, rivals: Mapping[str, tuple[Facts, Shapes]]) -> str:
        """A name where facts do not tell: by the sizes of a tensor, or else with a number."""
        _, usual = rivals.get(name or DEFAULT, (self._base, {}))
        for path, text in self._shapes.items():
            sized = ", ".join([*([name] if name else []), f"{path} {text}"])
            if text != usual.get(path) and len(sized) <= LONGEST and sized not in rivals:
                return sized
        name = name[: LONGEST - 4] or OTHER
        if name not in rivals:
            return name
        return next(found for n in itertools.count(2) if (found := f"{name}, {n}") not in rivals)

    def _words(self) -> str:
        phrases = [_phrase(path, self._one, self._base) for path in self._chosen]
        parts = [DECODE] if self._one.decodes else []
        for relation in ("with", "without"):
            found = list(dict.fromkeys(one.words for one in phrases if one.relation == relation))
            parts += [f"{relation} {_joined(found)}"] if found else []
        return ", ".join([*parts, *dict.fromkeys(one.words for one in phrases if not one.relation)])

    def _differing(self, other: Facts) -> list[str]:
        """The paths of facts that are otherwise in another way, those first that say most to a person."""
        one = self._one
        every = dict.fromkeys([*other.told, *one.told])
        known = {one.cache, other.cache, one.main} if one.decodes and not other.decodes else set[str | None]()
        paths = [path for path in every if path not in known and _at(one, path) != _at(other, path)]
        return sorted(paths, key=lambda path: _rank(path, one, other))


def _at(facts: Facts, path: str) -> tuple[type, Fact]:
    value = facts.told.get(path)
    return type(value), value


def _rank(path: str, one: Facts, base: Facts) -> tuple[int, int]:
    """How late a fact comes: caches, tensors, choices, the form of the first tensor, numbers, all else."""
    values = one.told.get(path), base.told.get(path)
    depth = path.count(".") - path.startswith("config.")
    if path in (one.cache, base.cache):
        return 0, depth
    if depth:
        return 6, depth
    if not all(map(_is_plain, values)):
        if None in values:
            return 1, 0
        return (3 if path == one.main else 5), 0
    if "cache" in path:
        return 5, 0
    if any(type(value) in (int, float) for value in values):
        return 4, path.count(".")
    return CHOICE, path.count(".")


def _phrase(path: str, one: Facts, base: Facts) -> Phrase:
    label, value, usual = label_of(path), one.told.get(path), base.told.get(path)
    if value is None:
        return Phrase("without", label)
    if isinstance(value, Layout):
        return Phrase("", _form(label, value, usual, path == one.main)) if usual else Phrase("with", label)
    if isinstance(value, Handover):
        return Phrase("with", f"empty {label}" if value.choice == "empty" else label)
    text = str(value)
    return Phrase("", f"{label}={text if len(text) <= _SHOWN else f'{text[: _SHOWN - 3]}...'}")


def _form(label: str, layout: Layout, usual: Fact, main: bool) -> str:
    """How a tensor is handed over otherwise than by default."""
    before = usual if isinstance(usual, Layout) else Layout(0)
    words = [
        f"{layout.rank}-D" if layout.rank != before.rank else "",
        layout.dtype if layout.dtype != before.dtype else "",
        "transposed" if layout.transposed > before.transposed else "",
        "expanded" if layout.expanded > before.expanded else "",
        "" if layout.is_scattered or not before.is_scattered else "contiguous",
    ]
    words = [word for word in words if word]
    names = USUAL.get(layout.rank, ())
    ones = [_ONE.get(names[place], "") if names else "" for place in layout.ones]
    ones = [one or f"1 along {place}" for one, place in zip(ones, layout.ones, strict=True)]
    if layout.ones == before.ones or not ones:
        return " ".join([*(words or ["other"]), label])
    if main and not words:
        return ", ".join(ones)
    return " ".join([*words, label, "of", " and ".join(ones)])


def _joined(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


def label_of(path: str) -> str:
    """A path as people say it: a field of a config by itself."""
    return path.rpartition("config.")[2] or path
