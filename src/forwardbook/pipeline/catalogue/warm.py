"""A library and classes of it in; what every unit's process needs is imported and read: engine, sources."""

from __future__ import annotations

import contextlib
import importlib
import warnings
from collections.abc import Sequence

from forwardbook.analyzers.instances.adapters import shared_by
from forwardbook.analyzers.instances.recipes import recipes_for
from forwardbook.analyzers.reader import Sources, family_digest, read_class
from forwardbook.analyzers.reader.autocast import autocasts
from forwardbook.pipeline.derivation.explore import regimes_of

_ANY = "torch.nn.modules.linear.Linear"


def warm(given: Sequence[str]) -> None:
    """Import what most units of the library, `given[0]`, share, and read the classes named after it.

    Sources are read as text. A layer of torch is derived and proved once, so that all the engine needs is
    there. Nothing that is analysed is imported.
    """
    library, *names = given
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for module in shared_by(library):
            with contextlib.suppress(Exception):
                importlib.import_module(module)
        regimes_of(recipes_for(_ANY)[0], 0, 1, False)
    sources = Sources()
    for name in names:
        with contextlib.suppress(Exception):
            read_class(name, sources=sources)
            family_digest(name, sources)
            autocasts(name)
