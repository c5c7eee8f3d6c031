"""How classes are reached that no default model calls: each mechanism on one small family."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import replace

import pytest
import torch
from transformers.models.esm.modeling_esmfold import EsmForProteinFolding

from forwardbook.analyzers.instances.adapters.model_calls import plainly, with_places
from forwardbook.analyzers.instances.adapters.transformers_library import TransformersAdapter
from forwardbook.analyzers.instances.pretrained import placeholders
from forwardbook.analyzers.instances.pretrained.asked import asked, error_of
from forwardbook.analyzers.instances.pretrained.constructors import by_themselves
from forwardbook.analyzers.instances.pretrained.guards import FALSY, TRUTHY, settings_for
from forwardbook.analyzers.instances.pretrained.guesses import guesses
from forwardbook.analyzers.instances.pretrained.inputs import plans
from forwardbook.analyzers.instances.pretrained.mended import built
from forwardbook.analyzers.instances.pretrained.models import Holder, tree_classes
from forwardbook.analyzers.instances.pretrained.optional import reaching
from forwardbook.analyzers.instances.pretrained.placeholders import placed, scales
from forwardbook.analyzers.instances.pretrained.settings import put
from forwardbook.analyzers.instances.pretrained.strict import accept_symbolic_sizes
from forwardbook.analyzers.instances.pretrained.submodules import Fit, alone, called_alone, names_in, runs
from forwardbook.analyzers.instances.recipe import NoRecipe, Recipe
from forwardbook.analyzers.symbolic.run import run_symbolically
from forwardbook.pipeline.catalogue.derive import names_called

accept_symbolic_sizes()

LISTED = ("out_channels", "kernel_sizes")
GUARDED = """
ACT = {"fast": Fast, "slow": Slow}

class Block(Module):
    def __init__(self, config, layer_idx):
        kind = config.kind
        if config.use_gate and not config.plain:
            self.gate = Gate(config)
        else:
            self.mlp = Mlp(config)
        if kind == "wide":
            self.wide = Wide(config)
        if layer_idx in config.dense_layers:
            self.dense = Dense(config)
        self.act = ACT[config.act]
        self.limit = Limit(config) if config.limit is not None else None
        if config.early:
            return
        self.late = Late(config)

class Model(Module):
    def __init__(self, config):
        if config.blocks > 0:
            self.block = Block(config, 0)
"""


def holder(folder: str, name: str) -> Holder:
    """A model of transformers as the default config makes it."""
    module = importlib.import_module(f"transformers.models.{folder}.modeling_{folder}")
    return Holder(getattr(module, name), {})


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("Gate", {"blocks": 1, "use_gate": TRUTHY, "plain": FALSY}),
        ("Wide", {"blocks": 1, "kind": "wide"}),
        ("Dense", {"blocks": 1, "dense_layers": [0]}),
        ("Slow", {"blocks": 1, "act": "slow"}),
        ("Limit", {"blocks": 1, "limit": TRUTHY}),
        ("Late", {"blocks": 1, "early": FALSY}),
    ],
)
def test_settings_are_read_from_the_conditions_around_a_constructor(
    name: str, settings: dict[str, object]
) -> None:
    """Conditions of the class and of the class around it, through local names, tables and early returns."""
    assert settings_for(GUARDED, [name])[name][0] == settings


def test_either_condition_leads_into_the_other_branch() -> None:
    """`else` of `a and not b` is reached with a false or with b true."""
    told = settings_for(GUARDED, ["Mlp"])["Mlp"]
    assert {"blocks": 1, "use_gate": FALSY} in told and {"blocks": 1, "plain": TRUTHY} in told


def test_a_class_under_no_condition_has_no_settings() -> None:
    """Nothing is told where nothing is asked."""
    assert (
        settings_for("class A:\n    def __init__(self, config):\n        self.b = B(config)\n", ["B"]) == {}
    )


def test_settings_reach_every_part_that_has_the_field() -> None:
    """`*.` sets parts, a path one of them; a field that nobody has is refused."""
    from transformers import CLIPConfig

    config = CLIPConfig()
    parts = [config, config.text_config, config.vision_config]
    put(config, parts, {"*.hidden_act": "gelu", "vision_config.patch_size": 8})
    assert config.text_config.hidden_act == config.vision_config.hidden_act == "gelu"
    assert config.vision_config.patch_size == 8
    with pytest.raises(ValueError, match="no nonsense"):
        put(config, parts, {"*.nonsense": 1})


@pytest.mark.parametrize(
    ("folder", "name", "mend"),
    [
        ("nemotron", "NemotronModel", {"num_key_value_heads": 48}),
        ("ministral", "MinistralModel", {"head_dim": 128}),
        ("detr", "DetrModel", {"backbone_config": "ResNetConfig"}),
        ("t5gemma2", "T5Gemma2Decoder", {"dropout_rate": 0.0}),
        ("perceiver", "PerceiverForMultimodalAutoencoding", {"num_cross_attention_heads": 5}),
        ("perceiver", "PerceiverForOpticalFlow", {"num_cross_attention_heads": 2}),  # of 322 and of 1280
    ],
)
def test_a_config_is_mended_as_the_error_says(folder: str, name: str, mend: dict[str, object]) -> None:
    """None, absent, and another package's: the field that the line which raised names gets a value."""
    mended, _ = built(holder(folder, name))
    shown = {k: v if isinstance(v, int | float) else type(v).__name__ for k, v in mended.mends.items()}
    assert shown == mend


