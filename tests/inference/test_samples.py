"""Samples of a folder: which files, which lines, in which order; and what is refused."""

from pathlib import Path

import pytest

from forwardbook.configuration.schema import Dataset, Sampling
from forwardbook.inference.kinds import kind_of
from forwardbook.inference.samples import DatasetError, samples_of, turns

TEXTS = ("**/*.txt", "**/*.jsonl")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Four texts, one of them hidden, one empty, one with a suffix in capitals."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "b.txt").write_text("one\n\ntwo\n", encoding="utf-8")
    (tmp_path / "deep" / "a.TXT").write_text("three\n", encoding="utf-8")
    (tmp_path / "empty.txt").touch()
    (tmp_path / ".hidden.txt").write_text("no\n")
    (tmp_path / "c.jsonl").write_text('{"text": "four"}\n\n{"text": "five", "id": 1}\n', encoding="utf-8")
    return tmp_path


def names(root: Path, **fields: object) -> list[str]:
    """Names of the samples of a dataset."""
    return [one.name for one in samples_of(Dataset(kind="text", root=str(root), patterns=TEXTS, **fields))]


def test_files(root: Path) -> None:
    """A file is a sample, in the order of names; a line of JSON always is."""
    assert ["b.txt", "c.jsonl:1", "c.jsonl:3", "deep/a.TXT"] == names(root)


def test_lines(root: Path) -> None:
    """A line is a sample and keeps its number."""
    assert ["b.txt:1", "b.txt:3", "c.jsonl:1", "c.jsonl:3", "deep/a.TXT:1"] == names(root, split="line")
    found = samples_of(Dataset(kind="text", root=str(root), patterns=("*.jsonl",)))
    assert ["four", "five"] == [one.read_text() for one in found]


def test_subset(root: Path) -> None:
    """A list says which files in which order; it may lie in the folder itself."""
    (root / "subset.lst").write_text("# two of them\ndeep/a.TXT\n\nb.txt\n")

    assert ["deep/a.TXT", "b.txt"] == names(root, subset_filelist="subset.lst")
    assert ["deep/a.TXT", "b.txt"] == names(root, subset_filelist=str(root / "subset.lst"))


def test_subset_with_missing_files(root: Path) -> None:
    """Files of a list that are not there are told together."""
    (root / "subset.lst").write_text("x.txt\nb.txt\ny.txt\n")

    with pytest.raises(DatasetError, match="2 of 3 files .*: x.txt, y.txt"):
        names(root, subset_filelist="subset.lst")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"root": None}, "give dataset.root"),
        ({"root": "nowhere"}, "no such folder"),
        ({"patterns": ("*.pdf",)}, r"no file fits \*.pdf"),
        ({"patterns": ()}, "give dataset.patterns"),
        ({"patterns": ("/etc/*",)}, "the pattern"),
        ({"subset_filelist": "nothing.lst"}, "no such file"),
        ({"patterns": ("*.jsonl",), "field": "prompt"}, "line 1: no text 'prompt' among text"),
        ({"patterns": ("empty.txt",)}, "no samples"),
    ],
)
def test_refused(fields: dict[str, object], said: str, root: Path) -> None:
    """A dataset that cannot be read says why and what to give."""
    values = {"kind": "text", "root": str(root), "patterns": TEXTS, **fields}

    with pytest.raises(DatasetError, match=said):
        samples_of(Dataset(**values))


def test_broken_json_and_bytes(root: Path) -> None:
    """Lines that are no JSON, and files that are no UTF-8, are named."""
    (root / "d.jsonl").write_text("{\n")
    (root / "e.txt").write_bytes(b"\xff\xfe\x00")

    with pytest.raises(DatasetError, match="d.jsonl, line 1: no JSON"):
        samples_of(Dataset(kind="text", root=str(root), patterns=("d.jsonl",)))
    (one,) = samples_of(Dataset(kind="text", root=str(root), patterns=("e.txt",)))
    with pytest.raises(DatasetError, match="no UTF-8"):
        one.read_text()


def test_other_ends_of_lines(root: Path) -> None:
    """Lines end where a file says so: not within a text of JSON, with or without a return, after any mark."""
    (root / "f.jsonl").write_bytes('\ufeff{"text": "a\u2028b"}\r\n{"text": "c"}'.encode())
    found = samples_of(Dataset(kind="text", root=str(root), patterns=("f.jsonl",)))

    assert [("f.jsonl:1", "a\u2028b"), ("f.jsonl:2", "c")] == [(one.name, one.read_text()) for one in found]


def test_epochs(root: Path) -> None:
    """Without shuffling each epoch has the first samples in the same order, each turn its own key."""
    samples = samples_of(Dataset(kind="text", root=str(root), patterns=TEXTS))
    found = list(turns(samples, Sampling(num_epochs=2, num_samples_per_epoch=2)))

    assert ["b.txt", "c.jsonl:1"] * 2 == [one.sample.name for one in found]
    assert ["0:0", "0:1", "1:0", "1:1"] == [one.key for one in found]


def test_shuffled(root: Path) -> None:
    """Shuffled epochs hold every sample once, differ from one another, and follow from the seed alone."""
    samples = samples_of(Dataset(kind="text", root=str(root), patterns=TEXTS, split="line"))

    def order(seed: int | None) -> list[str]:
        sampling = Sampling(num_epochs=3, randomize=True, seed=seed)
        return [one.sample.name for one in turns(samples, sampling)]

    count = len(samples)
    epochs = [tuple(order(1)[i * count : (i + 1) * count]) for i in range(3)]
    assert {tuple(sorted(epoch)) for epoch in epochs} == {tuple(sorted(one.name for one in samples))}
    assert 1 < len(set(epochs))
    assert order(1) == order(1) != order(2)
    assert order(None) == order(0)


def test_more_than_there_are(root: Path) -> None:
    """Asking for more samples than there are gives all of them."""
    samples = samples_of(Dataset(kind="text", root=str(root), patterns=TEXTS))

    assert len(samples) == len(list(turns(samples, Sampling(num_samples_per_epoch=99))))


def test_kinds(root: Path, tmp_path: Path) -> None:
    """A folder's files say whether it holds texts or images; both or neither is asked about."""
    assert "text" == kind_of(root)
    (root / "deep" / "x.PNG").touch()
    with pytest.raises(DatasetError, match="images and texts"):
        kind_of(root)
    assert "image" == kind_of_only(root / "pictures", "y.jpg")
    with pytest.raises(DatasetError, match="no file ends in"):
        kind_of(kind_folder(root / "other", "z.bin"))
    with pytest.raises(DatasetError, match="no such folder"):
        kind_of(root / "nowhere")


def kind_folder(folder: Path, name: str) -> Path:
    """A folder with one file."""
    folder.mkdir()
    (folder / name).touch()
    return folder


def kind_of_only(folder: Path, name: str) -> str:
    """The kind of a folder with that file alone."""
    return kind_of(kind_folder(folder, name))
