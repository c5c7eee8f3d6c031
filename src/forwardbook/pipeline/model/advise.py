"""A model and devices in; the largest batch and context that each holds, and what bounds the phases there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from forwardbook.models.advice import LARGEST_BATCH, LARGEST_CONTEXT, Advice, Speed, largest
from forwardbook.models.memory import cached, memory
from forwardbook.models.record import PhaseCosts
from forwardbook.models.roofline import Device, timings
from forwardbook.models.totals import NoFormulas, SizesRefused, evaluate
from forwardbook.pipeline.model.analysis import Checked, made_for, sizes_of
from forwardbook.pipeline.model.source import ModelRefused
from forwardbook.pipeline.model.sweep import weight_bytes

CONTEXTS = ("seq_len", "decoder_seq_len")
LEAST_CONTEXT = 2  # one position is a shape of its own
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


def advise(asked: Checked) -> list[Advice]:
    """One piece of advice for each device.

    Raises:
        SizesRefused: for sizes that are missing.
    """
    sizes = sizes_of(asked.model.phase("prefill", asked.sizes, asked.widths), asked.sizes)
    return [_Adviser(asked, device, sizes).advice() for device in asked.devices]


@dataclass
class _Adviser:
    asked: Checked
    device: Device
    sizes: Mapping[str, int]
    limits: dict[str, str] = field(default_factory=dict)  # the last is nearest to what fits

    def advice(self) -> Advice:
        weights = weight_bytes(self.asked)
        batch = self.sizes["batch_size"]
        name = self.context_name()
        context = self.sizes.get(name, 1) if name else 1
        frontier = self.frontier(name) if name else ()
        return Advice(
            device=self.device,
            weight_bytes=weights,
            context=context,
            batch=batch,
            largest_batch=largest(lambda n: self.fits(batch_size=n), LARGEST_BATCH),
            largest_context=self.context_at(name, batch) if name else 0,
            frontier=frontier,
            speeds=tuple(self.speeds()),
            limits=tuple(self.limits.values()),
        )

    def context_name(self) -> str:
        """The size that a context of this model is."""
        phases = self.asked.model.costs.phases if self.asked.model.costs else []
        names = {p.name for phase in phases if phase.phase == "prefill" for p in phase.parameters}
        return next((name for name in CONTEXTS if name in names), "")

    def frontier(self, name: str) -> tuple[tuple[int, int], ...]:
        """The largest context at each batch size, as far as any fits."""
        found = ((batch, self.context_at(name, batch)) for batch in BATCHES)
        return tuple((batch, context) for batch, context in found if context)

    def context_at(self, name: str, batch: int) -> int:
        found = largest(lambda n: self.fits(batch_size=batch, **{name: n}), LARGEST_CONTEXT, LEAST_CONTEXT)
        positions = made_for(self.asked.model.architecture)
        if positions is not None and found > positions:
            self.limits["positions"] = f"the model was made for {positions:,} positions"
        return found

    def fits(self, **sizes: int) -> bool:
        """Whether prefill at these sizes, and decode after it, need no more than the device has."""
        needed = self.needed({**self.sizes, **sizes})
        return needed is not None and weight_bytes(self.asked) + needed <= self.device.memory

    def needed(self, sizes: Mapping[str, int]) -> Fraction | None:
        """Bytes beside the weights; None where the model does not take these sizes."""
        prefill = self.phase("prefill", sizes)
        if prefill is None:
            return None
        decode = None
        after = {**sizes, "kv_len": cached(sizes)}
        if self.asked.model.generates:
            decode = self.phase("decode", after)
            if decode is None:
                return None
        need = memory(prefill, sizes, self.asked.widths, decode).total
        if decode is not None:
            need = max(need, memory(decode, after, self.asked.widths).total)
        return need

    def phase(self, name: str, sizes: Mapping[str, int]) -> PhaseCosts | None:
        try:
            return self.asked.model.phase(name, sizes, self.asked.widths)
        except SizesRefused:
            raise
        except (ModelRefused, NoFormulas) as error:
            self.limits[name] = str(error).splitlines()[0]
            return None

    def speeds(self) -> list[Speed]:
        """What bounds each phase at the sizes given."""
        found: list[Speed] = []
        for name in ("prefill", "decode") if self.asked.model.generates else ("prefill",):
            sizes = {**self.sizes, "kv_len": cached(self.sizes)} if name == "decode" else self.sizes
            costs = self.phase(name, sizes)
            if costs is not None:
                totals = evaluate(costs, sizes, self.asked.widths, self.asked.request.attention)
                time = timings(totals, self.device)[0]
                found.append(Speed(name, time.bound, time.fused_bound, time.eager, time.fused))
        return found
