"""The configuration of profiling as the commands read it: plain values in, checked and typed sections out."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, PositiveInt

FREE = ("model.fields", "model.inputs", "runtime.sizes")
"""Sections whose names are the user's own: fields of a model's config, inputs of a factory, sizes."""

Pass = Literal["timing", "operators", "flops", "memory"]
Count = Annotated[int, Field(ge=0)]


class Section(BaseModel):
    """A part of the configuration: no other names, nothing changed once it is made."""

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)


class Model(Section):
    """Which model: what it is called, and the folder that holds its weights."""

    name: str | None = None
    """A kept id, a folder with `config.json`, a class, a factory; null where `path` is enough."""
    path: str | None = None
    """A folder with weights and tokenizer; where it is missing, `name` is built with random weights."""
    task: str | None = None
    """What inference does with it; by default what its class is for."""
    fields: dict[str, JsonValue] = Field(default_factory=dict)
    """Other values for fields of its config."""
    inputs: dict[str, str] = Field(default_factory=dict)
    """Of a factory: what forward() takes."""
    random_weights: bool = False
    trust_remote_code: bool = False


class Sampling(Section):
    """Which samples of a dataset, in which order."""

    num_epochs: PositiveInt = 1
    num_samples_per_epoch: PositiveInt | None = None
    """null is all."""
    randomize: bool = False
    """A new order in each epoch, from the seed."""
    seed: int | None = None
    """null is 0: the same order each time."""


class Dataset(Section):
    """A folder of texts or images, or none: random inputs."""

    kind: Literal["random", "text", "image"] = "random"
    name: str | None = None
    root: str | None = None
    subset_filelist: str | None = None
    """A file with one path in each line, relative to `root`; null takes `patterns`."""
    patterns: tuple[str, ...] = ()
    """Globs below `root`."""
    split: Literal["file", "line"] = "file"
    """Of texts: whether a file or a line is a sample."""
    field: str = "text"
    """Of `.jsonl` files: which value is the text."""
    prompt: str | None = None
    """What is said to a model beside each image."""
    sampling: Sampling = Sampling()


class Runtime(Section):
    """How the model runs."""

    batch_size: PositiveInt | None = None
    seq_len: PositiveInt | None = None
    num_samples: PositiveInt | None = None
    sizes: dict[str, PositiveInt] = Field(default_factory=dict)
    dtype: str | None = None
    """null is float32 on a processor, bfloat16 on a GPU."""
    new_tokens: PositiveInt = 8
    seed: int = 0


class Hardware(Section):
    """Where it runs, and whose peaks it is held against."""

    device: str = "cpu"
    peaks: str | None = None
    """A row of the table of peaks; null is the device itself."""
    chip: str | None = None
    """What Nsight Compute calls the chip: gh100, ad102, ..."""


class TorchOutput(Section):
    """What the reports of stage 1 show."""

    topk: PositiveInt = 20


class TorchProfiler(Section):
    """Stage 1: passes on this machine."""

    enable: bool = True
    passes: tuple[Pass, ...] = ("timing", "operators", "flops", "memory")
    repeats: PositiveInt = 5
    warmup: Count = 2
    nvtx: bool = True
    nvtx_modules: bool = False
    output: TorchOutput = TorchOutput()


class StaticAnalysis(Section):
    """Formulas beside what stage 1 measured."""

    enable: bool = True


class Nsys(Section):
    """Stage 2: a timeline."""

    enable: bool = False
    range: str | None = None
    instances: PositiveInt = 1
    domain: str = ""
    dry_run: bool = False


class Ncu(Section):
    """Stage 2: counters of kernels."""

    enable: bool = False
    range: str | None = None
    domain: str = ""
    kernel: str | None = None
    metrics: tuple[str, ...] = ()
    """More counters; each must exist on the chip."""
    skip: Count = 0
    count: Count = 0
    dry_run: bool = False


class DirectOutput(Section):
    """What inference writes beside its predictions."""

    draw: bool = True
    """Boxes and text regions onto copies of the images."""


class DirectInference(Section):
    """Predictions over a dataset, without any profiler."""

    enable: bool = False
    threshold: Annotated[float, Field(ge=0, le=1)] = 0.5
    """The least score of a box."""
    top_k: PositiveInt = 5
    """How many labels."""
    output: DirectOutput = DirectOutput()


class Pipeline(Section):
    """Stages, each switched by its `enable`."""

    torch_profiler: TorchProfiler = TorchProfiler()
    static_analysis: StaticAnalysis = StaticAnalysis()
    nsys: Nsys = Nsys()
    ncu: Ncu = Ncu()
    direct_inference: DirectInference = DirectInference()


class Output(Section):
    """Where run folders go, and what one is called."""

    root: str = "tmp/profile-output"
    run_id: str = ""


class Configuration(Section):
    """All of it."""

    model: Model = Model()
    dataset: Dataset = Dataset()
    runtime: Runtime = Runtime()
    hardware: Hardware = Hardware()
    pipeline: Pipeline = Pipeline()
    output: Output = Output()

    @property
    def dtype(self) -> str:
        """The format that was asked for, or the usual one of the device."""
        usual = "bfloat16" if self.hardware.device.startswith("cuda") else "float32"
        return self.runtime.dtype or usual