def test_lists_of_the_same_layers_are_given_together() -> None:
    """Widths of the layers of a head, and their kernels: its config refuses the ones without the others."""
    mended, _ = built(holder("sapiens2", "Sapiens2ForPoseEstimation"))
    layers = {f"head_config.{kind}_{said}" for kind in ("upsample", "conv") for said in LISTED}

    assert layers == mended.mends.keys()
    assert {(64, 32), (3, 3)} == {tuple(value) for value in mended.mends.values() if isinstance(value, list)}


def test_a_config_fills_in_fields_of_its_own_under_a_flag() -> None:
    """Esm has a vocabulary and the config of its trunk where it says that it folds."""
    mended, model = built(Holder(EsmForProteinFolding, {}))

    assert mended.mends["is_folding_model"] is True
    assert {"vocab_list", "esmfold_config"} <= mended.mends.keys()
    assert model.config.esmfold_config.trunk.max_recycles == 2


def test_what_cannot_be_mended_raises_its_own_error() -> None:
    """A package that is not installed is named."""
    with pytest.raises(ImportError, match="natten"):
        built(holder("dinat", "DinatModel"))


def test_forward_is_given_what_its_error_asks_for() -> None:
    """The audio encoder of Audio Flamingo fails on a mask that is None; with the mask it runs."""
    _, model = built(holder("audioflamingo3", "AudioFlamingo3Encoder"))
    first = plans(model)
    assert error_of(model, first[0], model) is not None
    plan, *_ = asked(model, first)
    assert set(plan) - set(first[0]) == {"input_features_mask"}
    assert error_of(model, plan, model) is None


def test_a_text_has_as_many_places_as_there_are_features() -> None:
    """LLaVA's text consists of image tokens, 576 for each of three images of 24 by 24 patches."""
    from forwardbook.analyzers.instances.tensors import PlainMaker

    _, model = built(holder("llava", "LlavaModel"))
    (one,) = placed(model)
    with torch.device("meta"):
        _, kwargs = one(lambda name, hint, meaning="", source="": hint, model, PlainMaker("meta"))
    text = kwargs["input_ids"]
    assert isinstance(text, torch.Tensor) and text.numel() == 3 * 576


