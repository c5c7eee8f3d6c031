"""`profile infer` with tiny checkpoints of every kind: what is predicted, resumed, drawn and refused."""

import json
import re
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType

import pytest
import torch
import transformers
from PIL import Image

from forwardbook.pipeline.configured.inference import predictions_lock
from forwardbook.workspace.json_lines import LineWriter

Run = Callable[..., tuple[int, str, str]]
LINES = "direct_inference/predictions.jsonl"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Run) -> Run:
    """Runs `profile infer` in an empty folder: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)
    return partial(command, "profile", "infer")


def lines(run_id: str) -> list[dict]:
    """The predictions of a run."""
    path = Path("tmp/profile-output") / run_id / LINES
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_llama_writes_what_it_generates(run: Run, checkpoints: Path) -> None:
    """A causal model's text is what generate gives by hand, without what it read."""
    code, out, _ = run(checkpoints / "llama", checkpoints / "stories", "--new-tokens", 5, "--run-id", "a")
    tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoints / "llama")
    model = transformers.LlamaForCausalLM.from_pretrained(checkpoints / "llama").eval()
    ids = tokenizer((checkpoints / "stories" / "s0.txt").read_text(), return_tensors="pt")["input_ids"]
    with torch.inference_mode():
        made = model.generate(ids, max_new_tokens=5, do_sample=False)[0, ids.shape[1] :]

    assert (0, 3) == (code, len(lines("a")))
    assert tokenizer.decode(made, skip_special_tokens=True) == lines("a")[0]["prediction"]["text"]
    assert ["s0.txt", "s1.txt", "s2.txt"] == [one["sample"] for one in lines("a")]
    assert f"wrote tmp/profile-output/a/{LINES}" in out


def test_t5_reads_and_writes(run: Run, checkpoints: Path) -> None:
    """A model of encoder and decoder writes from the first token on."""
    assert 0 == run(checkpoints / "t5", checkpoints / "stories", "--new-tokens", 4, "--run-id", "a")[0]
    assert [4] * 3 == [one["prediction"]["tokens_written"] for one in lines("a")]


def test_vit_names_what_it_sees(run: Run, checkpoints: Path) -> None:
    """A classifier's labels are its own, likeliest first, and its scores those of a forward by hand."""
    code, *_ = run(checkpoints / "vit", checkpoints / "pictures", "--run-id", "a")
    model = transformers.ViTForImageClassification.from_pretrained(checkpoints / "vit").eval()
    processor = transformers.AutoImageProcessor.from_pretrained(checkpoints / "vit")
    image = Image.open(checkpoints / "pictures" / "p1.png").convert("RGB")
    with torch.inference_mode():
        expected = model(**processor(image, return_tensors="pt")).logits.softmax(-1)[0]
    found = lines("a")[1]["prediction"]["labels"]

    assert (0, "p1.png") == (code, lines("a")[1]["sample"])
    assert {"cat", "dog", "tree"} == {one["label"] for one in found}
    assert max(expected).item() == pytest.approx(found[0]["score"], abs=1e-5)


def test_yolos_draws_boxes(run: Run, checkpoints: Path) -> None:
    """Boxes of a detector are drawn onto a copy as large as the image, which stays as it was."""
    before = (checkpoints / "pictures" / "p2.jpg").read_bytes()
    code, out, _ = run(checkpoints / "yolos", checkpoints / "pictures", "--threshold", 0, "--run-id", "a")
    line = lines("a")[2]
    copy = Image.open(Path("tmp/profile-output/a/direct_inference") / line["drawn"])

    assert (0, 5, (100, 50)) == (code, len(line["prediction"]["regions"]), copy.size)
    assert "3 images drawn onto" in out
    assert before == (checkpoints / "pictures" / "p2.jpg").read_bytes()
    (x, y), (_, bottom) = line["prediction"]["regions"][0]["points"]
    assert (40 * 2, 90, 160) != copy.convert("RGB").getpixel((int(x), int((y + bottom) / 2)))


def test_no_boxes_no_drawing(run: Run, checkpoints: Path) -> None:
    """Where no box scores enough, or drawing is switched off, nothing is drawn."""
    pictures = checkpoints / "pictures"
    run(checkpoints / "yolos", pictures, "--threshold", 1, "--run-id", "a")
    switch = "output/direct@pipeline.direct_inference.output=plain"
    run(checkpoints / "yolos", pictures, "--threshold", 0, switch, "--run-id", "b")

    assert [None] * 6 == [one["drawn"] for one in [*lines("a"), *lines("b")]]
    assert not list(Path("tmp").rglob("*.png"))


