"""Entries in; for whoever has a class's name and sizes its costs, as numbers and as formulas, out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from forwardbook.entries.closed import Closed, closed
from forwardbook.entries.definitions import completed
from forwardbook.entries.evaluate import Evaluation, Evaluator
from forwardbook.entries.record import Entry
from forwardbook.entries.refusal import not_together, outside, several_classes, unknown_class, unknown_names
from forwardbook.entries.regimes import EntryError, Regimes, Signature
from forwardbook.errors import FormulaError
from forwardbook.schema import WIDTH_NAMES


class CostModel:
    """The costs of the classes of a store; `names` are their full names by key, where these are known."""

    def __init__(self, entries: Mapping[str, Entry], names: Mapping[str, str] | None = None) -> None:
        self.entries = entries
        self._names = names
        self.evaluator = Evaluator(entries)

    @property
    def regimes(self) -> Regimes:
        """The regimes of each entry, read."""
        return self.evaluator.regimes

    @property
    def names(self) -> Mapping[str, str]:
        """The full class name of each entry."""
        if self._names is None:
            self._names = {key: entry.full_class_name for key, entry in self.entries.items()}
        return self._names

    def get(self, name: str) -> Entry:
        """The entry of a class, by whatever `find` takes."""
        return self.regimes.entry(self.find(name))

    def find(self, name: str) -> str:
        """The key of a class, by its key, its full name, or the end of that: `LlamaMLP`, `llama.LlamaMLP`.

        Raises:
            EntryError: no class has the name, or several have.
        """
        keys = self.matches(name)
        if len(keys) == 1:
            return keys[0]
        if keys:
            raise several_classes(name, keys)
        raise unknown_class(name, self.names)

    def matches(self, name: str) -> list[str]:
        """The keys of all classes that a name may mean; a key or a full name means one."""
        if name in self.entries:
            return [name]
        keys = [key for key, full in self.names.items() if _ends(full, name)]
        return [key for key in keys if self.names[key] == name] or keys

    def way(self, name: str, text: str) -> tuple[str, str | None]:
        """The signature of a class that a text names, or the regime that it names and the signature of that.

        Raises:
            EntryError: there is no such class, or it has neither.
        """
        key = self.find(name)
        regimes = self.regimes.entry(self.regimes.holder(key)).regimes
        if any(one.signature == text for one in regimes):
            return text, None
        for one in regimes:
            if one.name == text:
                return one.signature, text
        known = "; ".join(f"{one.name!r}" for one in regimes) or "none"
        raise EntryError(f"reading the entry {key}: there is no regime {text!r}; its regimes: {known}")

    def evaluate(
        self,
        name: str,
        sizes: Mapping[str, int],
        signature: str | None = None,
        choices: Mapping[str, JsonValue] | None = None,
        use_defaults: bool = False,
        regime: str | None = None,
    ) -> Evaluation:
        """What one call costs at sizes of enough names that definitions give the others.

        Of the signatures that have all names and choices the first is taken of which a regime holds.
        With `use_defaults` a name without a size has the class's own default. A regime that is asked for
        must be the one that holds.

        Raises:
            OutsideRegimes: no regime holds.
            EntryError: there is no such class, signature, choice or name, or an entry is damaged.
        """
        key = self.find(name)
        several = self._having(key, sizes, self._of_call(key, signature, choices or {}))
        entry = self.regimes.entry(self.regimes.holder(key))
        defaults = {one.name: one.default for one in entry.names if one.default is not None}
        for one in several:
            given = _with_defaults(one, sizes, defaults) if use_defaults else sizes
            found = self.evaluator.at(one, given)
            if found is not None and regime in (None, found.regime.regime.name):
                return found
        given = _with_defaults(several[0], sizes, defaults) if use_defaults and len(several) == 1 else sizes
        raise outside(self.evaluator, key, several, given, regime)

    def closed(self, name: str, signature: str | None = None, regime: str | None = None) -> Closed:
        """The quantities of a regime as formulas of the class's own names; by default of the first regime.

        Raises:
            EntryError: there is no such class, signature or regime.
        """
        key = self.find(name)
        several = [one for each in self._of_call(key, signature, {}) for one in each.regimes]
        for one in several:
            if regime in (None, one.regime.name):
                return closed(self.regimes, one)
        known = ", ".join(one.regime.name for one in several)
        raise EntryError(f"reading the entry {key}: it has no regime {regime!r}; its regimes: {known}")

    def calls(self, evaluation: Evaluation) -> Iterator[tuple[int, Evaluation | None]]:
        """For each call of the regime of an evaluation how often it is made, and what one costs."""
        for call in evaluation.regime.calls:
            yield self.evaluator.call(call, evaluation.sizes)

    def _of_call(self, key: str, signature: str | None, choices: Mapping[str, JsonValue]) -> list[Signature]:
        """The signatures of a class that are asked for."""
        names = self.regimes.signatures(key) if signature is None else (signature,)
        if not names:
            raise EntryError(f"evaluating {key}: it has no formulas ({self.get(key).reason or 'unproved'})")
        every = [self.regimes.signature(key, name) for name in names]
        found = [one for one in every if choices.items() <= _choices(one).items()]
        if found:
            return found
        said = ", ".join(f"{name}={value!r}" for name, value in choices.items())
        open_to = sorted({f"{n}={value!r}" for one in every for n, value in _choices(one).items()})
        raise EntryError(
            f"evaluating {key}: no signature has {said}; there are {', '.join(open_to) or 'none'}"
        )

    def _having(self, key: str, sizes: Mapping[str, int], several: list[Signature]) -> list[Signature]:
        """Those signatures that have all the names; what no signature of the class has costs nothing."""
        every = [self.regimes.signature(key, name) for name in self.regimes.signatures(key)]
        somewhere = {name for one in every for name in one.names}
        entry = self.regimes.entry(self.regimes.holder(key))
        free = {*WIDTH_NAMES, *(one.name for one in entry.names)} - somewhere
        given = sizes.keys() - free - set(WIDTH_NAMES)
        found = [one for one in several if given <= set(one.names)]
        if not found:
            known = sorted({name for one in several for name in one.names})
            if unknown := sorted(given - set(known)):
                raise unknown_names(key, unknown, known)
            raise not_together(key, {one.name: sorted(given - set(one.names)) for one in several})
        return found


def _ends(full: str, name: str) -> bool:
    return full == name or full.endswith(f".{name}")


def _choices(signature: Signature) -> Mapping[str, JsonValue]:
    return signature.regimes[0].regime.choices


def _with_defaults(
    signature: Signature, sizes: Mapping[str, int], defaults: Mapping[str, int]
) -> Mapping[str, int]:
    """The sizes, and defaults of names that do not follow from them by the first regime's definitions."""
    try:
        return completed(signature.regimes[0].definitions, sizes, defaults)
    except FormulaError:
        return {**defaults, **sizes}
