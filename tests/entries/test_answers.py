"""`show`, `evaluate` and `list` answer from entries of own costs and calls where these have the class."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from forwardbook.entries.record import Call, Entry, Proof
from forwardbook.schema import QUANTITIES
from forwardbook.schema import Entry as OlderEntry
from forwardbook.workspace import Workspace
from forwardbook.workspace.entry_store import FOLDER, EntryStore

from .examples import ATTENTION, LINEAR, MLP, MODEL_SIZES, TOY, truth

Run = Callable[..., tuple[int, str, str]]

ROWS = ("rows=6", "in_features=5", "out_features=7", "a_dtype_bytes=2", "w_dtype_bytes=4")
NAMES = tuple(one.partition("=")[0] for one in ROWS)
SIZES = tuple(f"{name}={size}" for name, size in MODEL_SIZES.items())
MLP_SIZES = ("batch_size=2", "seq_len=16", "hidden_size=32", "intermediate_size=88")
WIDTHS = ("a_dtype_bytes=2", "w_dtype_bytes=4")
ATTENTION_SIZES = ("batch_size=2", "num_heads=4", "hidden_size=32", *WIDTHS)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Run) -> Run:
    """Runs a command in a workspace with the toy model, of which nothing is in the older database."""
    monkeypatch.setattr("forwardbook.workspace.folder.shipped_path", lambda: None)
    monkeypatch.chdir(tmp_path)
    store(tmp_path, TOY)
    return command


def store(root: Path, entries: dict[str, Entry]) -> None:
    """Puts entries into the workspace."""
    EntryStore(root / FOLDER).save(entries)


def older(root: Path, key: str, entry: OlderEntry, full: str | None = None) -> None:
    """Puts an entry into the older database of the workspace, perhaps of another class."""
    changes = {} if full is None else {"full_class_name": full}
    Workspace(root).save({key: entry.model_copy(update=changes)})


def table(text: str) -> list[str]:
    """The lines with blanks made single."""
    return [" ".join(line.split()) for line in text.splitlines()]


def test_evaluate_prints_what_a_person_computes_of_a_linear_layer(run: Run) -> None:
    """Two operations per element of each product; bytes of what is read and written, each once."""
    code, out, _ = run("evaluate", "Linear", *ROWS, "--json")
    rows, fan_in, fan_out, a, w = 6, 5, 7, 2, 4

    assert 0 == code
    assert json.loads(out) == {
        "flops": 2 * rows * fan_in * fan_out,
        "pointwise_ops": 0,
        "reads": rows * fan_in * a + fan_in * fan_out * w,
        "writes": rows * fan_out * a,
        "weights": fan_in * fan_out * w,
        "boundary": rows * fan_in * a + fan_in * fan_out * w + rows * fan_out * a,
        "intermediates": 0,
        "peak": rows * fan_out * a,
    }


def test_evaluate_of_a_model_is_what_running_it_by_number_counts(run: Run) -> None:
    """All eight quantities, in the usual order."""
    content = json.loads(run("evaluate", "ToyModel", *SIZES, "--json")[1])

    assert list(QUANTITIES) == list(content)
    assert truth(MODEL_SIZES)["transformers_ToyModel"] == content


def test_evaluate_prints_the_calls_with_how_often_and_their_flops(run: Run) -> None:
    """A model of three layers makes three calls, and all its flops are theirs."""
    text = table(run("evaluate", "ToyModel", *SIZES)[1])
    flops = truth(MODEL_SIZES)["transformers_ToyModel"]["flops"]

    assert f"layers.* transformers.models.toy.modeling_toy.ToyDecoderLayer 3 {flops:,}" in text
    assert any(row.startswith(f"flops {flops:,}") for row in text)


def test_lines_have_their_own_cost_and_that_of_the_calls_on_them(run: Run) -> None:
    """A line that only calls is there too; lines together cost what the class costs."""
    content = json.loads(run("evaluate", "ToyMLP", *MLP_SIZES, *WIDTHS, "--lines", "--json")[1])
    lines = {line["line"]: line for line in content["lines"]}
    product, inner = 2 * 2 * 16 * 32 * 88, 2 * 16 * 88

    assert [11, 12, 13, 14] == list(lines)
    assert {11: product, 12: product, 13: 0, 14: product} == {n: one["flops"] for n, one in lines.items()}
    assert {11: inner, 12: 0, 13: inner, 14: 0} == {n: one["pointwise_ops"] for n, one in lines.items()}
    assert "self.up_proj(...)" == lines[12]["code"]
    for quantity in ("flops", "pointwise_ops", "reads", "writes"):
        assert content[quantity] == sum(one[quantity] for one in lines.values())


def test_a_regime_that_does_not_hold_is_refused_and_a_signature_chooses_among_its_own(run: Run) -> None:
    """`default` is the way to call the class, `one token` a regime of it."""
    code, _, err = run("evaluate", "ToyAttention", *ATTENTION_SIZES, "seq_len=3", "--regime", "one token")
    assert 1 == code
    assert "regime 'one token' does not hold" in err and "seq_len must be 1, but is 3" in err

    _, out, _ = run("evaluate", "ToyAttention", *ATTENTION_SIZES, "seq_len=1", "--regime", "default")
    assert "ToyAttention, regime one token" in out
    code, _, err = run("evaluate", "ToyAttention", *ATTENTION_SIZES, "seq_len=1", "--regime", "two")
    assert 1 == code and "no regime 'two'; its regimes: 'default'; 'one token'" in err


def test_choices_tell_ways_to_call_a_class_apart(run: Run, tmp_path: Path) -> None:
    """Without a choice the first way is taken, with one the way that has it."""
    first = LINEAR.regimes[0]
    own = first.own.model_copy(update={"pointwise_ops": "{rows} * {out_features}"})
    biased = first.model_copy(
        update={"name": "bias", "signature": "bias", "choices": {"bias": True}, "own": own}
    )
    store(tmp_path, {"torch_Linear": LINEAR.model_copy(update={"regimes": (first, biased)})})

    assert 0 == json.loads(run("evaluate", "Linear", *ROWS, "--json")[1])["pointwise_ops"]
    out = run("evaluate", "Linear", *ROWS, "--with", "bias=True")[1]
    assert "with bias=True" in out and f"pointwise_ops {6 * 7}" in table(out)[3]
    code, _, err = run("evaluate", "Linear", *ROWS, "--with", "bias=3")
    assert 1 == code and "no signature has bias=3; there are bias=True" in err


def test_a_verdict_that_is_not_exact_stands_beside_the_numbers(run: Run, tmp_path: Path) -> None:
    """With its reason, on standard error."""
    proof = Proof(verdict="pinned", reason="it holds for one length alone")
    pinned = LINEAR.regimes[0].model_copy(update={"proof": proof})
    store(tmp_path, {"torch_Linear": LINEAR.model_copy(update={"regimes": (pinned,)})})

    assert (
        "note: regime default is pinned: it holds for one length alone" in run("evaluate", "Linear", *ROWS)[2]
    )


def test_sizes_that_are_missing_or_do_not_go_together_are_named(run: Run, tmp_path: Path) -> None:
    """Widths are sizes like others; of names that make each other up one may be left out."""
    code, out, err = run("evaluate", "ToyAttention", "batch_size=2", "seq_len=3")
    assert (1, "") == (code, out)
    assert "a_dtype_bytes, head_dim, hidden_size, num_heads, w_dtype_bytes are not given" in err
    assert "hidden_size = num_heads * head_dim: give all but one of these" in err

    first = LINEAR.regimes[0]
    other = first.model_copy(update={"name": "x", "signature": "x", "conditions": ("{past_len} >= 1",)})
    other = other.model_copy(update={"own": first.own.model_copy(update={"flops": "2 * {past_len}"})})
    third = first.model_copy(update={"name": "y", "signature": "y", "conditions": ("{kv_len} >= 1",)})
    store(tmp_path, {"torch_Linear": LINEAR.model_copy(update={"regimes": (first, other, third)})})
    err = run("evaluate", "Linear", *ROWS, "past_len=3", "kv_len=3")[2]
    assert "no way to call it has all of these sizes" in err
    assert "  x: has no kv_len" in err and "did you mean past_len" not in err


@pytest.mark.parametrize(("names", "code"), [(NAMES[:3], 0), (NAMES, 1)])
def test_a_cost_of_over_4000_digits_is_refused(
    run: Run, tmp_path: Path, names: tuple[str, ...], code: int
) -> None:
    """Whatever the entry says, a message and exit code 1; a shorter one is printed."""
    power = " * ".join(f"{{{name}}}" for name in names * 60)
    own = LINEAR.regimes[0].own.model_copy(update={"flops": power})
    long = LINEAR.regimes[0].model_copy(update={"own": own})
    store(tmp_path, {"torch_Linear": LINEAR.model_copy(update={"regimes": (long,)})})
    sizes = [f"{name}=9000000000000000000" for name in NAMES]
    ended, out, err = run("evaluate", "Linear", *sizes, "--json")

    assert code == ended == run("evaluate", "Linear", *sizes)[0]
    if code:
        assert "over 4,000 digits" in err
    else:
        assert (9 * 10**18) ** 180 == json.loads(out)["flops"]


def test_show_prints_the_main_regime_and_a_line_of_each_other(run: Run) -> None:
    """`--all` prints every regime in full, `--regime` the named one alone."""
    brief, every, one = (
        run("show", "ToyAttention", *options)[1] for options in ((), ("--all",), ("--regime", "one token"))
    )

    assert "regime default" in brief and "further regimes" in brief and "regime one token" not in brief
    assert "regime default" in every and "regime one token" in every and "further regimes" not in every
    assert "regime one token" in one and "regime default" not in one
    assert 2 == run("show", "ToyAttention", "--all", "--regime", "default")[0]
    assert 1 == run("show", "ToyAttention", "--regime", "x")[0]


def test_show_json_is_the_entry_of_own_costs_and_calls(run: Run) -> None:
    """With its key."""
    content = json.loads(run("show", "ToyMLP", "--json")[1])

    assert "transformers_ToyMLP" == content.pop("key")
    assert MLP == Entry.model_validate(content)


def test_list_has_a_row_for_each_class_of_both_databases(run: Run, tmp_path: Path, entry: OlderEntry) -> None:
    """A class of both is one row, by its own costs and calls."""
    older(tmp_path, "toy_ToyAttention", entry)
    Workspace(tmp_path).save(
        {"old_Linear": entry.model_copy(update={"full_class_name": LINEAR.full_class_name})}
    )
    rows = {row["key"]: row for row in json.loads(run("list", "--json")[1])}

    assert {*TOY, "toy_ToyAttention"} == rows.keys()
    assert sorted(rows) == list(rows)
    attention = rows["transformers_ToyAttention"]
    assert (["default", "one token"], ["default"]) == (attention["regimes"], attention["signatures"])
    assert ("exact", ATTENTION.file, 1) == (attention["verdict"], attention["file"], attention["line"])
    assert ["prefill", "decode"] == rows["toy_ToyAttention"]["regimes"]
    assert "transformers_ToyMLP exact 1 transformers/models/toy/modeling_toy.py:1" in table(
        run("list", "mlp")[1]
    )


def test_list_counts_ways_to_call_a_class_and_shows_a_damaged_entry(run: Run, tmp_path: Path) -> None:
    """The others are listed all the same."""
    other = LINEAR.regimes[0].model_copy(update={"name": "x", "signature": "x"})
    store(tmp_path, {"torch_Linear": LINEAR.model_copy(update={"regimes": (*LINEAR.regimes, other)})})
    path = tmp_path / FOLDER / "torch.nn.json"
    text = path.read_text()
    first, key, silu = text.partition('"torch_SiLU"')
    path.write_text(first + key + silu.replace('"line_start":1', '"line_start":true'))
    text = table(run("list", "torch")[1])

    assert any(row.startswith("torch_Linear exact 2 of 2 signatures") for row in text)
    assert any(row.startswith("torch_SiLU damaged") for row in text)


def test_a_class_of_both_databases_is_one_class(run: Run, tmp_path: Path, entry: OlderEntry) -> None:
    """By whatever name; also where the two have it under other keys."""
    older(tmp_path, "toy_Linear", entry, LINEAR.full_class_name)

    for name in ("Linear", LINEAR.full_class_name, "torch_Linear", "toy_Linear"):
        assert "torch_Linear" == json.loads(run("show", name, "--json")[1])["key"]


def test_a_name_that_both_databases_have_for_different_classes_is_ambiguous(
    run: Run, tmp_path: Path, entry: OlderEntry
) -> None:
    """The message says the keys; each of them means its class."""
    store(tmp_path, {})
    older(tmp_path, "toy_ToyAttention", entry)
    names = ("toy_ToyAttention", "transformers_ToyAttention")
    for command in ("show", "evaluate"):
        code, _, err = run(command, "ToyAttention")
        assert 1 == code
        assert f"several classes have this name, use a key: {', '.join(names)}" in err
    assert list(names) == [json.loads(run("show", name, "--json")[1])["key"] for name in names]


def test_a_class_without_formulas_is_answered_by_the_older_database(
    run: Run, tmp_path: Path, entry: OlderEntry
) -> None:
    """And where that has it neither, the entry says why there are none."""
    bare = ATTENTION.model_copy(update={"regimes": (), "verdict": "unproved", "reason": "it did not run"})
    store(tmp_path, {"transformers_ToyAttention": bare})
    assert "it did not run" in run("show", "ToyAttention")[1]
    assert "it has no formulas (it did not run)" in run("evaluate", "ToyAttention")[2]

    older(tmp_path, "transformers_ToyAttention", entry, ATTENTION.full_class_name)
    assert "proof exact on meta" in run("show", "ToyAttention")[1]
    assert "regime prefill" in run("show", "ToyAttention", "--regime", "prefill")[1]
    assert 1 == run("show", "ToyAttention", "--regime", "x")[0]
    [row] = json.loads(run("list", "toyattention", "--json")[1])
    assert ["prefill", "decode"] == row["regimes"]


def test_a_name_of_neither_database_is_answered_with_near_ones_of_both(
    run: Run, tmp_path: Path, entry: OlderEntry
) -> None:
    """Exit code 1."""
    older(tmp_path, "toy_Gadget", entry, "toy.layers.Gadget")

    assert "did you mean ToyMLP" in run("show", "ToyMPL")[2]
    assert "did you mean Gadget" in run("evaluate", "Gadgt")[2]


def test_a_call_of_a_class_that_is_not_there_is_an_error_in_words(run: Run, tmp_path: Path) -> None:
    """`evaluate` names it; `show` shows the rest."""
    call = Call(line=9, attribute="gone", entry="torch_Gone", signature="default")
    regime = MLP.regimes[0].model_copy(update={"calls": (call,)})
    store(tmp_path, {"transformers_ToyMLP": MLP.model_copy(update={"regimes": (regime,)})})

    code, _, err = run("evaluate", "ToyMLP", *MLP_SIZES, *WIDTHS)
    assert 1 == code and "looking for the entry torch_Gone: it is not in the database" in err
    assert "its own lines" in run("show", "ToyMLP")[1]


def test_a_class_that_was_run_is_evaluated_and_shown(run: Run, tmp_path: Path) -> None:
    """From the run of a linear layer to the numbers: two operations per element of each product."""
    from forwardbook.pipeline.composed.assembly import Assembly
    from forwardbook.pipeline.composed.build import ways_of

    assembly = Assembly()
    assembly.add(ways_of(LINEAR.full_class_name).ways)
    store(tmp_path, assembly.entries())
    sizes = ("batch_size=3", "in_features=5", "out_features=7", "a_dtype_bytes=2", "w_dtype_bytes=4")
    biased = json.loads(run("evaluate", "Linear", *sizes, "--json")[1])
    plain = json.loads(run("evaluate", "Linear", *sizes, "seq_len=11", "--with", "bias=False", "--json")[1])

    assert (2 * 3 * 5 * 7, (5 + 1) * 7 * 4) == (biased["flops"], biased["weights"])
    assert (2 * 3 * 11 * 5 * 7, 5 * 7 * 4) == (plain["flops"], plain["weights"])
    assert "flops 2 * batch_size * in_features * out_features" in table(run("show", "Linear")[1])
    assert any("return F.linear(input, self.weight" in row for row in table(run("show", "Linear")[1]))