def test_text_regions_are_drawn(run: Run, checkpoints: Path) -> None:
    """What a model writes about places in an image becomes regions in pixels, drawn onto a copy."""
    code, *_ = run(checkpoints / "writer", checkpoints / "pictures", "--new-tokens", 9, "--run-id", "a")
    line = lines("a")[0]
    ((x1, y1), (x2, y2)) = line["prediction"]["regions"][0]["points"]

    assert (0, "title") == (code, line["prediction"]["regions"][0]["label"])
    assert [100 / 999 * 60, 200 / 999 * 50, 500 / 999 * 60, 800 / 999 * 50] == pytest.approx(
        [x1, y1, x2, y2], abs=0.01
    )
    assert (Path("tmp/profile-output/a/direct_inference") / line["drawn"]).is_file()


def test_encoder_gives_vectors(run: Run, checkpoints: Path) -> None:
    """A model without a head gives the mean of its last states."""
    assert 0 == run(checkpoints / "encoder", checkpoints / "stories", "--run-id", "a")[0]
    assert (32, 6) == (
        len(lines("a")[0]["prediction"]["vector"]),
        lines("a")[0]["prediction"]["positions"],
    )


def test_masks_are_filled(run: Run, checkpoints: Path, tmp_path: Path) -> None:
    """A masked model fills a mask; a text without one is a line with the reason, and an exit code."""
    (tmp_path / "asked").mkdir()
    (tmp_path / "asked" / "a.txt").write_text("the <mask> sat")
    (tmp_path / "asked" / "b.txt").write_text("the cat sat")
    code, out, _ = run(checkpoints / "bert", "asked", "--run-id", "a")
    good, bad = lines("a")

    assert (1, 5) == (code, len(good["prediction"]["fillings"][0]))
    assert (None, True) == (bad["prediction"], "mask" in bad["error"])
    assert "1 of 2 samples predicted, 1 failed" in out


def test_a_broken_image_stops_nothing(run: Run, checkpoints: Path, tmp_path: Path) -> None:
    """An image that cannot be read is a line with the reason; mended, a resumed run predicts it alone."""
    shutil.copytree(checkpoints / "pictures", "pictures")
    good = Path("pictures/p1.png").read_bytes()
    Path("pictures/p1.png").write_bytes(good[:50])
    first, *_ = run(checkpoints / "vit", "pictures", "--run-id", "a")
    errors = [one["error"] is not None for one in lines("a")]
    Path("pictures/p1.png").write_bytes(good)
    second, out, _ = run("--resume", "tmp/profile-output/a")

    assert (1, 0) == (first, second)
    assert [False, True, False] == errors
    assert "1 of 3 samples predicted, 2 before, 0 failed" in out
    assert ["p0.jpg", "p1.png", "p2.jpg", "p1.png"] == [one["sample"] for one in lines("a")]


def test_resumed_after_a_kill(run: Run, checkpoints: Path) -> None:
    """What a killed run left, half a line at the end included, is gone on with."""
    run(checkpoints / "llama", checkpoints / "stories", "dataset.sampling.num_epochs=2", "--run-id", "a")
    path = Path("tmp/profile-output/a") / LINES
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    kept = path.read_bytes().count(b"\n")
    code, out, _ = run("--resume", "tmp/profile-output/a")

    assert (0, f"{6 - kept} of 6 samples predicted, {kept} before") == (code, out.split(", 0 failed")[0])
    assert ["0:0", "0:1", "0:2", "1:0", "1:1", "1:2"] == [one["key"] for one in lines("a")]
    assert [json.loads(one)["prediction"] for one in whole.splitlines()] == [
        one["prediction"] for one in lines("a")
    ]
    assert "0 of 6 samples predicted, 6 before" in run("--resume", "tmp/profile-output/a")[1]


