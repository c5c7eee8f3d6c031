"""A database as it is and entries to put in or take out; the new texts of the files that change out."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from forwardbook.schema import SCHEMA_VERSION, Entry
from forwardbook.workspace.database import entry_from, raw_entry
from forwardbook.workspace.database_file import entry_text, family_texts, rendered
from forwardbook.workspace.families import SPLIT_BYTES, FamilyTexts, family_of, family_path
from forwardbook.workspace.heads import Family, Head, head_of
from forwardbook.workspace.migrations import Json
from forwardbook.workspace.raw_entries import RawEntries


@dataclass(frozen=True, slots=True)
class _Placed:
    """The text of an entry, its family (empty: the main file), and its head."""

    text: str
    family: str
    head: Head


def new_texts(
    main: Path, present: Mapping[str, Json], changed: Mapping[str, Entry], remove: Collection[str], rules: str
) -> dict[Path, str | None]:
    """The files to be written, by path, None for one to be removed; the main file is the last."""
    dumped = {key: entry.model_dump(mode="json") for key, entry in changed.items() if key not in remove}
    for key, raw in dumped.items():
        entry_from(key, raw)  # a copy with other fields was never validated
    put = {key: _placed(raw, entry_text(raw)) for key, raw in dumped.items()}
    away = {*changed, *remove}
    if isinstance(present, RawEntries) and isinstance(present.texts, FamilyTexts):
        return _in_families(main, present.texts, present.version, put, away, rules)
    kept = {key: text_of(present, key) for key in present if key not in away}
    texts = kept | {key: one.text for key, one in put.items()}
    if sum(map(len, texts.values())) <= SPLIT_BYTES:
        return {main: rendered(texts, rules)}
    every = put | {key: _placed(raw_entry(present, key), text) for key, text in kept.items()}
    return _in_families(main, FamilyTexts({}, {}, lambda name: {}), SCHEMA_VERSION, every, set(), rules)


def text_of(entries: Mapping[str, Json], key: str) -> str:
    """An entry as it stands in the file; what somebody wrote in another form is written in ours."""
    text = entries.rendered(key) if isinstance(entries, RawEntries) else None
    return entry_text(raw_entry(entries, key)) if text is None else text


def _in_families(
    main: Path,
    present: FamilyTexts,
    version: int,
    put: Mapping[str, _Placed],
    away: Collection[str],
    rules: str,
) -> dict[Path, str | None]:
    """The main file and those of the families that have an entry put in or taken out."""
    index = dict(present.index)
    old = {name for name, family in index.items() if not family.entries.keys().isdisjoint(away)}
    files: dict[Path, str | None] = {}
    for name in sorted(old | {one.family for one in put.values()} - {""}):
        mine = {key: one for key, one in put.items() if one.family == name}
        known = index[name].entries if name in index else {}
        kept = {key: head for key, head in known.items() if key not in away}
        there = RawEntries(family_texts(main, name) if kept else {}, SCHEMA_VERSION)
        texts = {key: text_of(there, key) for key in kept} | {key: one.text for key, one in mine.items()}
        files[family_path(main, name)] = text = rendered(texts, "") if texts else None
        index.pop(name, None)
        if text is not None:
            heads = kept | {key: one.head for key, one in mine.items()}
            index[name] = Family(len(text.encode()), dict(sorted(heads.items())))
    ours = RawEntries(present.main, version)
    texts = {key: text_of(ours, key) for key in ours if key not in away}
    texts |= {key: one.text for key, one in put.items() if not one.family}
    return {**files, main: rendered(texts, rules, index)}


def _placed(raw: Json, text: str) -> _Placed:
    head = head_of(raw)
    return _Placed(text, family_of(head.full_class_name, head.library, bool(raw.get("code_hash"))), head)