class Small(torch.nn.Module):
    """A block whose first layer tells how wide its input is."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(12)
        self.config = None

    def forward(self, hidden_states: torch.Tensor, scale: bool, attention_mask: object) -> torch.Tensor:
        """Wants rows of twelve."""
        assert attention_mask is None and scale is False
        return self.norm(hidden_states)


def test_inputs_of_a_module_follow_from_names_and_first_layers() -> None:
    """Rows as wide as the norm, False for a bool, None for a mask; the width is looked up in the layer."""
    with torch.device("meta"):
        module = Small()
    module.__dict__["_config_around"] = None
    first = guesses(module)[0]
    assert first.plan["scale"] == "False" and first.plan["attention_mask"] == "None"
    assert first.widths == {"width0": ("norm", "weight", 0)}
    assert runs(module, first) is Fit.YES


class Refusing(torch.nn.Module):
    """A module that takes nothing."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Raises for everything."""
        raise TypeError("no")


def test_a_module_that_takes_nothing_has_no_recipe() -> None:
    """No inputs are made up where none run."""
    module = Refusing()
    module.__dict__["_config_around"] = None
    recipe = Recipe("x", "transformers", lambda sizes: module, lambda sizes, module, maker: ((), {}))
    assert called_alone(module, recipe) is None


def test_a_submodule_is_called_in_the_model_that_holds_it() -> None:
    """The projector of LLaVA, by itself, in the names of the whole model's config."""
    from forwardbook.analyzers.instances.pretrained.recipes import holder_recipes
    from forwardbook.analyzers.instances.recipe import InstanceOptions

    one = holder("llava", "LlavaModel")
    target = "transformers.models.llava.modeling_llava.LlavaMultiModalProjector"
    recipe = holder_recipes(target, one, InstanceOptions(), "")[0]
    _, model = built(one)
    (inside,) = alone(model, recipe, {target})
    assert inside.path == "multi_modal_projector" and inside.holds == {target}
    assert target in names_called(inside.recipe, {"vision_config.hidden_size": 512})


@pytest.mark.parametrize(
    "name",
    [
        "transformers.models.bit.modeling_bit.BitDropPath",  # no config at all
        "transformers.models.esm.modeling_esmfold.EsmFoldBackboneUpdate",  # a config of the family
    ],
)
def test_a_class_that_no_model_holds_is_built_by_its_constructor(name: str) -> None:
    """The first config of the family with which it can be built, and inputs by names and widths."""
    (inside,) = by_themselves(name)
    assert name in names_called(inside.recipe, {})


def test_fields_of_two_configs_that_differ_are_sizes_of_their_own() -> None:
    """An embedder that takes the configs of its sounds and of its text runs at any widths of the two."""
    name = "transformers.models.gemma3n.modeling_gemma3n.Gemma3nMultimodalEmbedder"
    (inside,) = by_themselves(name)
    assert name in names_called(inside.recipe, {"hidden_size": 24, "text_config.hidden_size": 40})
    notes = run_symbolically(inside.recipe).notes
    assert [1536, 2048] == [notes[size].hint for size in ("hidden_size", "text_config.hidden_size")]


def test_a_class_nothing_fits_says_so() -> None:
    """The reason is the constructor's own, or that no inputs are known."""
    with pytest.raises((NoRecipe, AttributeError, TypeError, ValueError, AssertionError)):
        list(by_themselves("transformers.models.esm.modeling_esmfold.EsmForProteinFolding"))


def reached(folder: str, wanted: Iterable[str]) -> set[str]:
    """Which of a module's classes the ways of the adapter call."""
    module = f"transformers.models.{folder}.modeling_{folder}"
    missing = {f"{module}.{name}" for name in wanted}
    for way in TransformersAdapter().ways([module], missing):
        if way.recipe is None:
            continue
        for inputs in (way.recipe.inputs, *way.recipe.alternatives):
            try:
                called = names_called(replace(way.recipe, inputs=inputs, alternatives=()), {})
            except Exception:  # noqa: BLE001 - other inputs may do
                continue
            missing -= set(called)
            break
    return set(wanted) - {name.rpartition(".")[2] for name in missing}


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["bit", "dots1", "glm4v", "audioflamingo3", "clap"])
def test_every_class_of_a_family_is_reached(folder: str) -> None:
    """Families that default models leave classes out of, each for another reason."""
    module = importlib.import_module(f"transformers.models.{folder}.modeling_{folder}")
    classes = [v for v in vars(module).values() if isinstance(v, type) and issubclass(v, torch.nn.Module)]
    names = [
        v.__name__
        for v in classes
        if v.__module__ == module.__name__ and v.forward is not torch.nn.Module.forward
    ]
    assert reached(folder, names) == set(names)


