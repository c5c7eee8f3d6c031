"""A config in; out the same with few layers, or as many as were asked for; what lists its layers follows."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from forwardbook.analyzers.instances.pretrained.fields import hint_of, is_size

if TYPE_CHECKING:
    from transformers import PreTrainedConfig

# Fields that count layers, or rounds over the same (of a folding trunk, of a decoder that writes text, of a
# sampler); default widths fit each other and cost nothing on meta, so only depth is cut.
DEPTH = re.compile(
    r"^(num_(hidden_)?layers|n_layers?|num_.*_layers|.*_num_(hidden_)?layers|n_head_layers|.*_layers|depth"
    r"|.*_depth|num_blocks|num_.*blocks|n_blocks|layers|.*num_layers.*|num_hidden_layers.*"
    r"|num_loops|max_recycles|max_text_length|inference_num_steps|num_inference_steps)$"
)
NOT_DEPTH = re.compile(
    r"(layer_norm|layerdrop|out_|return_|feature_|use_|apply|share|skip|no_rope|deepstack|fusion|_at_layers"
    r"|sliding|num_kv_shared|first_|selected|encoder_to|hash|mlp_only|global_attn|extract|conv|postnet|prenet"
    r"|predict|interleav|dense|cross_attention_layers|taps|aux|num_feature)"
)
LAYER_LIST = re.compile(r"(layer|block|pattern|types$)")
NUMBER = re.compile(r"\d+$")
STAGE = re.compile(r"\.\d+$")
# Lists of how many layers each stage has.
STAGED = frozenset({"depths", "depth", "stage_num_blocks", "stage_numb_of_layers", "n_attn_blocks"})
# Layer counts that hold at least one layer of what starts there.
STARTS = ("first_k_dense_replace", "num_dense_layers", "moe_layer_start_index")
MOST_STARTING = 6  # layers for one that starts late: each costs a run its time
TOGETHER = 8  # layers for all that lists say together
LAYERS = 2
# Numbers of layers that are of another kind than the others: which look at all, which look ahead.
PLACES = re.compile(r"(att\w*|block|look_\w+|only)_(layers|ind(ex|ic)es|idxs)$")
KINDS = 4  # different words or numbers that say of a kind: what has more has a number for each layer


def counts_layers(name: str) -> bool:
    """Whether a size is how many layers there are, of all or of a stage: `num_hidden_layers`, `depths.2`."""
    field = STAGE.sub("", name).rpartition(".")[2]
    return field in STAGED or _is_depth(field)


def _is_depth(field: str) -> bool:
    return DEPTH.match(field) is not None and not NOT_DEPTH.search(field)


def cut_depth(config: PreTrainedConfig) -> None:
    """The smallest prefix of the layers that holds every kind of layer, at least LAYERS."""
    for name in STAGED & config.__dict__.keys():
        _cut_stages(config, name)
    if "depths" in config.__dict__:  # the number of stages is the list's length: it stays
        return
    kept = _shortest_prefix(config)
    if config.__dict__.get("num_kv_shared_layers"):  # the last layers take keys and values from earlier ones
        kept += 1
        config.__dict__["num_kv_shared_layers"] = 1
    for name, value in list(config.__dict__.items()):
        if is_size(value) and _is_depth(name) and value > kept:
            _resize(config, value, kept)
            config.__dict__[name] = kept


def _cut_stages(config: PreTrainedConfig, name: str) -> None:
    """At most LAYERS in each stage, unless something is listed for each layer of a stage."""
    layers = config.__dict__[name]
    if not isinstance(layers, list | tuple) or not all(type(count) is int for count in layers):
        return
    nested = [one for value in config.__dict__.values() if isinstance(value, list | tuple) for one in value]
    if not any(isinstance(one, list | tuple) and len(one) in layers for one in nested):
        config.__dict__[name] = type(layers)(min(count, LAYERS) for count in layers)


def _shortest_prefix(config: PreTrainedConfig) -> int:
    kinds = [*_worded_kinds(config), *_numbered_kinds(config)]
    kept = max([LAYERS, *map(_until_all, kinds)])
    started = [min(start + 1, MOST_STARTING) for start in _starts(config)]
    kept = max([kept, *started])
    last = _last_output(config)
    kept = max(kept, last + 1 if last else 0)  # one more, so that it is not the very last
    return max(kept, _until_all_together(config, kinds))


def _until_all(kinds: Sequence[object]) -> int:
    """So many of the first that every kind is among them."""
    return max((kinds.index(kind) + 1 for kind in set(kinds)), default=0)


def _until_all_together(config: PreTrainedConfig, kinds: Sequence[Sequence[object]]) -> int:
    """So many that whatever two lists say of one layer is among them, if few are enough."""
    layers = max((len(one) for one in kinds), default=0)
    begun = [[place >= start for place in range(layers)] for start in _starts(config)]
    said = list(zip(*(one for one in (*kinds, *begun) if len(one) == layers), strict=True))
    needed = _until_all(said)
    return needed if needed <= TOGETHER else 0


def _starts(config: PreTrainedConfig) -> list[int]:
    """The first layers of what does not begin with the first of all."""
    starts = (config.__dict__.get(name) for name in STARTS)
    return [cast(int, start) for start in starts if is_size(start) or start == 1]


def _worded_kinds(config: PreTrainedConfig) -> list[Sequence[object]]:
    """The kind of each layer, where words tell it."""
    listed = [v for n, v in config.__dict__.items() if LAYER_LIST.search(n)]
    listed.append(getattr(config, "layers_block_type", None))  # a property of hybrid configs
    lists = (value for value in listed if isinstance(value, list | tuple) and len(value) >= 4)
    return [value for value in lists if all(isinstance(x, str) for x in value)]


def _numbered_kinds(config: PreTrainedConfig) -> Iterator[Sequence[object]]:
    """The kind of each layer, where numbers tell it: one for each layer, or those of layers of one kind."""
    fields = config.__dict__
    depths = {v for n, v in fields.items() if is_size(v) and _is_depth(n)}
    lists = {n: v for n, v in fields.items() if isinstance(v, list | tuple) and v}
    for name, value in lists.items():
        if not all(type(one) in (int, bool) for one in value):
            continue
        if len(value) in depths and LAYER_LIST.search(name) and len(set(value)) <= KINDS < len(value):
            yield value
        elif PLACES.search(name) and len(value) == len(set(value)):
            layers = min((depth for depth in depths if depth > max(value) >= min(value) >= 0), default=0)
            yield [place in value for place in range(layers)]


def follow_depth(config: PreTrainedConfig, name: str, hint: int) -> None:
    """Lists with one word per layer get as long as the number of layers that was answered.

    A model that goes through such a list asks for the number no more: that it is needed is written down here.

    Raises:
        ValueError: where a layer that is named as an output is beyond them, as the config would say.
    """
    if not _is_depth(name):
        return
    layers = config.__dict__[name]
    if len(config.__dict__.get("stage_names") or ()) == hint + 1 and layers < _last_output(config):
        raise ValueError(f"{name}: the output of layer {_last_output(config)} is wanted, and there is none")
    _resize(config, hint, hint_of(layers))
    if any(_lists_layers(field, value, hint_of(layers)) for field, value in config.__dict__.items()):
        int(layers)
    for field, default, derived in _derived(cast("Hashable", type(config)), name, hint_of(layers)):
        if config.__dict__.get(field) == default:
            config.__dict__[field] = list(derived)


def _resize(config: PreTrainedConfig, before: int, after: int) -> None:
    """All that lists layers, from one number of them to another."""
    if before == after:
        return
    fields = config.__dict__
    fields.update(lists_of_layers(fields, type(config), before, after))
    names = fields.get("stage_names") or []
    if len(names) == before + 1:  # what comes before the first layer has a name too
        numbered = [NUMBER.sub(str(i), names[-1]) for i in range(1, after + 1)]
        if not _last_output(config):
            fields["_out_indices"], fields["_out_features"] = [after], numbered[-1:]
        fields["stage_names"] = [names[0], *numbered]


def lists_of_layers(
    fields: Mapping[str, object], config_class: type[PreTrainedConfig], before: int, after: int
) -> dict[str, list[str]]:
    """What lists a word for each of `before` layers, for `after` of them: kinds go on as they went."""
    found: dict[str, list[str]] = {}
    for name, value in fields.items():
        if _lists_layers(name, value, before):
            kinds = cast("list[str]", value)
            last = _all_others(cast("Hashable", config_class), name, tuple(kinds))
            further = [last] * after if last else kinds * after
            found[name] = [*kinds, *further][:after]
    return found


@lru_cache(maxsize=256)
def _all_others(config_class: Hashable, name: str, first: tuple[str, ...]) -> str | None:
    """The kind of all other layers, where a config of the class begins so by default and goes on with one.

    After dense layers all have experts; layers whose kinds come round have none.
    """
    try:
        listed = cast("type[PreTrainedConfig]", config_class)().__dict__.get(name)
    except Exception:  # noqa: BLE001 - a config may need more than nothing, and say so with anything
        return None
    if not isinstance(listed, list) or tuple(listed[: len(first)]) != first:
        return None
    others = set(listed[len(first) :])
    return first[-1] if others == {first[-1]} else None


def _lists_layers(name: str, value: object, layers: int) -> bool:
    """Whether a field has one word for each of so many layers."""
    if not (isinstance(value, list) and len(value) == layers and LAYER_LIST.search(name)):
        return False
    return all(isinstance(x, str) for x in value)


@lru_cache(maxsize=256)
def _derived(
    config_class: Hashable, name: str, layers: int
) -> tuple[tuple[str, object, list[object]], ...]:
    """Lists of a config with more layers than the default has, which it derives from their number."""
    made = cast("type[PreTrainedConfig]", config_class)
    try:
        default = made().__dict__
        if not layers > default[name]:
            return ()
        deeper = made.from_dict({name: layers}).__dict__
    except Exception:  # noqa: BLE001 - a config may need more than that, and say so with anything
        return ()
    pairs = ((field, value, deeper.get(field)) for field, value in default.items())
    return tuple(
        (field, value, now)
        for field, value, now in pairs
        if isinstance(value, list) and isinstance(now, list) and len(value) != len(now)
    )


def _last_output(config: PreTrainedConfig) -> int:
    """The last layer that a backbone gives out as it was told; 0 where it gives out the very last alone."""
    names, wanted = (config.__dict__.get(field) or [] for field in ("stage_names", "_out_indices"))
    given = [one % len(names) for one in wanted] if names else []
    return 0 if given in ([], [len(names) - 1]) else max(given)