def test_stopped_by_hand(run: Run, checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that its user stops says how to go on and exits with 130; what was predicted is kept."""
    made, sample = [], LineWriter.write

    def stopping(writer: LineWriter, value: dict) -> None:
        sample(writer, value)
        made.append(value)
        if len(made) == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(LineWriter, "write", stopping)
        code, _, err = run(checkpoints / "llama", checkpoints / "stories", "--run-id", "a")
    mark = json.loads(Path("tmp/profile-output/a/run.json").read_text())

    assert (130, "interrupted", 2) == (code, mark["status"], len(lines("a")))
    assert "--resume tmp/profile-output/a" in err
    assert "1 of 3 samples predicted, 2 before" in run("--resume", "tmp/profile-output/a")[1]


def test_two_at_once(run: Run, checkpoints: Path) -> None:
    """A run that another process is still writing is not resumed, and its mark stays as it is."""
    run(checkpoints / "llama", checkpoints / "stories", "--run-id", "a")
    mark = Path("tmp/profile-output/a/run.json").read_bytes()
    with predictions_lock(Path("tmp/profile-output/a")):
        code, _, err = run("--resume", "tmp/profile-output/a")

    assert (1, True) == (code, "another process" in err)
    assert mark == Path("tmp/profile-output/a/run.json").read_bytes()


def test_resuming_something_else(run: Run, checkpoints: Path, tiny: ModuleType) -> None:
    """A run whose dataset or checkpoint changed since is not gone on with."""
    shutil.copytree(checkpoints / "llama", "llama")
    tiny.stories(Path("stories"), 2)
    run("llama", "stories", "--run-id", "a")
    Path("stories/a.txt").write_text("a new first")
    _, _, dataset = run("--resume", "tmp/profile-output/a")
    Path("stories/a.txt").unlink()
    Path("llama/config.json").write_text(Path("llama/config.json").read_text() + "\n")
    code, _, checkpoint = run("--resume", "tmp/profile-output/a")

    assert "sample 0:0 was s0.txt, is a.txt" in dataset
    assert (1, True) == (code, "llama changed since: config.json" in checkpoint)


def test_subset_and_sampling(run: Run, checkpoints: Path) -> None:
    """A list of files and a number of samples choose what is predicted."""
    Path("list.txt").write_text("s2.txt\ns0.txt\n")
    words = ["dataset.subset_filelist=list.txt", "dataset.sampling.num_samples_per_epoch=1"]
    run(checkpoints / "llama", checkpoints / "stories", *words, "--run-id", "a")

    assert ["s2.txt"] == [one["sample"] for one in lines("a")]


def test_from_configuration(run: Run, checkpoints: Path) -> None:
    """Groups of one's own conf/ name model and dataset; then no names are needed."""
    for group, text in {
        "model/mine": f"path: {checkpoints / 'llama'}\n",
        "dataset/mine": f"defaults:\n  - text_folder\n  - _self_\nroot: {checkpoints / 'stories'}\n",
    }.items():
        path = Path("conf") / f"{group}.yaml"
        path.parent.mkdir(parents=True)
        path.write_text(text)

    assert 0 == run("model=mine", "dataset=mine", "runtime.new_tokens=2", "output.run_id=a")[0]
    assert [2] * 3 == [one["prediction"]["tokens_written"] for one in lines("a")]
    assert 0 == run("model=mine", checkpoints / "stories", "--kind", "lines", "--run-id", "b")[0]
    assert "s0.txt:1" == lines("b")[0]["sample"]


REFUSED = {
    "no model": ([], "none is named"),
    "no dataset": (["{c}/llama"], "there is no dataset"),
    "no checkpoint": (["nowhere", "{c}/stories"], "there is no such folder"),
    "no weights": (["{c}/weightless", "{c}/stories"], "it holds no weights"),
    "no config": (["{c}/stories", "{c}/stories"], "there is no config.json"),
    "no tokenizer": (["{c}/wordless", "{c}/stories"], "loading .*wordless for text-generation"),
    "other kind": (["{c}/vit", "{c}/stories"], "reads images, the dataset has texts"),
    "other task": (["{c}/llama", "{c}/stories", "--task", "text-generatoin"], "did you mean text-generation"),
    "three names": (["{c}/llama", "{c}/stories", "more"], "one name too many"),
    "wrong kind": (["{c}/llama", "{c}/stories", "--kind", "sound"], "none of text, lines, image"),
    "no GPU": (["{c}/llama", "{c}/stories", "--device", "cuda"], "torch sees no GPU"),
    "no device": (["{c}/llama", "{c}/stories", "--device", "gpu"], "give cpu or cuda"),
    "no format": (["{c}/llama", "{c}/stories", "--dtype", "int8"], "give a format"),
    "no run": (["--resume", "nowhere"], "no run.json"),
    "resume and more": (["--resume", "nowhere", "--task", "x"], "leave out --task"),
    "twice": (["{c}/llama", "{c}/stories", "--task", "x", "model.task=y"], "give one of them"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, run: Run, checkpoints: Path) -> None:
    """Each mistake is told, wrong usage with 2, all else with 1, and leaves no run that looks complete."""
    for name, left_out in {"weightless": "*.safetensors", "wordless": "tokenizer*"}.items():
        shutil.copytree(
            checkpoints / "llama",
            checkpoints / name,
            ignore=shutil.ignore_patterns(left_out),
            dirs_exist_ok=True,
        )
    words, said = REFUSED[case]
    if case == "no GPU" and torch.cuda.is_available():
        pytest.skip("there is one")
    code, _, err = run(*(word.format(c=checkpoints) for word in words))

    assert (2 if "Usage:" in err else 1) == code
    assert re.search(said, " ".join(err.replace("│", " ").split())), err
    assert "Traceback" not in err
    marks = [json.loads(path.read_text()) for path in Path(".").rglob("run.json")]
    assert all(mark["status"] == "failed" and mark["reason"] for mark in marks)
