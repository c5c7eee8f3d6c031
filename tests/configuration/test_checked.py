"""The shipped configuration: every option fits the schema, and what is wrong is told with what was meant."""

import re
from pathlib import Path

import pytest
import yaml

from forwardbook.configuration.checked import configured, keys_of, roots
from forwardbook.configuration.overrides import ConfigurationError
from forwardbook.configuration.schema import Configuration
from forwardbook.configuration.search import SHIPPED, SearchPath
from forwardbook.profiling.peaks import table
from forwardbook.workspace.model_files import ModelFiles

OPTIONS = [
    (group, option)
    for group in ("model", "dataset", "dataset/sampling", "runtime", "hardware", "output", "profiling")
    for option in SearchPath([SHIPPED]).options(group)
]
MOUNTED = [
    (f"{group}@pipeline.{place}", option)
    for group, place in {
        "profiling/torch": "torch_profiler",
        "profiling/static": "static_analysis",
        "profiling/nsys": "nsys",
        "profiling/ncu": "ncu",
        "profiling/direct": "direct_inference",
        "output/torch": "torch_profiler.output",
        "output/direct": "direct_inference.output",
    }.items()
    for option in SearchPath([SHIPPED]).options(group)
]
WRONG = {
    "modle=gpt2": "no key modle; did you mean model",
    "model=gpt_2": "did you mean model=gpt2",
    "profiling=ful": "did you mean profiling=full",
    "pipeline.nsys.enabel=true": "did you mean pipeline.nsys.enable",
    "pipeline.torch_profiler.passes=[timng]": "'timng' is none of timing, .*did you mean timing",
    "pipeline.torch_profiler.passes=timing": r"expected a list, such as \[timing\]",
    "+runtme.seed=3": "runtme: there is no such key; did you mean runtime",
    "runtime.seed=x": r"runtime.seed: expected integer.*found 'x' \(runtime.seed=x\)",
    "runtime.seq_len=0": "greater than 0",
    "dataset.kind=imag": "did you mean image",
    "dataset.sampling=random": "an option is dataset/sampling=random",
    "profiling/nsis@pipeline.nsys=default": "no group profiling/nsis; did you mean profiling/nsys",
    "pipeline.nsys=3": "expected a section",
}


@pytest.mark.parametrize(("group", "option"), [*OPTIONS, *MOUNTED])
def test_shipped_option(group: str, option: str) -> None:
    """Each shipped option composes into a configuration that fits the schema."""
    root = ["dataset.root=x"] if group == "dataset" else []
    _, found = configured([SHIPPED], overrides=[f"{group}={option}", *root])

    assert isinstance(found, Configuration)


def test_models_and_hardware_have_options() -> None:
    """Each kept model has an option; each option of hardware is a row of the peaks."""
    search = SearchPath([SHIPPED])
    models = {search.load(f"model/{one}").content["name"] for one in search.options("model")}
    hardware = {search.load(f"hardware/{one}").content["peaks"] for one in search.options("hardware")}

    assert {*ModelFiles(SHIPPED).ids(), None} == models
    assert hardware <= {*table().devices, None}


def test_as_the_documentation_has_it() -> None:
    """A model, a preset and one value, composed together."""
    words = ["model=qwen2_5_7b", "profiling=full", "pipeline.nsys.enable=true"]
    composed, found = configured([SHIPPED], overrides=words)

    assert ("qwen2.5-7b", "models/qwen2_5_7b") == (found.model.name, found.model.path)
    assert (True, False, 20) == (
        found.pipeline.nsys.enable,
        found.pipeline.ncu.enable,
        found.pipeline.torch_profiler.repeats,
    )
    assert found.model_dump(mode="json") == yaml.safe_load(composed.text(resolve=True))


def test_every_key_is_composed() -> None:
    """What `--cfg job` prints has every key of the schema, so that nothing is hidden."""
    composed, _ = configured([SHIPPED])

    assert set() == {key for key in keys_of(Configuration) if composed.origin(key) == ""}
    printed = yaml.safe_load(composed.text())
    for key in keys_of(Configuration):
        value = printed
        for part in key.split("."):
            assert part in value, key
            value = value[part]


