"""The proof points that are kept outside the database."""

import json
import random
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from forwardbook.errors import ForwardbookError
from forwardbook.registry import Registry
from forwardbook.schema import Entry, Regime
from forwardbook.workspace import Workspace

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT))
from benchmarks.goldens import (  # noqa: E402 - found by the line above
    FOLDER,
    LIBRARIES,
    Golden,
    Point,
    proved,
    read,
    text_of,
)

sys.path.remove(str(ROOT))

SEED, SAMPLE = 20, 60


@pytest.fixture(scope="module")
def registry() -> Registry:
    return Registry(Workspace(ROOT))


def as_golden(key: str, entry: Entry, regime: Regime) -> Golden:
    assert regime.proof is not None
    points = tuple(Point(point.sizes, point.measured) for point in regime.points)
    said = (regime.proof.dtype, regime.context, regime.given, regime.choices, regime.assumptions, points)
    return Golden(entry.full_class_name, key, regime.name, regime.proof.verdict, *said)


def test_a_random_sample_of_the_database_is_read_as_it_was_written(
    tmp_path: Path, registry: Registry
) -> None:
    database = registry.database
    keys = random.Random(SEED).sample(sorted(database), SAMPLE)
    entries = {key: database[key] for key in keys}
    (tmp_path / "some.jsonl").write_text(text_of(entries, {"commit": "c"}), encoding="utf-8")
    found = read(tmp_path / "some.jsonl")
    expected = [as_golden(key, entry, one) for key, entry in entries.items() for one in proved(entry)]
    assert sorted(found.regimes, key=repr) == sorted(expected, key=repr)
    assert found.same_as == {one.full_class_name: one.same_as for one in entries.values() if one.same_as}


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_goldens_are_what_the_database_says_that_they_are_from(library: str, registry: Registry) -> None:
    found, database = read(FOLDER / f"{library}.jsonl"), registry.database
    if found.origin["rules"] != database.rules_version:
        pytest.skip("the database was built anew since")
    by_key = defaultdict[str, list[Golden]](list)
    for golden in found.regimes:
        by_key[golden.key].append(golden)
    for key in random.Random(SEED).sample(sorted(by_key), SAMPLE):
        entry = database[key]
        assert by_key[key] == [as_golden(key, entry, one) for one in proved(entry)]


def test_what_a_golden_does_not_say_is_plain(tmp_path: Path) -> None:
    lines = (
        {"format": "forwardbook goldens 1", "quantities": ["flops"], "origin": {}, "names": ["n", "m"]},
        {
            "module": "lib.a",
            "texts": ["x"],
            "tables": [{"names": [1], "points": [[3], [4]]}],
            "runs": [{"at": [1]}],
            "ways": [{"given": [0]}],
        },
        {"class": "One"},
        {"way": 0, "run": 0, "measured": [[8]]},
        {"class": "Two", "same_as": "lib_One"},
    )
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    found = read(tmp_path / "a.jsonl")
    [one] = found.regimes
    assert one == Golden(
        "lib.a.One", "lib_One", "default", "exact", "float32, bfloat16", "called by itself",
        ("x",), {}, (), (Point({"m": 4}, {"flops": 8}),),
    )  # fmt: skip
    assert found.same_as == {"lib.a.Two": "lib_One"}


@pytest.mark.parametrize("text", ["", "[]", '{"format": "other"}', "no json"])
def test_a_file_of_another_format_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "other.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(ForwardbookError, match=r"reading goldens of other\.jsonl"):
        read(tmp_path / "other.jsonl")


def test_places_of_a_golden_are_those_of_its_context() -> None:
    golden = Golden("a.B", "a_B", "decode, float32 2", "exact", "float32", "called as a.*, b", (), {}, (), ())
    assert golden.head.places == ("a.*", "b")
    assert golden.head.scenario == "decode"
