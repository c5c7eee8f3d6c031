"""Fields of a config that are the sum of others, which the config keeps as numbers of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping
from typing import Final, cast

# Fields that are the sum of others in configs that have the first field named; kept in step with them.
DERIVED: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    # multi-head latent attention: a head is a plain part and a rotated part, the latter's width is called
    # head_dim for the rotary embedding, and every query head has its key and value
    "qk_head_dim": ("kv_lora_rank", ("qk_nope_head_dim", "qk_rope_head_dim")),
    "head_dim": ("kv_lora_rank", ("qk_rope_head_dim",)),
    "num_key_value_heads": ("kv_lora_rank", ("num_attention_heads",)),
}


def derived_names(fields: Mapping[str, object]) -> list[str]:
    """Fields that are the sum of others: in a config that has the first field named, and as it stands."""
    return [name for name in DERIVED if _is_sum(fields, name)]


def derive(fields: MutableMapping[str, object], names: Iterable[str]) -> None:
    """Makes those fields the sum of what the others are by now."""
    for name in names:
        fields[name] = sum(cast(int, fields[term]) for term in DERIVED[name][1])


def _is_sum(fields: Mapping[str, object], name: str) -> bool:
    owner, terms = DERIVED[name]
    if not all(isinstance(fields.get(field), int) for field in (name, owner, *terms)):
        return False
    return bool(fields[name] == sum(cast(int, fields[term]) for term in terms))
