"""A forward() and a built module in; out inputs to try, in the notation, likeliest first."""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from forwardbook.analyzers.instances.adapters.consumers import Consumer
from forwardbook.analyzers.instances.adapters.plan import Names, Plan

WIDTHS = re.compile(
    r"(.*\.)?(in_(channels|chans|features|dims?|planes|ch|size)|input_(dim|size|channels?)|dim(_in)?|d_model|d_in"
    r"|embed(ding)?_dim|hidden_(size|dim|channels)|num_(features|channels)|channels|chans|n_embd|emb_dim|d|c|c1"
    r"|n_channels|query_dim|feature_dim|inp|nf|features|planes|node_dim|(cross_attention|context|caption)_dim)"
)
_IMAGE = re.compile(r"(.*\.)?(img|image|input|sample|roi|spatial)_?(size|resolution|shape)")
_FILM = re.compile(r"(.*\.)?(num_)?(frames|image_patch_frames|sample_frames)")
_CHANNELS = re.compile(r"(.*\.)?(in_channels|in_chans|channels|num_channels|input_channels?|image_channels)")
_IDS = re.compile(r".*(ids?|tokens?|ind(ex|ices)|labels?|class(es)?)$")
_MASKS = re.compile(r".*mask.*")
_TIMES = re.compile(r"(t|time|times|timesteps?(_\w+)?|sigma|noise_level|noise_labels|r)")
_SIDES = ("h", "height", "w", "width")
_COUNTS = re.compile(r"(num_|n_)(frames?|.*)|seq_?len(gth)?|length|(q|k|kv)_len|[ijn]")
_EDGES = re.compile(r"(edge_index|adj_t?|edge_index_?.*)")
_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
MOST = 600
"""Sets of inputs that are thought of for one module."""
_SPATIAL = {
    0: ("length",),
    1: ("length",),
    2: ("height", "width"),
    3: ("depth", "height", "width"),
}


def plans_for(
    forward: Callable[..., object],
    given: Mapping[str, int],
    layers: Sequence[Consumer] = (),
    first: Sequence[Plan] = (),
) -> list[Plan]:
    """What to call forward() with: as shown, then what it needs, then also what it may take."""
    described = [
        p for p in list(inspect.signature(forward).parameters.values())[1:] if p.kind not in _VARIADIC
    ]
    variadic = any(p.kind is p.VAR_POSITIONAL for p in inspect.signature(forward).parameters.values())
    needed = [p for p in described if p.default is p.empty]
    names = Names(given, tuple(p.name for i, p in enumerate(described) if _is_number(p, i)))
    chooser = _Choices(names, layers)
    found: list[Plan] = list(first)
    if not needed and not described:
        options = chooser.tensor() if variadic else []
        return [*found, *(Plan({}, names, (text,)) for text in options), Plan({}, names)]
    sets = [needed] if needed else [described[:1]]
    more = [p for p in described if p not in sets[0] and _may_matter(p)]
    sets += [[*sets[0], p] for p in more[:3]] + ([[*sets[0], *more]] if len(more) > 1 else [])
    share = MOST // len(sets)
    for parameters in sets:
        choices = [chooser.options(p, i, {q.name for q in parameters}) for i, p in enumerate(parameters)]
        keys = [p.name for p in parameters]
        for chosen in itertools.islice(_likeliest(choices), share):
            found.append(Plan(dict(zip(keys, chosen, strict=True)), names))
    return found


def _may_matter(parameter: inspect.Parameter) -> bool:
    """Whether forward() may need what it says can be left out: another sequence, a time, a mask."""
    name = parameter.name
    return parameter.default is None and bool(
        re.fullmatch(
            r"(encoder_hidden_states|context|cond.*|.*emb|mask|.*_mask|t|time.*|y|k|v|key|value|skip|.*)",
            name,
        )
    )


