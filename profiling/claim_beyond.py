"""Holds a claim at sizes that it and the code name, far beyond the first runs, and says what none showed."""

from __future__ import annotations

import ast
import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import torch

from forwardbook.analyzers.instances.pretrained.depth import counts_layers
from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic.recorder import Widths
from forwardbook.formula.sides import side, unturned
from forwardbook.profiling.claim import Claim
from forwardbook.profiling.claim_judged import Judged, compare, held_by, meets, stated_by
from forwardbook.profiling.proof import UNEQUAL, predict
from forwardbook.profiling.real import RealRun, run_on_meta, run_real
from forwardbook.profiling.sizes import draw
from forwardbook.profiling.thresholds import LARGEST, Thresholds, said_of

FAR: Final = ((520, 990), (4100, 7900), (100_003, 190_000))
"""Each size by itself is tried within each of these."""
WIDE: Final = (150, 60, 24)  # hints of all sizes at once, larger ones first, until so many ran
WIDE_POINTS: Final = 2
CONSTANTS: Final = 12  # of the code, around which sizes are tried
RUNS: Final = 60  # of points about thresholds
BASES: Final = 4
OTHER_DATA: Final = 24  # runs at one point, while what data decides was not seen to come out otherwise
FLOPS: Final = 20_000_000_000  # of one run with values; without values sizes are free
BYTES: Final = 1_000_000_000
SPARE: Final = 9  # further sizes of one name, for formulas of a high power


