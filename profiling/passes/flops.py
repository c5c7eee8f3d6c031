"""A workload in; the flops of each call as torch's own counter counts them, by module, out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode, sdpa_flop_count

from forwardbook.profiling.passes.workload import CallSeen, Workload, watching


@dataclass(frozen=True)
class CountedCall:
    """One call: flops in all, by operator and by qualified module name."""

    call: CallSeen
    flops: int
    operators: Mapping[str, int]
    modules: Mapping[str, int]


@dataclass
class _Tally:
    counter: FlopCounterMode
    found: list[CountedCall] = field(default_factory=list)
    start: dict[str, dict[str, int]] = field(default_factory=dict)

    def before(self, call: CallSeen) -> None:
        self.start = self._now()

    def after(self, call: CallSeen) -> None:
        now = self._now()
        modules: dict[str, int] = {}
        operators: dict[str, int] = {}
        for name, counts in now.items():
            for operator, count in counts.items():
                more = count - self.start.get(name, {}).get(operator, 0)
                if name == "Global":
                    operators[operator] = operators.get(operator, 0) + more
                else:
                    modules[name] = modules.get(name, 0) + more
        operators = {name: count for name, count in operators.items() if count}
        self.found.append(CountedCall(call, sum(operators.values()), operators, modules))

    def _now(self) -> dict[str, dict[str, int]]:
        counts = self.counter.get_flop_counts()
        return {str(name): {str(op): int(n) for op, n in ops.items()} for name, ops in counts.items()}


def count_calls(workload: Workload) -> list[CountedCall]:
    """Every call of one run, with what the counter of torch misses on processors put in."""
    counter = FlopCounterMode(display=False, custom_mapping=_missing())
    tally = _Tally(counter)
    with watching(workload, tally), counter:
        workload.run()
    return tally.found


def _missing() -> dict[Any, Any]:
    """Formulas for what this version's counter does not know: attention of processors, grouped products."""
    found: dict[Any, Any] = {}
    attention = getattr(torch.ops.aten, "_scaled_dot_product_flash_attention_for_cpu", None)
    if attention is not None:
        found[attention] = _attention
    grouped = getattr(torch.ops.aten, "_grouped_mm", None)
    if grouped is not None:
        found[grouped] = _grouped
    return found


def _attention(query: Any, key: Any, value: Any, *rest: Any, out_shape: Any = None, **more: Any) -> int:
    return int(sdpa_flop_count(query, key, value))


def _grouped(left: Any, right: Any, *rest: Any, out_shape: Any = None, **more: Any) -> int:
    """Each row meets the matrix of its own group."""
    return int(2 * prod(left) * right[-1])