def _likeliest(choices: Sequence[Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """One of each list: the same place in all first, then by how far down the lists they are."""
    seen: set[tuple[str, ...]] = set()
    longest = max(map(len, choices))
    alike = (tuple(options[min(k, len(options) - 1)] for options in choices) for k in range(min(longest, 12)))
    for chosen in itertools.chain(alike, _by_rank(choices)):
        if chosen not in seen:
            seen.add(chosen)
            yield chosen


def _by_rank(choices: Sequence[Sequence[str]]) -> Iterator[tuple[str, ...]]:
    for total in range(sum(len(options) - 1 for options in choices) + 1):
        for places in _places(total, [len(options) for options in choices]):
            yield tuple(options[place] for options, place in zip(choices, places, strict=True))


def _places(total: int, lengths: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every choice of one place in each list, the places adding up to the total."""
    if len(lengths) == 1:
        if total < lengths[0]:
            yield (total,)
        return
    for place in range(min(total, lengths[0] - 1) + 1):
        for rest in _places(total - place, lengths[1:]):
            yield (place, *rest)


def _is_number(parameter: inspect.Parameter, index: int) -> bool:
    """Whether a parameter is a whole number, by its annotation or its name."""
    name, hint = parameter.name.lower(), str(parameter.annotation)
    if hint in ("<class 'int'>", "int"):
        return True
    return bool((name in _SIDES and index) or _COUNTS.fullmatch(name)) and "Tensor" not in hint


class _Choices:
    """Expressions for one parameter after the other."""

    def __init__(self, names: Names, layers: Sequence[Consumer]) -> None:
        self._names, self._layers = names, layers
        self._batch = names.free("batch_size")

    def options(self, parameter: inspect.Parameter, index: int, beside: set[str]) -> list[str]:
        """What a parameter may take, by its name and hint, else as any tensor."""
        name, hint = parameter.name.lower(), str(parameter.annotation)
        if parameter.name in self._names.numbers:
            own = self._names.number(parameter.name)
            return [own] if name in _SIDES else [own, "1", "2", "4"]
        if hint in ("<class 'float'>", "float"):
            return ["1.0"]
        if hint in ("<class 'bool'>", "bool"):
            return ["False"]
        if _EDGES.fullmatch(name):
            return [f"integers(7, 2, {self._names.free('edges')})"]
        if _MASKS.fullmatch(name):
            return self._masks()
        if _IDS.fullmatch(name) or "LongTensor" in hint:
            return [*self._ids(), *self.tensor()]
        if _TIMES.fullmatch(name) and (index or len(name) > 1):
            return [f"floats({self._batch})", f"integers(7, {self._batch})", *self.tensor()]
        if "emb" in name and index:
            flat = [f"floats({self._batch}, {width})" for width in self._widths()]
            return [*flat, *self.tensor()]
        if re.search(r"context|encoder_hidden|memory|cross|cond", name) and index:
            context = self._names.free("context_len")
            return [*(f"floats({self._batch}, {context}, {w})" for w in self._widths()), *self.tensor()]
        if re.search(r"list|tuple|sequence\[", hint.lower()):
            return [f"[{text}]" for text in self.tensor()] + [f"[{t}, {t}]" for t in self.tensor()[:6]]
        if "shape" in name or name.endswith("size") or name == "hw":
            return [f"({self._names.free('height')}, {self._names.free('width')})", "1", "2", "4"]
        if beside & {"edge_index", "adj", "adj_t"}:
            nodes = self._names.free("nodes")
            edges = self._names.free("edges")
            rows = edges if "edge" in name else nodes
            return [*(f"floats({rows}, {width})" for width in self._widths()), f"floats({rows})"]
        sides = [one for one in self._names.numbers if one in beside and one.lower() in _SIDES]
        if sides and not index:  # rows and columns of what is handed over as one sequence
            area = " * ".join(map(self._names.number, sides[:2]))
            first, *others = self.tensor()
            return [first, *(f"floats({self._batch}, {area}, {width})" for width in self._widths()), *others]
        return self.tensor()

    def tensor(self) -> list[str]:
        """Any tensor: an image as large as asked for, what the first layers take, shapes in general."""
        found = [*self._images()]
        for layer in self._layers:
            found += self._first(layer)
        for layer in self._layers:
            found += self._other(layer)
        for name in self._widths():
            found += self._shapes(name)
        if not self._layers:
            found += self._shapes(self._names.free("features"))
        found += [f"floats({self._batch})", *self._ids()]
        return list(dict.fromkeys(found))

    def _widths(self) -> list[str]:
        """Widths by what they are called, likeliest first: those of layers, then those of arguments."""
        layers = [self._names.layer(layer) for layer in self._layers if layer.spatial != -1]
        called = [self._names.argument(n) for n in self._names.given if WIDTHS.fullmatch(n)]
        others = [n for n, v in self._names.given.items() if v > 4 and not WIDTHS.fullmatch(n)]
        more = [] if called or layers else [self._names.argument(name) for name in others[:3]]
        return [*layers, *called, *more] or [self._names.free("features")]

    def _masks(self) -> list[str]:
        length = self._names.free("seq_len")
        context = self._names.free("context_len")
        shapes = (
            f"{self._batch}, {length}",
            f"{self._batch}, {context}",
            f"{length}, {length}",
            f"{self._batch}, 1, {length}, {length}",
        )
        rows, columns = self._names.free("height"), self._names.free("width")
        return [
            *(f"mask({shape})" for shape in shapes),
            *(f"ones({shape})" for shape in shapes),
            f"ones({self._batch}, 1, {rows}, {columns})",
            *self.tensor(),
        ]

    def _ids(self) -> list[str]:
        length = self._names.free("seq_len")
        return [
            f"integers(7, {self._batch}, {length})",
            f"integers(7, {self._batch})",
            f"integers(7, {length})",
        ]

    def _images(self) -> Iterator[str]:
        """Images and films of the size and channels that the constructor was told."""
        given = self._names.given
        sides = [(n, n) for n in given if _IMAGE.fullmatch(n)]
        starts = [
            n.removesuffix("_0") for n in given if n.endswith("_0") and _IMAGE.fullmatch(n.removesuffix("_0"))
        ]
        for start in starts:
            tail = [n for n in (f"{start}_{i}" for i in range(4)) if n in given]
            sides.append((tail[-2] if len(tail) > 1 else tail[-1], tail[-1]))
        channels = [self._names.argument(n) for n in given if _CHANNELS.fullmatch(n)]
        frames = [self._names.argument(n) for n in given if _FILM.fullmatch(n)]
        first = [self._names.layer(c) for c in self._layers if c.spatial in (2, 3)][:1]
        for (rows, columns), channel in itertools.product(sides, [*channels, *first, "3", "1"]):
            end = f"{self._names.argument(rows)}, {self._names.argument(columns)}"
            for frame in frames:
                yield f"floats({self._batch}, {channel}, {frame}, {end})"
            yield f"floats({self._batch}, {channel}, {end})"
            yield f"floats({self._batch}, {channel}, {self._names.argument(rows)}, {end})"

    def _first(self, layer: Consumer) -> Iterator[str]:
        """The usual input of a layer of that kind."""
        width = self._names.layer(layer)
        if layer.spatial == -1:
            yield from self._ids()[:2]
        elif layer.spatial is None:
            yield f"floats({self._batch}, {self._names.free('seq_len')}, {width})"
            yield f"floats({self._batch}, {width})"
        else:
            extents = ", ".join(self._names.free(name) for name in _SPATIAL[layer.spatial])
            yield f"floats({self._batch}, {width}, {extents})"

    def _other(self, layer: Consumer) -> Iterator[str]:
        if layer.spatial != -1:
            yield from self._shapes(self._names.layer(layer))

    def _shapes(self, width: str) -> Iterator[str]:
        free, batch = self._names.free, self._batch
        rows, columns, length = free("height"), free("width"), free("length")
        yield f"floats({batch}, {free('seq_len')}, {width})"
        yield f"floats({batch}, {width}, {rows}, {columns})"
        yield f"floats({batch}, {width})"
        yield f"floats({batch}, {width}, {length})"
        yield f"floats({batch}, {rows}, {columns}, {width})"
        yield f"floats({batch}, {width}, {free('depth')}, {rows}, {columns})"
        yield f"floats({batch}, {free('frames')}, {width}, {rows}, {columns})"
        yield f"floats({batch}, {free('frames')}, {free('seq_len')}, {width})"
