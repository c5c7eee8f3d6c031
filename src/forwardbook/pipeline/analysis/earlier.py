"""A stored entry and the one that takes its place in; what is lost with it, in one line, out."""

from __future__ import annotations

import json
import shlex

from forwardbook.schema import Entry, Given


def lost_with(before: Entry | None, now: Entry) -> str:
    """What of an earlier analysis with other options is stored no more; empty where nothing is lost."""
    if before is None or before.given == now.given or not before.regimes:
        return ""
    calls = {one.name: f" (given {'; '.join(one.given)})" if one.given else "" for one in before.regimes}
    regimes = "; ".join(f"{name}{call}" for name, call in calls.items())
    return (
        f"it replaces what was analysed {flags(before.given)}, with these regimes: {regimes}; "
        "analyse that again to have it back"
    )


def flags(given: Given | None) -> str:
    """The options of an analysis as they are typed."""
    if given is None:
        return "without --init, --input and --config"
    typed = [f"--init {shlex.quote(f'{name}={value}')}" for name, value in given.init.items()]
    typed += [f"--input {shlex.quote(f'{name}={value}')}" for name, value in given.inputs.items()]
    if given.config is not None:
        text = json.dumps(given.config, ensure_ascii=False)
        typed.append(f"a --config of {text if len(text) <= 100 else text[:97] + '...'}")
    return "with " + " ".join(typed)
