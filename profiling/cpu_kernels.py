"""The storages of a call by two accounts in; both without what kernels of the CPU do otherwise out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from forwardbook.profiling.allocations import Allocations, Life, Span

Kernel = tuple[tuple[str, ...], str]  # what the profiler calls it, `*` for any end, and why


def _alike(names: str, why: str) -> dict[str, Kernel]:
    """Operations that the profiler knows by the names that they have here."""
    return {f"aten.{name}": ((f"aten::{name}",), why) for name in names.split()}


# Kernels that allocate more on the CPU than what they return. What such a kernel allocates and releases
# itself is its workspace: devices differ in it, no peak holds it.
_POOLED = ("aten::adaptive_avg_pool*", "aten::_adaptive_avg_pool*")
_STRIDED = "a strided input is copied"
_BEFORE_REDUCTION = "the loss of every element is a tensor of its own before they are reduced"
WORKSPACES: Final[Mapping[str, Kernel]] = {
    "forwardbook.sdpa": (("aten::scaled_dot_product_attention",), "log of the sums, a buffer a thread"),
    "forwardbook.recurrent": (("aten::lstm", "aten::gru", "aten::rnn_*"), "it is unrolled over time"),
    "forwardbook.interpolate": (("aten::upsample_*", "aten::_upsample_*", *_POOLED), "tables of weights"),
    **_alike("convolution", "oneDNN reorders weights and inputs into its own layout"),
    **_alike("native_layer_norm _softmax _log_softmax tril triu", _STRIDED),
    **_alike("avg_pool2d _adaptive_avg_pool2d _adaptive_avg_pool3d", _STRIDED),
    **_alike(
        "mm addmm bmm baddbmm addbmm mv addmv dot vdot",
        "a matrix that BLAS cannot read as it lies is copied, a conjugate written out",
    ),
    **_alike("rrelu_with_noise rrelu_with_noise_", "the mean slope is made in tensors"),
    **_alike("im2col col2im", "its output is made as large as the input, then resized"),
    **_alike("native_batch_norm", "a factor and a term of each channel"),
    **_alike("multilabel_margin_loss_forward", "it looks for the least and the largest target"),
    **_alike("huber_loss binary_cross_entropy_with_logits", _BEFORE_REDUCTION),
    **_alike("sort kthvalue median nanmedian mode topk", "a line is copied to be put in order, with places"),
    **_alike("_unique2 unique_dim unique_consecutive histc", "counts, and what is put in order"),
    **_alike("index_reduce scatter_reduce", "it counts what it averages"),
    **_alike("abs angle", "of complex numbers the result is complex first"),
    **_alike("_fft_c2c _fft_c2r _fft_r2c", "one dimension after the other, each in a copy"),
    **_alike(
        "linalg_inv_ex _linalg_det _linalg_slogdet _linalg_solve_ex linalg_solve_triangular cholesky_solve "
        "linalg_cholesky_ex linalg_lu linalg_lu_factor_ex linalg_householder_product _linalg_check_errors",
        "LAPACK works in a copy, by columns, and reports on each matrix",
    ),
    **_alike(
        "_native_multi_head_attention _transformer_encoder_layer_fwd _euclidean_dist _trilinear "
        "affine_grid_generator count_nonzero dist isinf logsumexp masked_select multinomial mvlgamma normal "
        "renorm repeat roll std var bartlett_window blackman_window hamming_window hann_window kaiser_window",
        "it consists of other operations",
    ),
}
_CONJUGATE: Final = "aten._conj"
# Operations whose results are other tensors on the CPU: of another size, or more or fewer of them.
_AUXILIARY = "the CPU leaves out or adds auxiliary outputs that CUDA does not"
_NOT_SHRUNK = "its result keeps the storage of the losses before they were reduced"
OTHER_RESULTS: Final[Mapping[str, Kernel]] = {
    "forwardbook.grouped_mm": (("aten::_grouped_mm",), "the CPU loops over the groups"),
    **_alike("_embedding_bag _embedding_bag_forward_only", _AUXILIARY),
    "aten.max_pool2d_with_indices": (
        ("aten::max_pool1d", "aten::max_pool2d_with_indices"),
        "without gradients the CPU has a kernel in one dimension that keeps no indices",
    ),
    **_alike("mse_loss smooth_l1_loss soft_margin_loss binary_cross_entropy", _NOT_SHRUNK),
}


def without_workspaces(theirs: Allocations, names: frozenset[str]) -> tuple[Allocations, list[str]]:
    """What the CPU allocates in a call of these operations, without what they have there for themselves.

    That is what a kernel makes and releases, what it casts since it is of another type, and Python numbers
    that become tensors to meet others; so is what Python keeps of the host's generator of random numbers.
    The texts say what is left out, by operation.
    """
    numbers, states = theirs.numbers, theirs.generator_states
    said = [f"numbers in operations: {_bytes(numbers)}"] if numbers else []
    said += [f"torch.get_rng_state (a state of the host): {_bytes(states)}"] if states else []
    theirs = theirs.without(numbers | states)
    for name in sorted(names & (WORKSPACES.keys() | OTHER_RESULTS.keys())):
        called, why = WORKSPACES.get(name) or OTHER_RESULTS[name]
        spans = theirs.spans(called)
        own = theirs.workspaces(spans)
        if _CONJUGATE in names:
            own -= _written_out(own, spans)
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
        called, why = OTHER_RESULTS[name]
        ours, theirs, told = _same_results(ours, theirs, name, theirs.spans(called))
        said += [f"{name} ({why}): {text}" for text in told]
    return ours, theirs, said


def _written_out(lives: Iterable[Life], spans: Collection[Span]) -> frozenset[Life]:
    """Conjugates that torch wrote out for a kernel that takes none: an operation of its own with us."""
    pairs = [(one, zip(one.within, one.within[1:], strict=False)) for one in lives]
    return frozenset(
        one for one, nested in pairs if any(a in spans and b.name == "aten::clone" for a, b in nested)
    )


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
