"""Reading and writing by index: what is touched moves, the table around it does not."""

from __future__ import annotations

from forwardbook.analyzers.ops.operation import Operand, Operation, Size, Work, broadcast, product
from forwardbook.analyzers.ops.registry import aten, bytes_read, in_place, once, rule


def touched(table: Operand, count: Size) -> Size:
    """The bytes of `count` elements of a table."""
    return count * table.width


def gathered(op: Operation, table: Operand, *indices: Operand) -> Work:
    """Indices once, and one element of the table for every element of the output."""
    return Work(reads=once(*indices) + touched(table, op.output.numel))


@rule(
    "aten.embedding",
    reason="movement, 0 pointwise; reads the indices and, for each, one row of the table: as many "
    "elements as the output has, repeated rows every time",
)
def embedding(op: Operation) -> Work:
    return gathered(op, op.tensor("weight"), op.tensor("indices"))


@rule(
    *aten("index_select gather take"),
    reason="movement, 0 pointwise; reads the index and one element of self per output element, not "
    "the whole of self",
)
def pick(op: Operation) -> Work:
    return gathered(op, op.tensor("self"), op.tensor("index"))


@rule(
    "aten.take_along_dim",
    reason="as gather: reads the indices and one element of self per output element",
)
def pick_along(op: Operation) -> Work:
    return gathered(op, op.tensor("self"), op.tensor("indices"))


@rule(
    *aten("index _unsafe_index"),
    reason="movement, 0 pointwise; reads every index tensor and one element of self per output "
    "element; a mask is an index whose output size is data",
)
def index(op: Operation) -> Work:
    return gathered(op, op.tensor("self"), *op.tensors("indices"))


@rule(
    "aten._unsafe_masked_index",
    reason="as index, and the mask is read; 1 pointwise per output element selects the fill",
)
def masked_index(op: Operation) -> Work:
    work = gathered(op, op.tensor("self"), op.tensor("mask"), *op.tensors("indices"))
    return Work(pointwise_ops=op.output.numel, reads=work.reads)


def replaced(op: Operation, table: Operand, count: Size, source: Size, adds: bool) -> Work:
    """`count` elements of a table overwritten or accumulated into; `source` is the bytes that are put there.

    In place only the touched elements move; as a function the table is read and the result written whole.
    """
    pointwise: Size = count if adds else 0
    if not table.mutated:
        return Work(pointwise_ops=pointwise, reads=table.bytes + source)
    kept = touched(table, count) if adds else 0
    return Work(pointwise_ops=pointwise, reads=source + kept, writes=touched(table, count))


@rule(
    *in_place("scatter scatter_add scatter_reduce"),
    reason="in place: reads the index and as many elements of src, writes as many elements of self; "
    "scatter_add and reductions also read those of self and do 1 pointwise each; as a "
    "function self is read and the result written whole",
)
def scatter(op: Operation) -> Work:
    table, places, source = op.tensor("self"), op.tensor("index"), op.optional("src")
    given = touched(source, places.numel) if source is not None else 0
    adds = not op.name.rstrip("_").endswith("scatter") or "reduce" in op.arguments
    return replaced(op, table, places.numel, places.bytes + given, adds)


@rule(
    *in_place("index_put"),
    *aten("_index_put_impl_ _index_put_impl _unsafe_index_put _unsafe_masked_index_put_accumulate"),
    reason="in place: reads indices and values, writes the touched elements (the indices broadcast, "
    "times the dimensions without an index); with accumulate it also reads those and adds, 1 "
    "pointwise each; as a function self is read and the result written whole; a mask touches "
    "as many elements as values has, and with a single value it is masked_fill, 1 pointwise "
    "per element",
)
def index_put(op: Operation) -> Work:
    table, values = op.tensor("self"), op.tensor("values")
    places = op.places("indices")
    given = [x for x in places if x is not None]
    masked = any(x.is_mask for x in given)
    if masked and not values.shape:
        return Work(pointwise_ops=table.numel)
    rest = table.shape[len(places) :]
    kept = [size for size, x in zip(table.shape, places, strict=False) if x is None]
    count = values.numel if masked else product(*broadcast(x.shape for x in given), *kept, *rest)
    adds = op.flag("accumulate") or op.name.endswith("accumulate")
    return replaced(op, table, count, once(values, op.optional("mask"), *given), adds)


