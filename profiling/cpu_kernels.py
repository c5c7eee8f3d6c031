"""The storages of a call by two accounts in; both without what kernels of the CPU do otherwise out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from forwardbook.profiling.allocations import Allocations, Life, Span

Kernel = tuple[tuple[str, ...], str]  # how the names begin that the profiler has for it, and why

# Kernels that allocate more on the CPU than what they return. What such a kernel allocates and releases
# itself is its workspace: devices differ in it, no peak holds it.
_RESAMPLING = ("aten::upsample_", "aten::_upsample_", "aten::adaptive_avg_pool", "aten::_adaptive_avg_pool")
_OF_OTHERS = "it consists of other operations"
_BEFORE_REDUCTION = "the loss of every element is a tensor of its own before they are reduced"
WORKSPACES: Final[Mapping[str, Kernel]] = {
    "forwardbook.sdpa": (("aten::scaled_dot_product_attention",), "log of the sums, a buffer a thread"),
    "forwardbook.recurrent": (("aten::lstm", "aten::gru", "aten::rnn_"), "it is unrolled over time"),
    "forwardbook.interpolate": (_RESAMPLING, "tables of weights and places"),
    "aten.convolution": (("aten::convolution",), "oneDNN reorders weights and inputs into its own layout"),
    "aten.native_layer_norm": (("aten::native_layer_norm",), "a strided input is copied"),
    "aten.rrelu_with_noise": (("aten::rrelu_with_noise",), "the mean slope is made in tensors"),
    "aten._native_multi_head_attention": (("aten::_native_multi_head_attention",), _OF_OTHERS),
    "aten._transformer_encoder_layer_fwd": (("aten::_transformer_encoder_layer_fwd",), _OF_OTHERS),
    "aten.im2col": (("aten::im2col",), "its output is made as large as the input, then resized"),
    "aten.col2im": (("aten::col2im",), "its output is made as large as the input, then resized"),
    "aten.native_batch_norm": (("aten::native_batch_norm",), "a factor and a term of each channel"),
    "aten.multilabel_margin_loss_forward": (
        ("aten::multilabel_margin_loss_forward",),
        "it looks for the least and the largest target",
    ),
    "aten.huber_loss": (("aten::huber_loss",), _BEFORE_REDUCTION),
    "aten.binary_cross_entropy_with_logits": (("aten::binary_cross_entropy_with_logits",), _BEFORE_REDUCTION),
}
# Operations whose results are other tensors on the CPU: of another size, or more or fewer of them.
_AUXILIARY = "the CPU leaves out or adds auxiliary outputs that CUDA does not"
_NOT_SHRUNK = "its result keeps the storage of the losses before they were reduced"
OTHER_RESULTS: Final[Mapping[str, Kernel]] = {
    "forwardbook.grouped_mm": (("aten::_grouped_mm",), "the CPU loops over the groups"),
    "aten._embedding_bag": (("aten::_embedding_bag",), _AUXILIARY),
    "aten.max_pool2d_with_indices": (
        ("aten::max_pool1d", "aten::max_pool2d_with_indices"),
        "without gradients the CPU has a kernel in one dimension that keeps no indices",
    ),
    "aten.mse_loss": (("aten::mse_loss",), _NOT_SHRUNK),
    "aten.smooth_l1_loss": (("aten::smooth_l1_loss",), _NOT_SHRUNK),
    "aten.soft_margin_loss": (("aten::soft_margin_loss",), _NOT_SHRUNK),
    "aten.binary_cross_entropy": (("aten::binary_cross_entropy",), _NOT_SHRUNK),
}


def without_workspaces(theirs: Allocations, names: frozenset[str]) -> tuple[Allocations, list[str]]:
    """What the CPU allocates in a call of these operations, without what they have there for themselves.

    That is what a kernel makes and releases, what it casts since it is of another type, and Python numbers
    that become tensors to meet others. The texts say what is left out, by operation.
    """
    numbers = theirs.numbers
    said = [f"numbers in operations: {_bytes(numbers)}"] if numbers else []
    theirs = theirs.without(numbers)
    for name in sorted(names & (WORKSPACES.keys() | OTHER_RESULTS.keys())):
        begin, why = WORKSPACES.get(name) or OTHER_RESULTS[name]
        own = theirs.workspaces(theirs.spans(begin))
        theirs = theirs.without(own)
        said += [f"{name} ({why}): {_bytes(own)} of its own"] if own else []
    for name in sorted(names):
        casts = theirs.casts({name.replace(".", "::")})
        theirs = theirs.without(casts)
        said += [f"{name} (the CPU casts what is of another type first): {_bytes(casts)}"] if casts else []
    return theirs, said


def with_our_results(ours: Allocations, theirs: Allocations) -> tuple[Allocations, Allocations, list[str]]:
    """Both accounts, where operations have other results on the CPU with ours in their place.

    A storage is as large as ours for as long as theirs lives; where they are not as many, those that have no
    equal are left out of both. Nothing else is. The texts say which.
    """
    said: list[str] = []
    for name in sorted({span.name for span in ours.operations} & OTHER_RESULTS.keys()):
        begin, why = OTHER_RESULTS[name]
        ours, theirs, told = _same_results(ours, theirs, name, theirs.spans(begin))
        said += [f"{name} ({why}): {text}" for text in told]
    return ours, theirs, said


def _bytes(lives: Iterable[Life]) -> str:
    return f"{sum(one.size for one in lives):,} bytes"


def _same_results(
    ours: Allocations, theirs: Allocations, name: str, spans: Sequence[Span]
) -> tuple[Allocations, Allocations, list[str]]:
    """The results of one operation made equal, each time that it ran; what was done."""
    mine = [[*lives] for _, lives in groupby((x for x in ours.lives if x.within[0].name == name), _operation)]
    if len(mine) != len(spans):
        return ours, theirs, [f"it ran {len(spans)} times on the CPU and {len(mine)} times here"]
    told: dict[str, int] = {}
    for our, span in zip(mine, spans, strict=True):
        found = [one for one in theirs.lives if span in one.within]
        for text, a, b in _parted(our, found):
            told[text] = told.get(text, 0) + 1
            ours = ours.without([a]) if a is not None and b is None else ours
            theirs = theirs.without([b]) if b is not None and a is None else theirs
            theirs = theirs.resized(b, a.size) if a is not None and b is not None else theirs
    return ours, theirs, [f"{text}{f' {times} times' if times > 1 else ''}" for text, times in told.items()]


def _parted(ours: Sequence[Life], theirs: Sequence[Life]) -> Iterator[tuple[str, Life | None, Life | None]]:
    """What one has that the other has not, in words: pairs of other sizes, or those without an equal."""
    if len(ours) == len(theirs):
        for a, b in zip(ours, theirs, strict=True):
            if a.size != b.size:
                yield f"{b.size:,} bytes there, {a.size:,} here", a, b
        return
    rest = list(theirs)
    for a in ours:
        equal = next((b for b in rest if b.size == a.size), None)
        if equal is None:
            yield f"{a.size:,} bytes here alone", a, None
        else:
            rest.remove(equal)
    for b in rest:
        yield f"{b.size:,} bytes there alone", None, b


def _operation(life: Life) -> Span:
    return life.within[0]
