"""Of which code and which engine a formula is."""

from __future__ import annotations

from pathlib import Path

from torch import nn

from forwardbook.pipeline.analysis.subject import subject
from forwardbook.pipeline.composed.origin import ROOMS, digest_of, engine_digest, source_hash


def test_digest_changes_with_each_byte_of_the_engine(tmp_path: Path) -> None:
    """With a file's bytes and its name, and with nothing outside its rooms."""
    for room in ROOMS:
        (tmp_path / room).mkdir(parents=True)
    file = tmp_path / ROOMS[0] / "one.py"
    file.write_text("a = 1\n")
    before = digest_of(tmp_path)
    (tmp_path / "cli.py").write_text("b = 2\n")
    assert before == digest_of(tmp_path)

    file.write_text("a = 2\n")
    changed = digest_of(tmp_path)
    file.rename(file.with_name("two.py"))

    assert 3 == len({before, changed, digest_of(tmp_path)})


def test_every_room_of_the_engine_is_there() -> None:
    """A room that was moved would drop out of the digest in silence."""
    import forwardbook

    root = Path(forwardbook.__file__).parent

    assert all(list((root / room).glob("*.py")) for room in ROOMS)
    assert engine_digest() == digest_of(root)


def test_source_hash_is_that_of_the_catalogue() -> None:
    """One class has one hash, whoever asks; a class without source has none."""
    assert subject("torch.nn.Linear").source_hash == source_hash(nn.Linear)
    assert "" == source_hash(type("Made", (nn.Module,), {}))