@pytest.mark.parametrize("word", WRONG)
def test_wrong(word: str) -> None:
    """What does not fit is refused, with what was meant."""
    with pytest.raises(ConfigurationError, match=WRONG[word]):
        configured([SHIPPED], overrides=[word])


def test_all_problems_together() -> None:
    """Every value that does not fit is told at once, with where it comes from."""
    with pytest.raises(ConfigurationError) as refused:
        configured([SHIPPED], overrides=["runtime.seed=x", "dataset.kind=imag", "pipeline.nsys.enable=maybe"])

    assert 3 == str(refused.value).count("\n")


def test_free_sections_take_any_name() -> None:
    """Fields of a model's config and sizes have names of their own."""
    _, found = configured([SHIPPED], overrides=["model.fields.n_layer=2", "runtime.sizes.num_regions=7"])

    assert ({"n_layer": 2}, {"num_regions": 7}) == (found.model.fields, found.runtime.sizes)


def test_own_folder_comes_first(tmp_path: Path) -> None:
    """Options of conf/ stand beside the shipped ones, its config.yaml in place of theirs."""
    own = tmp_path / "conf"
    (own / "model").mkdir(parents=True)
    (own / "model" / "mine.yaml").write_text("name: gpt2\nfields: {n_layer: 1}\n")
    (own / "config.yaml").write_text("defaults:\n  - model: mine\n  - profiling: quick\n  - _self_\n")

    _, found = configured(roots(None, tmp_path))
    _, other = configured(roots(None, tmp_path), overrides=["model=gpt2", "profiling=full"])
    _, without = configured(roots("none", tmp_path))

    assert ({"n_layer": 1}, ("timing",)) == (found.model.fields, found.pipeline.torch_profiler.passes)
    assert ({}, 20) == (other.model.fields, other.pipeline.torch_profiler.repeats)
    assert without.model.name is None


def test_somebody_elses_folder(tmp_path: Path) -> None:
    """A conf/ of another program is refused with the way around it."""
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "config.yaml").write_text("lr: 1\noptimizer: {name: adam}\n")

    with pytest.raises(ConfigurationError, match="lr: there is no such key.*--config-dir none"):
        try:
            configured(roots(None, tmp_path))
        except ConfigurationError as error:
            raise ConfigurationError(str(error).replace("\n", " ")) from None
    with pytest.raises(ConfigurationError, match="there is no such folder"):
        roots("nowhere", tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [1", "reading"),
        ("- a\n", "expected names with values"),
        ("a: 1\na: 2\n", "stands twice"),
        ("defaults: model\n", "must be a list"),
        ("defaults:\n  - model: gpt2\n    runtime: torch\n", "the defaults list has"),
        ("\x00", "reading"),
    ],
)
def test_broken_files(text: str, said: str, tmp_path: Path) -> None:
    """A file that cannot be read is named, without a traceback."""
    (tmp_path / "config.yaml").write_text(text)

    with pytest.raises(ConfigurationError, match=said):
        configured([tmp_path, SHIPPED])


def test_documented_files(tmp_path: Path) -> None:
    """The files that the documentation shows compose as it says."""
    page = Path(__file__).parents[2] / "docs" / "profiling_configuration.md"
    shown = re.findall(
        r"```yaml\n# (conf/\S+?\.yaml).*?\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL
    )
    for name, text in shown:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    _, found = configured(roots(None, tmp_path))

    assert ["conf/model/mine.yaml", "conf/config.yaml"] == [name for name, _ in shown]
    assert ("gpt2-0", {"n_layer": 4}, 20, "text") == (
        found.output.run_id,
        found.model.fields,
        found.dataset.sampling.num_samples_per_epoch,
        found.dataset.kind,
    )


def test_documented_options() -> None:
    """Every option that the documentation names is there."""
    page = (Path(__file__).parents[2] / "docs" / "profiling_configuration.md").read_text(encoding="utf-8")
    search = SearchPath([SHIPPED])
    for group, told in re.findall(r"^\| `([\w/]+)` \| [^|]*\| ([^|]*`[^|]*) \|$", page, re.MULTILINE):
        if search.is_group(group):
            assert set(re.findall(r"`(\w+)`", told)) <= set(search.options(group)), group