def test_names_in_a_tree_are_full_names() -> None:
    """Modules without a forward() are left out."""
    tree = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ModuleList([torch.nn.ReLU()]))
    assert names_in(tree) == {f"{c.__module__}.{c.__qualname__}" for c in tree_classes(tree)}


def test_what_a_package_lacks_is_an_answer_too() -> None:
    """transformers raises no Exception where natten is missing; inputs then do not fit, and nothing ends."""
    from transformers.utils.import_utils import OptionalDependencyNotAvailable

    class Lacking(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            raise OptionalDependencyNotAvailable()

    module = Lacking()
    module.__dict__["_config_around"] = None
    assert {runs(module, guess) for guess in guesses(module)} == {Fit.NO}


def test_a_loss_is_reached_where_labels_are_given() -> None:
    """Wav2Vec2ForXVector runs its loss over labels alone, whose shape its docstring states."""
    with torch.device("meta"):
        _, model = built(holder("wav2vec2", "Wav2Vec2ForXVector"))
    found = dict(reaching(model, {"transformers.models.wav2vec2.modeling_wav2vec2.AMSoftmaxLoss"}))

    assert ["labels"] == list(found)
    assert "full(1, batch_size)" == found["labels"]["labels"]


def test_sizes_of_images_keep_their_values_where_inputs_are_tried() -> None:
    """Mistral 3 cuts features apart by the sizes of its images: on meta alone they would have none."""
    with torch.device("meta"):
        _, model = built(holder("mistral3", "Mistral3Model"))

    assert ["get_image_features"] == [one.method for one in placed(model)]


@pytest.mark.parametrize(("folder", "name"), [("aria", "AriaModel"), ("gemma3", "Gemma3Model")])
def test_an_image_that_the_projector_takes_is_found(folder: str, name: str) -> None:
    """Where the default tower makes another number of patches, one of the published sizes fits."""
    model_holder = holder(folder, name)
    found = []
    for settings in ({}, *scales(model_holder)):
        with torch.device("meta"):
            _, model = built(replace(model_holder, mends=settings))
        found.append(bool(list(placed(model))))

    assert (False, True) == (found[0], any(found))


def test_a_model_that_refuses_images_of_another_size_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its constructor raises: there is no way with such images, and the other ways go on."""
    refused: dict[str, object] = {"vision_config.patch_size": 0}
    monkeypatch.setattr(placeholders, "scales", lambda one: [refused])
    missing = {"transformers.models.aria.modeling_aria.AriaProjector"}
    found = plainly(holder("aria", "AriaModel"), missing)

    assert found is not None
    assert [] == list(with_places(found[1], found[0], missing))


def test_other_sizes_of_images_are_left_once_some_reached_a_class() -> None:
    """The projector was reached: what else is missing no image reaches, and the larger ones are not tried."""
    places = "transformers.models.gemma3.modeling_gemma3."
    missing = {f"{places}Gemma3MultiModalProjector", f"{places}Gemma3MLP"}
    found = plainly(holder("gemma3", "Gemma3Model"), missing)
    assert found is not None

    names = []
    for way in with_places(found[1], found[0], missing):
        names.append(way.name)
        missing.discard(f"{places}Gemma3MultiModalProjector")

    assert 1 == len(names)
    assert "vision_config.image_size=364 vision_config.patch_size=14 with get_image_features" in names[0]
