"""The roofline of the browser gives the least times and bounds of `forwardbook.models.roofline`."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from typing import TYPE_CHECKING

from forwardbook.models.roofline import ridge, timing
from forwardbook.models.totals import Numbers, Widths
from forwardbook.pipeline.site.assets import device_table
from forwardbook.profiling.peaks import devices

if TYPE_CHECKING:
    from tests.site.browser.engine import Scripts


def test_times_on_every_device_are_those_of_python(scripts: Scripts) -> None:
    """Of random calls in random widths on all devices: format, ridge, seconds (to rounding) and bound."""
    draw = random.Random(2)
    table = json.loads(device_table().as_json())
    for _ in range(40):
        widths = Widths(w_bit=draw.choice((2, 4, 8, 16, 32, 64)), a_bit=draw.choice((4, 8, 16, 32)))
        call = Numbers(flops=draw.getrandbits(draw.choice((1, 30, 50))), reads=draw.getrandbits(40))
        case = {
            "table": table,
            "bits": max(widths.w_bit, widths.a_bit),
            "flops": str(call.flops),
            "bytes": str(call.reads),
        }
        [found] = scripts.each("timing", [case])
        for device, (kind, corner, seconds, bound) in zip(devices(), found, strict=True):
            expected = timing(call, device, widths)
            assert kind == device.format_for(widths)
            assert abs(Fraction(corner) / ridge(device, widths) - 1) < 1e-12
            assert abs(float(Fraction(seconds)) - expected.eager) <= 1e-12 * expected.eager
            assert bound == expected.bound
