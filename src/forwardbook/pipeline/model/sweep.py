"""A model and ranges of sizes in; tables of its phases out, formulas derived where none hold yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from forwardbook.models.memory import cached
from forwardbook.models.record import PhaseCosts
from forwardbook.models.sweep import Columns, Sweep, Uncovered, grid
from forwardbook.models.totals import SizesRefused, is_same_call
from forwardbook.pipeline.model.analysis import Checked
from forwardbook.pipeline.model.source import ModelRefused

DERIVATIONS = 12  # regimes derived for one sweep; more is a model whose cost has no few shapes


def sweep(asked: Checked, values: Mapping[str, Sequence[int]]) -> dict[str, Columns]:
    """For each phase asked for the table, column by column; one row for each point.

    Raises:
        SizesRefused: for sizes that are missing, or that no phase has.
    """
    fixed = {name: [size] for name, size in asked.sizes.items() if name not in values}
    found: dict[str, Columns] = {}
    for name in asked.phases:
        ranges = {**fixed, **values}
        if name == "decode" and "kv_len" not in ranges:
            grown = next((n for n in ("decoder_seq_len", "seq_len") if n in ranges), None)
            if grown is not None:
                ranges["kv_len"] = ranges[grown] if "decoder_seq_len" in ranges else ranges.pop(grown)
        first = {size: several[0] for size, several in ranges.items()}
        phase = asked.model.phase(name, first, asked.widths)
        needed = [p.name for p in phase.parameters]
        if unknown := [size for size in values if size not in needed and size not in ("seq_len", "kv_len")]:
            raise SizesRefused(
                f"sweeping {name}: not a size of this model: {', '.join(unknown)}; it has {', '.join(needed)}"
            )
        found[name] = _columns(asked, name, {size: ranges[size] for size in needed})
    return found


def _columns(asked: Checked, name: str, values: Mapping[str, Sequence[int]]) -> Columns:
    model = asked.model
    points = grid(values)
    for _ in range(DERIVATIONS):
        assert model.costs is not None
        known = [p for p in model.costs.phases if p.phase == name]
        phases = [p for p in known if is_same_call(p, known[0])]
        decodes = _decodes(asked, {size: int(array[0]) for size, array in points.items()})
        try:
            return Sweep(
                phases,
                decodes,
                points,
                asked.widths,
                asked.request.attention,
                weight_bytes(asked),
                asked.devices,
            ).columns()
        except Uncovered as error:
            model.phase(error.phase, error.sizes, asked.widths)  # derives what holds there
    raise ModelRefused(
        f"sweeping {model.architecture.model_id}: {DERIVATIONS} regimes were derived and there are more"
    )


def _decodes(asked: Checked, sizes: Mapping[str, int]) -> list[PhaseCosts]:
    """The regimes of decode, at least one where the model has a decode."""
    model = asked.model
    assert model.costs is not None
    if not model.generates:
        return []
    found = [p for p in model.costs.phases if p.phase == "decode"]
    return found or [model.phase("decode", {**sizes, "kv_len": cached(sizes)}, asked.widths)]


def weight_bytes(asked: Checked) -> int:
    """Bytes of all parameters and buffers, each at its width."""
    assert asked.model.costs is not None
    return asked.model.costs.weight_bytes(asked.widths.w_bit)