@rule(
    *in_place("index_add index_reduce"),
    reason="1 pointwise per source element: an addition or comparison; in place: reads index, source "
    "and the touched elements of self, and writes those; as a function self is read and the "
    "result written whole",
)
def index_add(op: Operation) -> Work:
    source = op.tensor("source")
    return replaced(op, op.tensor("self"), source.numel, once(op.tensor("index"), source), adds=True)


@rule(
    *in_place("index_copy put"),
    reason="movement, 0 pointwise; in place: reads index and source, writes as many elements of "
    "self; as a function self is read and the result written whole; put with accumulate adds, "
    "1 pointwise each",
)
def index_copy(op: Operation) -> Work:
    source = op.tensor("source")
    moved = once(op.tensor("index"), source)
    return replaced(op, op.tensor("self"), source.numel, moved, adds=op.flag("accumulate"))


@rule(
    *in_place("index_fill"),
    reason="movement, 0 pointwise; in place: reads the index, writes one slice of self for each; as "
    "a function self is read and the result written whole",
)
def index_fill(op: Operation) -> Work:
    table, places = op.tensor("self"), op.tensor("index")
    dim = op.integer("dim", 0) % max(len(table.shape), 1)
    slices = product(*(size for d, size in enumerate(table.shape) if d != dim))
    return replaced(op, table, places.numel * slices, places.bytes, adds=False)


@rule(
    *aten("slice_scatter select_scatter diagonal_scatter as_strided_scatter"),
    reason="movement, 0 pointwise: self and src are read once and the result written once",
)
def scatter_view(op: Operation) -> Work:
    return Work()


@rule(
    *in_place("masked_scatter"),
    reason="1 pointwise per element of self: selection by the mask; self, mask and source read once, "
    "self or the result written once",
)
def masked_scatter(op: Operation) -> Work:
    return Work(pointwise_ops=op.inputs[0].numel)


@rule(
    "aten.embedding_renorm_",
    reason="3 pointwise per element of the rows looked up: power, add, multiply; reads indices and "
    "those rows, writes those rows (at most: rows within the norm stay)",
)
def embedding_renorm(op: Operation) -> Work:
    table, places = op.tensor("self"), op.tensor("indices")
    rows = places.numel * table.shape[-1]
    return Work(
        pointwise_ops=3 * rows,
        reads=places.bytes + touched(table, rows),
        writes=touched(table, rows),
    )


BAG_OF_MAXIMA = 2  # the mode of an embedding bag


def bags_and_places(op: Operation) -> tuple[Size, ...]:
    """The storages of the bags, of the bag of each index, of the sizes of bags, of the places of maxima."""
    places, offsets = op.tensor("indices"), op.tensor("offsets")
    maxima = op.output.numel * places.width if op.integer("mode", 0) == BAG_OF_MAXIMA else 0
    stated = (op.output.bytes, places.numel * places.width, offsets.numel * places.width, maxima)
    return stated[: len(op.outputs)]


@rule(
    *aten("embedding_bag _embedding_bag _embedding_bag_forward_only"),
    storages=bags_and_places,
    reason="1 pointwise per element of the rows looked up (added or compared), 2 with per-sample "
    "weights; reads indices, offsets, weights and those rows, not the table; writes the bags, "
    "since devices differ in the auxiliary outputs; these live as CUDA makes them: the bag of each "
    "index, the size of each bag, and of a maximum where it was found (the CPU leaves out the first for "
    "sums)",
)
def embedding_bag(op: Operation) -> Work:
    table, places = op.tensor("weight"), op.tensor("indices")
    weights = op.optional("per_sample_weights")
    rows = places.numel * table.shape[-1]
    return Work(
        pointwise_ops=(1 if weights is None else 2) * rows,
        reads=once(places, op.tensor("offsets"), weights) + touched(table, rows),
        writes=op.output.bytes,
    )


@rule(
    "aten.nonzero",
    "aten.argwhere",
    "aten.nonzero_static",
    reason="1 pointwise per input element: a comparison with zero; how much is written is data",
)
def nonzero(op: Operation) -> Work:
    return Work(pointwise_ops=op.inputs[0].numel)


@rule(
    "aten.masked_select",
    reason="1 pointwise per element of the mask: selection; how much is written is data",
)
def masked_select(op: Operation) -> Work:
    return Work(pointwise_ops=op.tensor("mask").numel, reads=bytes_read(op))
