"""Linear layers, embeddings and normalisation; lazy ones name the same sizes as what they become."""

from __future__ import annotations

from forwardbook.analyzers.instances.notation import Row

SPATIAL = {1: "length", 2: "height, width", 3: "depth, height, width"}
# of one element torch takes no mean and no variance
SEVERAL = {
    d: (f"{' * '.join(f'{{{name}}}' for name in space.split(', '))} > 1",) for d, space in SPATIAL.items()
}

ROWS = (
    Row("Linear(in_features, out_features)(floats(batch_size, in_features))"),
    Row("Linear(in_features, out_features)(floats(batch_size, seq_len, in_features))", scenario="sequence"),
    Row(
        "Linear(in_features, out_features, bias=False)(floats(batch_size, seq_len, in_features))",
        scenario="sequence, no bias",
    ),
    Row("LazyLinear(out_features)(floats(batch_size, in_features))"),
    Row("DataParallel(Linear(in_features, out_features))(floats(batch_size, in_features))"),
    Row(
        "Bilinear(in1_features, in2_features, out_features)"
        "(floats(batch_size, in1_features), floats(batch_size, in2_features))"
    ),
    Row("Embedding(num_embeddings, embedding_dim)(integers(num_embeddings, batch_size, seq_len))"),
    Row("EmbeddingBag(num_embeddings, embedding_dim)(integers(num_embeddings, num_bags, bag_size))"),
    Row(
        "EmbeddingBag(num_embeddings, embedding_dim, mode='sum')"
        "(integers(num_embeddings, num_bags, bag_size))",
        scenario="sum",
    ),
    *(
        Row(f"BatchNorm{d}d(num_features)(floats(batch_size, num_features, {space}))")
        for d, space in SPATIAL.items()
    ),
    *(Row(f"LazyBatchNorm{d}d()(floats(batch_size, num_features, {space}))") for d, space in SPATIAL.items()),
    *(
        Row(f"InstanceNorm{d}d(num_features)(floats(batch_size, num_features, {space}))", SEVERAL[d])
        for d, space in SPATIAL.items()
    ),
    *(
        Row(
            f"InstanceNorm{d}d(num_features, affine=True)(floats(batch_size, num_features, {space}))",
            SEVERAL[d],
            scenario="affine",
        )
        for d, space in SPATIAL.items()
    ),
    *(
        Row(f"LazyInstanceNorm{d}d(affine=True)(floats(batch_size, num_features, {space}))", SEVERAL[d])
        for d, space in SPATIAL.items()
    ),
    Row("SyncBatchNorm(num_features)(floats(batch_size, num_features, height, width))"),
    Row(
        "GroupNorm(num_groups, num_channels)(floats(batch_size, num_channels, height, width))",
        where=("{num_channels} % {num_groups} == 0",),
    ),
    Row("LayerNorm(normalized_shape)(floats(batch_size, seq_len, normalized_shape))"),
    Row(
        "LayerNorm((normalized_shape_0, normalized_shape_1))"
        "(floats(batch_size, normalized_shape_0, normalized_shape_1))",
        scenario="two dimensions",
    ),
    Row("RMSNorm(normalized_shape)(floats(batch_size, seq_len, normalized_shape))"),
    Row("LocalResponseNorm(size)(floats(batch_size, channels, height, width))"),
    Row("CrossMapLRN2d(size)(floats(batch_size, channels, height, width))", where=("{size} < {channels}",)),
)
