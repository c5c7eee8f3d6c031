"""Installed packages in; scripts, styles and tables that the built site serves out, none from a network."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Final

from forwardbook.book.mermaid.engine import mermaid_path
from forwardbook.book.site.data import DEVICES_FILE, DeviceTable, SiteDevice
from forwardbook.models.roofline import FORMATS
from forwardbook.pipeline.site.folder import SiteFolder
from forwardbook.profiling.peaks import devices

OWN: Final = "book/site/assets"
SCRIPTS: Final = (
    "mermaid-lazy", "rational", "formula", "regimes", "amounts", "peaks", "dom", "address", "plot",
    "roofline", "calculator", "lines", "table", "catalogue",
)  # fmt: skip
"""Scripts of ours, each after those that it uses; a page loads all of them as one file."""

SCRIPT: Final = "assets/js/forwardbook.js"
MERMAID: Final = "assets/vendor/mermaid.min.js"
MERMAID_LICENCE: Final = "assets/vendor/mermaid.LICENSE.txt"
_NOTICE: Final = """mermaid, copied from the package mermaidx as it is installed. MIT License.
Copyright (c) 2014 - present Knut Sveidqvist. https://github.com/mermaid-js/mermaid/blob/develop/LICENSE
It bundles further libraries under licences of their own, among them d3 (ISC), dompurify (MPL-2.0 OR
Apache-2.0), cytoscape (MIT) and katex (MIT).
"""


def put_assets(folder: SiteFolder) -> None:
    """Write all assets that are not there yet."""
    own = Path(str(files("forwardbook"))) / OWN
    for path in sorted(own.rglob("*")):
        if path.is_file() and path.suffix in (".css", ".svg"):
            _copied(folder, path, f"assets/{path.relative_to(own).as_posix()}")
    folder.put(SCRIPT, "\n".join((own / "js" / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS))
    _copied(folder, mermaid_path(), MERMAID)
    folder.put(MERMAID_LICENCE, _NOTICE)
    folder.put(DEVICES_FILE, device_table().as_json())


def device_table() -> DeviceTable:
    """The devices of the table of peaks."""
    return DeviceTable(
        devices=tuple(
            SiteDevice(
                id=device.id,
                name=device.name,
                flops={kind: str(int(peak)) for kind, peak in device.flops.items()},
                bandwidth=str(int(device.bandwidth)),
                memory=str(device.memory),
            )
            for device in devices()
        ),
        formats=FORMATS,
    )


def _copied(folder: SiteFolder, path: Path, name: str) -> None:
    status = path.stat()
    made_from = f"{status.st_size} {status.st_mtime_ns}"
    if not folder.is_current(name, made_from):
        folder.put(name, path.read_bytes(), made_from)