class Beyond:
    """Further points of a claim that held at the first ones."""

    def __init__(self, recipe: Recipe, claim: Claim, judged: Judged, secret: str) -> None:
        self._recipe, self._claim, self._judged = recipe, claim, judged
        self._rng = random.Random(f"{secret} beyond")
        self._stated = stated_by(recipe, claim)
        self._formulas = [formula for _, _, formula in claim.formulas()]
        self._counted = {one.name for one in claim.counted}
        formats = frozenset() if "bfloat16" in judged.dtypes else frozenset(UNEQUAL)
        sizes_only = [c for c in self._stated if c.symbols() <= judged.notes.keys()]
        self._thresholds = Thresholds(
            self._formulas, judged.notes, sizes_only, held_by(claim) | formats, self._rng
        )
        self._sizes_only = sizes_only
        self._seen = [point.sizes for point in judged.points]
        self._free = not self._counted and self._is_free()

    def measured(self, file: str) -> str:
        """Add the points; why the claim is refused, empty where it holds at all of them."""
        if self._differs(self._wide()):
            return ""
        left = self._turned()
        if self._differs(self._far(file)):
            return ""
        for _ in range(OTHER_DATA if self._counted else 0):
            if not self._unturned() or self._judged.differences:
                break
            self._met(self._base())  # data is drawn anew: what it decides may come out otherwise
        return self._unturned() or self._apart(left.difference(*map(self._thresholds.signature, self._seen)))

    def _differs(self, points: Iterable[Mapping[str, int]]) -> bool:
        """Whether one of these points, or one before, gives another number than the claim."""
        for point in points:
            if self._judged.differences:
                break
            self._met(point)
        return bool(self._judged.differences)

    def _is_free(self) -> bool:
        """Whether a run without values gives the numbers of one with values: then sizes cost nothing."""
        for point, dtype in zip(self._judged.points, self._judged.dtypes, strict=True):
            if dtype == "float32":
                run = self._run_on_meta(point.sizes)
                if run is None or compare(self._claim, run, point.sizes).differences:
                    return False
        return True

    def _wide(self) -> Iterator[dict[str, int]]:
        """Points at which all sizes are larger at once."""
        ran = len(self._seen) + WIDE_POINTS
        for hint in (h for h in WIDE for _ in range(WIDE_POINTS)):
            hints = {n: v if counts_layers(n) else max(v, hint) for n, v in self._judged.notes.items()}
            sizes = draw(hints, self._sizes_only, self._rng, attempts=12)
            if sizes is not None and len(self._seen) < ran:
                yield {**self._base(), **sizes}

    def _far(self, file: str) -> Iterator[dict[str, int]]:
        """Points at which one size is far larger, or at a number of the code."""
        constants = _constants(file)
        for name in sorted(self._claim.symbols() & self._judged.notes.keys() - held_by(self._claim)):
            far = [] if counts_layers(name) else [self._rng.randint(*span) for span in FAR]
            named = sorted({near for c in constants for near in (c - 1, c, c + 1)})
            spare = self._rng.sample(range(2, 64), SPARE)
            for at in (*spare[: 2 if self._is_told(name) else SPARE], *far, *named):
                sizes = {**self._base(), name: at}
                if not meets(self._stated, sizes):
                    drawn = draw(self._judged.notes, self._sizes_only, self._rng, {name: at}, attempts=4)
                    sizes = {**sizes, **(drawn or {})}
                yield sizes

    def _is_told(self, name: str) -> bool:
        """Whether a size has taken more values than any power that formulas of a cost have."""
        return len({sizes[name] for sizes in self._seen}) > 3

    def _turned(self) -> frozenset[tuple[object, ...]]:
        """Add points on all sides of what is rounded, a minimum or a maximum; what of these was not seen."""
        if not self._thresholds.atoms:
            return frozenset()
        few = self._rng.sample(self._seen, min(BASES, len(self._seen)))
        pool = self._thresholds.pool([self._base(), *few])
        signs = {place: self._thresholds.signature(point) for place, point in enumerate(pool)}
        wanted = frozenset().union(*signs.values()) if signs else frozenset()
        left = wanted - frozenset().union(*map(self._thresholds.signature, self._seen))
        for _ in range(RUNS):
            gains = {place: len(sign & left) for place, sign in signs.items() if sign & left}
            if not gains:
                break
            place = max(gains, key=lambda one: (gains[one], -one))
            del signs[place]
            if self._met(pool[place]):
                left -= self._thresholds.signature(self._seen[-1])
            if self._judged.differences:
                break
        return left

    def _unturned(self) -> str:
        for atom in self._thresholds.atoms:
            if lacking := unturned(atom, (side(atom, sizes) for sizes in self._seen)):
                return (
                    f"{said_of([atom])}: {lacking} at any point that was measured; "
                    "state a condition and leave it out"
                )
        for atom, names in self._thresholds.still.items():
            return (
                f"{said_of([atom])}: no size of {', '.join(sorted(names))} up to {LARGEST:,} changes it; "
                "write it without"
            )
        return ""

    def _apart(self, left: Collection[tuple[object, ...]]) -> str:
        """Which atom, or atoms that stand together, were not seen on all sides that they may take."""
        for atom in self._thresholds.atoms:
            if any(one[0] is atom for one in left):
                return f"{said_of([atom])}: not every side of it could be measured; state a condition"
        for group in self._thresholds.groups:
            if any(one[0] == group for one in left):
                return (
                    f"{said_of(group)}: not every side that they can take together could be measured; "
                    "state a condition"
                )
        return ""

    def _base(self) -> dict[str, int]:
        """The smallest point of the first runs, in float32."""
        small = [
            sizes for sizes, dtype in zip(self._seen, self._judged.dtypes, strict=True) if dtype == "float32"
        ]
        least = min(small, key=lambda sizes: sum(sizes.values()))
        return dict(least)

    def _met(self, point: Mapping[str, int]) -> bool:
        """Whether the class ran at a point; what it gave is noted."""
        wanted = {n: v for n, v in point.items() if n not in self._counted}
        if not meets(self._stated, wanted):
            return False
        run = self._run_on_meta(wanted) if self._free else self._run(wanted)
        if run is None:
            return False
        values = {**wanted, **{one.name: run.hits.get(one.line, 0) for one in self._claim.counted}}
        if not meets(self._stated, values):
            return False
        judged = self._judged
        judged.points.append(compare(self._claim, run, values))
        judged.dtypes.append(str(_dtype_of(values)).removeprefix("torch."))
        judged.operations |= run.operations
        judged.unruled = tuple(dict.fromkeys((*judged.unruled, *run.unruled)))
        self._seen.append(values)
        return True

    def _run_on_meta(self, values: Mapping[str, int]) -> RealRun | None:
        with suppress(Exception):  # the module's own refusal of these sizes, whatever it raises
            return run_on_meta(self._recipe, self._sizes(values), _dtype_of(values), _widths(values))
        return None

    def _run(self, values: Mapping[str, int]) -> RealRun | None:
        """A run with values, where it can be afforded."""
        most = {name: max(sizes[name] for sizes in self._seen) for name in self._counted}
        for quantity, limit in (("flops", FLOPS), ("intermediates", BYTES), ("boundary", BYTES)):
            predicted = predict(self._claim.total(quantity), {**values, **most})
            if predicted is not None and predicted > limit:
                return None
        with suppress(Exception):  # as above
            scale, seed = self._rng.choice((1.0, 8.0, 0.1, 64.0)), self._rng.randrange(2**31)
            sizes = self._sizes(values)
            return run_real(self._recipe, sizes, _dtype_of(values), _widths(values), scale, seed)
        return None

    def _sizes(self, values: Mapping[str, int]) -> dict[str, int]:
        return {name: values[name] for name in self._judged.notes}


def _dtype_of(values: Mapping[str, int]) -> torch.dtype:
    return torch.float32 if all(values[name] == 4 for name in UNEQUAL) else torch.bfloat16


def _widths(values: Mapping[str, int]) -> Widths:
    return Widths(values["w_dtype_bytes"], values["a_dtype_bytes"], values["kv_dtype_bytes"])


def _constants(file: str) -> Sequence[int]:
    """The whole numbers that the code of a file names, the largest ones."""
    found: set[int] = set()
    with suppress(OSError, SyntaxError, ValueError, RecursionError):
        for node in ast.walk(ast.parse(Path(file).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and type(node.value) is int and 2 < node.value < LARGEST:
                found.add(node.value)
    return sorted(found)[-CONSTANTS:]
