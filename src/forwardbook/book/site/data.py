"""What the browser is given: the values inside the fences of a page, as frozen models with a JSON form.

A fence holds one line of JSON; its formatter (`fences.py`) puts the same JSON into the attribute `data-fb` of
an element. Integers that can exceed 2^53 travel as decimal strings, so that `JSON.parse` loses no digit.
"""

from __future__ import annotations

import json
from typing import Final, Literal

from pydantic import Field

from forwardbook.schema import Formula, Record

Decimal = str
"""An integer written with digits, `-` in front where it is negative."""

DEVICES_FILE: Final = "assets/data/devices.json"
"""A `DeviceTable`, seen from the root of the site."""

CATALOGUE_FILE: Final = "assets/data/catalogue.json"
"""A `CatalogueIndex`, seen from the root of the site."""

EAGER: Final = "eager: layer after layer, each moves the bytes of its own operations"
"""The time of a call that is the sum over its layers."""

_AS_ESCAPE: Final = str.maketrans({each: f"\\u{ord(each):04x}" for each in "`~<>&'"})


class SiteData(Record):
    """A value that a fence or a file of the site carries."""

    def as_json(self) -> str:
        """One line of ASCII that ends no fence, no tag and no attribute in single quotes."""
        text = json.dumps(self.model_dump(mode="json"), separators=(",", ":"), ensure_ascii=True)
        return text.translate(_AS_ESCAPE)


class Quantity(SiteData):
    """A column of results: `unit` is `op` (counted) or `B` (bytes)."""

    name: str
    unit: Literal["op", "B"]
    meaning: str


class Input(SiteData):
    """A parameter: its name in formulas, what it means, where its value comes from.

    `default` is empty where the call that the page begins with does not have this size (`kv_len` of a
    prefill). An input that is empty is not given: a regime is taken only if it takes exactly the names
    given, `bits` aside.
    """

    name: str
    meaning: str = ""
    source: str = ""
    default: Decimal = ""


class Part(SiteData):
    """What runs as one, `times` in a call: its flops and the bytes that it reads and writes."""

    times: int = 1
    flops: Formula
    moved: Formula


class CalculatorRegime(SiteData):
    """One shape of the cost.

    It holds where every condition is true (a division by zero inside one counts as false) and every
    parameter is at least 1, or 0 where `conditions` has `{name} >= 0`. The first regime that holds is used.
    `formulas` has a formula for each quantity; `parameters` are the names that they and the conditions use.
    `//` in a formula leaves no remainder for whole sizes; `floor(a / b)` and `ceil(a / b)` round.
    `parts` run one after another and add up to the flops, reads and writes: the time of a call is their sum.
    `together` lines that call modules are in one part with what is beside them, which takes no longer than
    they do apart: where there are any, the sum is a lower bound.
    """

    name: str
    context: str = ""
    conditions: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    formulas: dict[str, Formula]
    parts: tuple[Part, ...] = ()
    together: int = 0


class Preset(SiteData):
    """Values of a known model; inputs that `values` does not name keep what they have."""

    name: str
    regime: str = ""
    values: dict[str, Decimal]


class Calculator(SiteData):
    """```` ```fb-calc ````: everything that a live calculator needs.

    `bits` names inputs that are bytes of an element (`w_dtype_bytes`, ...) and are shown in bits; 4 bit are
    half a byte: their value is a fraction. `expected` are the results at the defaults in regime `regime`: the
    page shows them before any script runs.
    """

    key: str
    class_name: str
    quantities: tuple[Quantity, ...]
    inputs: tuple[Input, ...]
    bits: tuple[str, ...] = ()
    regimes: tuple[CalculatorRegime, ...]
    presets: tuple[Preset, ...] = ()
    regime: str = ""
    expected: dict[str, Decimal] = Field(default_factory=dict)
    devices: str = DEVICES_FILE
    by_part: str = "by part: the parts of a call one after another"
    """What a part of a call is, in words, a name and a colon first: its time is the sum over its parts."""


class SourceLine(SiteData):
    """A line of source; nothing in `regimes` where it costs nothing.

    `end` is the last line of the statement that begins here; `regimes` gives for each regime by its name the
    formulas of flops, pointwise_ops, reads and writes that are not zero.
    """

    number: int
    code: str
    end: int = 0
    operations: tuple[str, ...] = ()
    regimes: dict[str, dict[str, Formula]] = Field(default_factory=dict)


class Listing(SiteData):
    """```` ```fb-lines ````: the source of a class with the cost of each line beside it.

    `complete` is false where the source is not installed and only lines with a cost are known.
    """

    file: str
    regimes: tuple[str, ...]
    lines: tuple[SourceLine, ...]
    complete: bool = True


class CatalogueRow(SiteData):
    """A class in the catalogue; `page` is seen from the root of the site."""

    key: str
    name: str
    page: str
    library: str
    verdict: str
    derived_by: tuple[str, ...] = ()
    ops: tuple[str, ...] = ()
    regimes: int = 0
    unresolved: int = 0
    validated: bool = False


class CatalogueIndex(SiteData):
    """The file that ```` ```fb-catalogue ```` points to; `ops` of a row are places in the list `ops`."""

    columns: tuple[str, ...]
    ops: tuple[str, ...]
    rows: tuple[tuple[str | int | bool | tuple[str, ...] | tuple[int, ...], ...], ...]


class Catalogue(SiteData):
    """```` ```fb-catalogue ````: where the index is, and how many rows it has of each verdict."""

    index: str = CATALOGUE_FILE
    total: int = 0
    verdicts: dict[str, int] = Field(default_factory=dict)


class RooflinePoint(SiteData):
    """Work of one call: flops and bytes moved; `parts` run one after another: times, flops, bytes of each."""

    name: str
    flops: Decimal
    bytes: Decimal
    parts: tuple[tuple[int, Decimal, Decimal], ...] = ()


class Roofline(SiteData):
    """```` ```fb-roofline ````: points under the roofs of the devices.

    `w_bits` and `a_bits` choose the arithmetic of a device: the narrowest format that holds both.
    """

    points: tuple[RooflinePoint, ...]
    chosen: tuple[str, ...] = ()
    w_bits: int = 16
    a_bits: int = 16
    devices: str = DEVICES_FILE


class SiteDevice(SiteData):
    """What a device can do at most: flop/s by number format, bytes per second, bytes of memory."""

    id: str
    name: str
    flops: dict[str, Decimal]
    bandwidth: Decimal
    memory: Decimal


class DeviceTable(SiteData):
    """The file of devices: their peaks and the number formats from narrow to wide, in bits."""

    devices: tuple[SiteDevice, ...]
    formats: tuple[tuple[int, tuple[str, ...]], ...]


class TreeBox(SiteData):
    """A layer in the picture of a cost tree: its share of the whole and where it begins, in millionths."""

    label: str
    detail: str
    left: int
    width: int
    depth: int


class CostTree(SiteData):
    """```` ```fb-tree ````: layers beneath layers, each as wide as its share of a quantity."""

    title: str
    boxes: tuple[TreeBox, ...]


class Grid(SiteData):
    """```` ```fb-table ````: a table of plain text whose first column names its rows."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
