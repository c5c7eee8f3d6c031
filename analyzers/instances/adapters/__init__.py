"""A library's name in, its adapter out: which files to read, and ways to build and call its classes."""

from __future__ import annotations

from forwardbook.analyzers.instances.adapters.adapter import Adapter, Called, Way


def adapter_for(library: str, called: Called | None = None) -> Adapter:
    """The adapter of a library that has one, else the plain one; `called` runs its trials, where given."""
    if library == "transformers":
        from forwardbook.analyzers.instances.adapters.transformers_library import TransformersAdapter

        return TransformersAdapter()
    if library == "torch":
        from forwardbook.analyzers.instances.adapters.torch_library import TorchAdapter

        return TorchAdapter()
    from forwardbook.analyzers.instances.adapters.plain import PlainAdapter

    return PlainAdapter(library, called) if called is not None else PlainAdapter(library)


def shared_by(library: str) -> tuple[str, ...]:
    """What most units of a library import, none of it analysed."""
    from forwardbook.analyzers.instances.adapters.transformers_shared import SHARED

    return SHARED if library == "transformers" else ()


__all__ = ["Adapter", "Called", "Way", "adapter_for", "shared_by"]
