"""What families showed in; out how many points were answered, how many answers are equal, and examples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from forwardbook.pipeline.catalogue.coverage import alike
from forwardbook.pipeline.ordinary.answers import Answer
from forwardbook.pipeline.ordinary.family import Findings


@dataclass(frozen=True)
class Why:
    """A reason why points are not answered: how many of how many classes, and the first of them."""

    reason: str
    points: int
    classes: int
    example: Answer


@dataclass(frozen=True)
class AtPlace:
    """The points with so many samples and tokens."""

    batch_size: int
    tokens: int
    points: int
    answered: int
    equal: int


@dataclass(frozen=True)
class Summary:
    """Ordinary points of drawn classes: at each the module ran."""

    drawn: int
    called: int
    """Of the drawn classes those that a run called."""
    always_equal: int
    """Of these those with an equal answer at every point."""
    runs: int
    points: int
    answered: int
    equal: int
    by_place: tuple[AtPlace, ...] = ()
    unequal: tuple[Answer, ...] = ()
    """Every answer that is not equal."""
    unanswered: tuple[Why, ...] = ()
    refused: dict[str, int] = field(default_factory=dict)
    """Why models did not run, and at how many points."""
    unreached: dict[str, str] = field(default_factory=dict)
    """Drawn classes that no run called, and why."""


def summary(drawn: Iterable[str], found: Iterable[Findings]) -> Summary:
    """The figures of all families together."""
    every = list(found)
    answers = [one for each in every for one in each.answers]
    names = sorted(drawn)
    called = {one.full_class_name for one in answers}
    imperfect = {one.full_class_name for one in answers if one.state != "equal"}
    reasons = {name: why for each in every for name, why in each.unreached.items()}
    refused: Counter[str] = Counter()
    for each in every:
        refused.update(each.refused)
    return Summary(
        drawn=len(names),
        called=len(called),
        always_equal=len(called - imperfect),
        runs=sum(each.runs for each in every),
        points=len(answers),
        answered=sum(one.state != "unanswered" for one in answers),
        equal=sum(one.state == "equal" for one in answers),
        by_place=tuple(_by_place(answers)),
        unequal=tuple(one for one in answers if one.state == "unequal"),
        unanswered=tuple(_whys(answers)),
        refused=dict(refused.most_common()),
        unreached={name: reasons.get(name, "no run called it") for name in names if name not in called},
    )


def _by_place(answers: Iterable[Answer]) -> Iterable[AtPlace]:
    groups: dict[tuple[int, int], list[Answer]] = {}
    for one in answers:
        groups.setdefault((one.where.place.batch_size, one.where.place.tokens), []).append(one)
    for (batch_size, tokens), some in sorted(groups.items()):
        answered = sum(one.state != "unanswered" for one in some)
        equal = sum(one.state == "equal" for one in some)
        yield AtPlace(batch_size, tokens, len(some), answered, equal)


def _whys(answers: Iterable[Answer]) -> list[Why]:
    """The reasons of points without an answer, those of most points first."""
    groups: dict[str, list[Answer]] = {}
    for one in answers:
        if one.state == "unanswered":
            groups.setdefault(alike(one.reason), []).append(one)
    found = [
        Why(reason, len(some), len({one.full_class_name for one in some}), some[0])
        for reason, some in groups.items()
    ]
    return sorted(found, key=lambda one: (-one.points, one.reason))
